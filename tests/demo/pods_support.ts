/** What the tests of the pod hosts share: keys and certificates by ssh-keygen, the real ssh, and cleaning up. */
import { join } from "node:path";
import type { PodAddress, PodHost } from "../../server/demo/pods/host.ts";
import type { ImageFlavour } from "../../server/demo/pods/image_files.ts";
import { isGone } from "../../server/demo/pods/process_gone.ts";
import { createSshdHost, type SshdHost } from "../../server/demo/pods/sshd_host.ts";
import { silentLog } from "../../server/log.ts";

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly bytes: Uint8Array;
}

/** Runs a program to its end; `input` goes to its standard input. */
export async function run(program: string, args: readonly string[], input: string | Uint8Array = ""): Promise<Outcome> {
  const child = new Deno.Command(program, { args: [...args], stdin: "piped", stdout: "piped", stderr: "piped" })
    .spawn();
  const output = child.output();
  const writer = child.stdin.getWriter();
  try {
    await writer.write(typeof input === "string" ? new TextEncoder().encode(input) : input);
    await writer.close();
  } catch (error) {
    // It ended without reading all of it.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
  const { code, stdout, stderr } = await output;
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), err: text(stderr), bytes: stdout };
}

export async function mustRun(program: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await run(program, args);
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}: ${err}`);
  return out;
}

export interface CertificateWish {
  readonly principal: string;
  readonly forced?: string;
  /** As ssh-keygen -V takes it. */
  readonly validity?: string;
  readonly ca?: string;
  readonly keyType?: readonly string[];
  readonly options?: readonly string[];
}

/** A folder with an org's keys: `ca`, `backend`, and what `certify` makes. */
export interface Org {
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly backend: string;
  /** Makes a key and its certificate; gives the path of the private key. */
  certify(wish: CertificateWish): Promise<string>;
  /** A certificate as a member of the pod gets it. */
  member(podId: string, name: string): Promise<string>;
  officer(podId: string): Promise<string>;
  newKey(name: string, ...type: string[]): Promise<string>;
}

export async function makeOrg(folder: string): Promise<Org> {
  let count = 0;
  const newKey = async (name: string, ...type: string[]) => {
    const path = join(folder, name);
    await mustRun("ssh-keygen", "-q", "-N", "", "-C", "test", "-f", path, ...(type.length ? type : ["-t", "ed25519"]));
    return path;
  };
  const ca = await newKey("ca");
  const backend = await newKey("backend");
  const certify = async (wish: CertificateWish) => {
    const key = await newKey(`key${++count}`, ...wish.keyType ?? []);
    const forced = wish.forced === undefined ? [] : ["-O", `force-command=${wish.forced}`];
    const options = (wish.options ?? []).flatMap((option) => ["-O", option]);
    const validity = wish.validity ?? "-5m:+1h";
    await mustRun(
      "ssh-keygen",
      ...["-q", "-s", wish.ca ?? ca, "-I", `discord:1:test${count}`, "-z", String(count)],
      ...["-n", wish.principal, "-V", validity, ...forced, ...options, `${key}.pub`],
    );
    return key;
  };
  return {
    folder,
    backend,
    newKey,
    certify,
    member: (podId, name) => certify({ principal: `gf-${podId}`, forced: `/usr/local/bin/godfather-login ${name}` }),
    officer: (podId) => certify({ principal: `gf-${podId}` }),
    env: {
      GODFATHER_SSH_PUBLIC_KEY: (await Deno.readTextFile(`${backend}.pub`)).trim(),
      GODFATHER_SSH_CA_PUBLIC_KEY: (await Deno.readTextFile(`${ca}.pub`)).trim(),
      GODFATHER_SETUP: "true",
      // There is no server here that could deliver the revocation list.
      GODFATHER_TRUST_CA_AT_START: "true",
    },
  };
}

/** Options for ssh, scp (`-P`) and sftp that keep the user's own configuration, agent and known hosts out. */
export function sshOptions(address: PodAddress, key: string, portFlag = "-p"): string[] {
  const settings = ["IdentitiesOnly=yes", "IdentityAgent=none", "BatchMode=yes", "StrictHostKeyChecking=no"];
  settings.push("UserKnownHostsFile=/dev/null", "ConnectTimeout=20", "LogLevel=ERROR");
  return ["-F", "/dev/null", "-i", key, ...settings.flatMap((one) => ["-o", one]), portFlag, String(address.port)];
}

export interface SshWish {
  readonly command?: string;
  readonly flags?: readonly string[];
  readonly input?: string | Uint8Array;
}

export async function ssh(address: PodAddress, key: string, wish: SshWish = {}): Promise<Outcome> {
  const command = wish.command === undefined ? [] : [wish.command];
  const args = [...sshOptions(address, key), ...wish.flags ?? [], `root@${address.host}`, ...command];
  return await run("ssh", args, wish.input);
}

/** A temporary folder that other users may pass through, deleted at the end. */
export async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  await Deno.chmod(folder, 0o755);
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

export async function withHost<T extends PodHost>(host: T, use: (host: T) => Promise<void>): Promise<void> {
  try {
    await use(host);
  } finally {
    await host.close();
  }
}

export interface PodScene {
  readonly host: SshdHost;
  readonly org: Org;
  readonly folder: string;
  readonly address: PodAddress;
}

/** An sshd host with one pod, `pod1`, that runs. */
export async function withSshdPod(
  flavour: ImageFlavour,
  use: (scene: PodScene) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  await withFolder(async (folder) => {
    const org = await makeOrg(folder);
    await withHost(createSshdHost({ folder: join(folder, "pods"), flavour, log: silentLog }), async (host) => {
      const address = await host.start({ id: "pod1", image: "test", env: { ...org.env, ...env } });
      await use({ host, org, folder, address });
    });
  });
}

/** The state letter of a process (R, S, T, Z …); undefined when it is gone. */
export async function stateOf(pid: number): Promise<string | undefined> {
  try {
    const text = await Deno.readTextFile(`/proc/${pid}/stat`);
    return text.slice(text.lastIndexOf(")") + 2)[0];
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** True when the process has ended; a zombie that nobody has collected yet has ended. */
export async function hasEnded(pid: number): Promise<boolean> {
  const state = await stateOf(pid);
  return state === undefined || state === "Z" || state === "X";
}

/** Pids of the processes that have `text` in their arguments. */
export async function processesWith(text: string): Promise<number[]> {
  const found: number[] = [];
  for await (const entry of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(entry.name)) continue;
    try {
      if ((await Deno.readTextFile(`/proc/${entry.name}/cmdline`)).includes(text)) found.push(Number(entry.name));
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return found;
}

/** Waits for a condition; fails after a minute. */
export async function eventually(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(60_000);
  while (!await condition()) {
    if (deadline.aborted) throw new Error(`It did not come about: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
