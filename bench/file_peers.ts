/** The programs that move files in the bench: OpenSSH's `sftp` and `scp` with an officer's certificate, and `curl`. */
import type { SshInfo } from "../tests/support/ssh_client.ts";

/** Where a peer logs in. */
export interface PeerTarget {
  readonly at: SshInfo;
  /** The private key; its certificate stands beside it. */
  readonly key: string;
}

function sshOptions({ key }: PeerTarget): string[] {
  const settings = {
    IdentityFile: key,
    IdentitiesOnly: "yes",
    UserKnownHostsFile: "/dev/null",
    StrictHostKeyChecking: "no",
    LogLevel: "ERROR",
  };
  return ["-F", "none", ...Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`])];
}

/** Runs a program to its end and returns what it printed. Fails unless it ends with 0. */
export async function must(program: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], stdin: "null" }).output();
  if (!success) throw new Error(`${program} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** What `ssh` takes to log in; the command comes behind it. */
export function sshArguments(target: PeerTarget): string[] {
  const { host, port, username } = target.at;
  return [...sshOptions(target), "-p", String(port), `${username}@${host}`];
}

/** A command on the pod, as root. */
export async function onPod(target: PeerTarget, command: string): Promise<string> {
  return await must("ssh", [...sshArguments(target), command]);
}

/** Milliseconds for one `scp`, with its start, connect and login. */
export async function scp(target: PeerTarget, from: string, to: string): Promise<number> {
  const { host, port, username } = target.at;
  const place = (path: string) => path.replace(/^pod:/, `${username}@${host}:`);
  const begun = performance.now();
  await must("scp", ["-q", ...sshOptions(target), "-P", String(port), place(from), place(to)]);
  return performance.now() - begun;
}

/** One `sftp` that is logged in already, so that its commands are timed without the login. */
export interface SftpProgram {
  /** Milliseconds for one command. */
  time(command: string): Promise<number>;
  close(): Promise<void>;
}

export async function startSftp(target: PeerTarget): Promise<SftpProgram> {
  const { host, port, username } = target.at;
  const args = ["-q", "-b", "-", ...sshOptions(target), "-P", String(port), `${username}@${host}`];
  const child = new Deno.Command("sftp", { args, stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();
  const input = child.stdin.getWriter();
  const output = child.stdout.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let printed = "";
  let turn = 0;
  const until = async (mark: string) => {
    while (!printed.includes(mark)) {
      const { value, done } = await output.read();
      if (done) throw new Error(`sftp ended: ${printed}`);
      printed += value;
    }
    printed = "";
  };
  // sftp echoes its commands, so what the local shell prints must not stand in them.
  const send = async (command: string) => {
    turn++;
    await input.write(new TextEncoder().encode(`${command}\n!printf do''ne-%s ${turn}\n`));
    await until(`done-${turn}`);
  };
  await send("pwd");
  return {
    async time(command) {
      const begun = performance.now();
      await send(command);
      return performance.now() - begun;
    },
    async close() {
      await input.close();
      for (let part = await output.read(); !part.done; part = await output.read());
      await child.status;
    },
  };
}

/** Milliseconds for one request by `curl`, without curl's own start. Fails unless it is answered with 2xx. */
export async function curl(token: string, args: readonly string[]): Promise<number> {
  const format = "\n%{http_code} %{time_total}";
  const printed = await must("curl", ["-sS", "-H", `Authorization: Bearer ${token}`, "-w", format, ...args]);
  const [, status, seconds] = /\n(\d+) ([\d.]+)$/.exec(printed)!;
  if (!status!.startsWith("2")) throw new Error(`curl was answered with ${printed}`);
  return Number(seconds) * 1_000;
}
