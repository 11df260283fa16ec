/**
 * A real sshd on a free loopback port, with its own temporary folder for configuration, host key and
 * authorized_keys. Needs root (a login as root) and sshd.
 */
import type { PodTarget } from "../../server/ssh/pool.ts";

export interface TestSshd {
  readonly port: number;
  readonly folder: string;
  readonly configFile: string;
  /** `$HOME` of the commands. */
  readonly home: string;
  /** `SHA256:…` of the host key in use, as `ssh-keygen -lf` prints it. */
  fingerprint(): string;
  /** The private key that may log in as root. */
  readonly privateKey: string;
  /** A second private key that may not. */
  readonly strangerKey: string;
  target(changes?: Partial<PodTarget>): PodTarget;
  /** Writes the configuration with other extra lines, without telling the running daemon. */
  writeConfig(lines: readonly string[]): Promise<void>;
  /** Makes another host key and starts sshd again on the same port. */
  replaceHostKey(): Promise<void>;
  log(): Promise<string>;
  /** True while a process of one of the sessions has `text` in its command line. */
  hasProcess(text: string): boolean;
  /** Kills the processes that serve the connections; the listener lives on. */
  killSessions(): Promise<void>;
  stop(): Promise<void>;
}

const BINARY = "/usr/sbin/sshd";

async function run(command: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args }).output();
  if (!success) throw new Error(`${command}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Polls until `condition` holds; fails loudly after `deadlineMs`. */
export async function until(condition: () => boolean | Promise<boolean>, what: string, deadlineMs = 60_000) {
  const end = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A port that was free a moment ago. */
export function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}

async function readProc(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    // The process ended while we looked, or is the kernel's.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return "";
    if (error instanceof Error && /ESRCH|os error 3|os error 22/.test(error.message)) return "";
    throw error;
  }
}

/** Ids of the processes whose environment holds `mark`. */
async function processesWith(mark: string): Promise<number[]> {
  const found: number[] = [];
  for (const entry of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(entry.name)) continue;
    if ((await readProc(`/proc/${entry.name}/environ`)).includes(mark)) found.push(Number(entry.name));
  }
  return found;
}

function kill(pid: number, signal: Deno.Signal) {
  try {
    Deno.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Starts sshd with extra lines at the top of its configuration (the first value found wins). */
export async function startSshd(...extra: string[]): Promise<TestSshd> {
  await Deno.mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  const folder = await Deno.makeTempDir({ prefix: "orgpods-sshd-" });
  const configFile = `${folder}/sshd_config`;
  await Deno.mkdir(`${folder}/home`);
  const mark = `ORGPODS_TEST_SSHD=${folder}`;
  const makeKey = async (name: string) => {
    await run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", `${folder}/${name}`);
    return await Deno.readTextFile(`${folder}/${name}`);
  };
  let fingerprint = "";
  const makeHostKey = async () => {
    await makeKey("host_key");
    fingerprint = (await run("ssh-keygen", "-lf", `${folder}/host_key.pub`)).split(" ")[1]!;
  };
  await makeHostKey();
  const privateKey = await makeKey("root");
  const strangerKey = await makeKey("stranger");
  await Deno.copyFile(`${folder}/root.pub`, `${folder}/authorized_keys`);

  let port = freePort();
  let child: Deno.ChildProcess | undefined;
  let lines: readonly string[] = extra;
  const writeConfig = async (other: readonly string[]) => {
    lines = other;
    const fixed = [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${folder}/host_key`,
      `AuthorizedKeysFile ${folder}/authorized_keys`,
      // Commands do not see root's own home: its .bashrc is not part of any test.
      `SetEnv ${mark} HOME=${folder}/home`,
      "PidFile none",
      "UsePAM no",
      "StrictModes no",
      "PermitRootLogin prohibit-password",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "LogLevel VERBOSE",
      "Subsystem sftp internal-sftp",
    ];
    const globals = lines.filter((line) => !line.startsWith("Match "));
    const matches = lines.filter((line) => line.startsWith("Match ")).map((line) => line.replace("; ", "\n  "));
    await Deno.writeTextFile(configFile, [...globals, ...fixed, ...matches, ""].join("\n"));
  };
  const log = () => readProc(`${folder}/sshd.log`);

  const start = async () => {
    for (let attempt = 0; attempt < 5; attempt++) {
      await writeConfig(lines);
      await Deno.writeTextFile(`${folder}/sshd.log`, "");
      const started = new Deno.Command(BINARY, {
        args: ["-D", "-f", configFile, "-E", `${folder}/sshd.log`],
        stdin: "null",
        stdout: "null",
        stderr: "null",
      }).spawn();
      let ended = false;
      started.status.then(() => (ended = true));
      await until(async () => ended || (await log()).includes("Server listening on"), "sshd listens");
      child = started;
      if (!ended) return;
      port = freePort();
    }
    throw new Error(`sshd does not start: ${await log()}`);
  };
  const end = async () => {
    if (!child) return;
    kill(child.pid, "SIGTERM");
    await child.status;
    child = undefined;
    // Sessions outlive the listener, and commands outlive their sessions.
    for (const pid of await processesWith(mark)) kill(pid, "SIGKILL");
  };
  await start();

  return {
    get port() {
      return port;
    },
    folder,
    configFile,
    home: `${folder}/home`,
    fingerprint: () => fingerprint,
    privateKey,
    strangerKey,
    target: (changes = {}) => ({
      podKey: "pod-1",
      startKey: "start-1",
      host: "127.0.0.1",
      port,
      privateKey,
      ...changes,
    }),
    writeConfig,
    async replaceHostKey() {
      await end();
      await Deno.remove(`${folder}/host_key`);
      await Deno.remove(`${folder}/host_key.pub`);
      await makeHostKey();
      await start();
    },
    log,
    hasProcess(text) {
      for (const entry of Deno.readDirSync("/proc")) {
        if (!/^\d+$/.test(entry.name)) continue;
        try {
          if (!Deno.readTextFileSync(`/proc/${entry.name}/cmdline`).includes(text)) continue;
          if (Deno.readTextFileSync(`/proc/${entry.name}/environ`).includes(mark)) return true;
        } catch (error) {
          if (!(error instanceof Deno.errors.NotFound) && !/ESRCH|os error 3/.test(String(error))) throw error;
        }
      }
      return false;
    },
    async killSessions() {
      const { stdout } = await new Deno.Command("ps", { args: ["-eo", "pid=,ppid="] }).output();
      const parents = new TextDecoder().decode(stdout).trim().split("\n").map((line) => line.trim().split(/\s+/));
      for (const [pid, parent] of parents) if (Number(parent) === child?.pid) kill(Number(pid), "SIGKILL");
    },
    async stop() {
      await end();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
