/** A member's computer: keys by ssh-keygen, the certificate the server gave, and the real ssh, scp and sftp. */
import { run } from "../demo/pods_support.ts";
import type { Answer, DemoProcess } from "./demo_process.ts";

/** The `ssh_info` of a connect answer. */
export interface SshInfo {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly user_folder: string;
  readonly is_admin: boolean;
  readonly certificate: string;
}

/** Makes a key pair and gives the path of its private half. */
export async function newKey(folder: string, name: string, type: readonly string[] = ["ed25519"]): Promise<string> {
  const path = `${folder}/${name}`;
  const [kind = "ed25519", bits] = type;
  const size = bits === undefined ? [] : ["-b", bits];
  const { code, err } = await run("ssh-keygen", ["-q", "-t", kind, ...size, "-N", "", "-C", name, "-f", path]);
  if (code !== 0) throw new Error(`ssh-keygen: ${err}`);
  return path;
}

export async function publicLineOf(key: string): Promise<string> {
  return (await Deno.readTextFile(`${key}.pub`)).trim();
}

/** Puts a certificate where ssh looks for it: beside its key. */
export async function saveCertificate(key: string, certificate: string): Promise<void> {
  await Deno.writeTextFile(`${key}-cert.pub`, `${certificate}\n`);
}

/** Asks for a certificate for `key` on a pod, as any client does. */
export async function askToConnect(demo: DemoProcess, podId: string, token: string, key: string): Promise<Answer> {
  return await demo.call("POST", `/me/pods/${podId}/connect`, token, { public_key: await publicLineOf(key) });
}

/** The same, but it must be given; the certificate is saved beside the key. */
export async function connected(demo: DemoProcess, podId: string, token: string, key: string): Promise<Answer> {
  const answer = await askToConnect(demo, podId, token, key);
  if (answer.status !== 200) throw new Error(`No certificate: ${answer.status} ${JSON.stringify(answer.json)}`);
  await saveCertificate(key, answer.json.ssh_info.certificate);
  return answer;
}

/** What `ssh-keygen -L` says about a certificate, field by field. */
export interface Listing {
  readonly type: string;
  readonly keyId: string;
  readonly serial: string;
  /** Fingerprint of the CA. */
  readonly signedBy: string;
  /** Fingerprint of the subject's key. */
  readonly subject: string;
  /** Milliseconds UTC. */
  readonly from: number;
  readonly to: number;
  readonly principals: string[];
  readonly criticalOptions: string[];
  readonly extensions: string[];
}

export async function listingOf(certificateFile: string): Promise<Listing> {
  const command = new Deno.Command("ssh-keygen", { args: ["-Lf", certificateFile], env: { TZ: "UTC", LC_ALL: "C" } });
  const { success, stdout, stderr } = await command.output();
  if (!success) throw new Error(`ssh-keygen -L: ${new TextDecoder().decode(stderr)}`);
  const text = new TextDecoder().decode(stdout);
  const field = (pattern: RegExp): string => {
    const found = pattern.exec(text)?.[1];
    if (found === undefined) throw new Error(`ssh-keygen -L prints nothing like ${pattern}: ${text}`);
    return found;
  };
  // A list is the lines that stand deeper than its heading; `(none)` stands on the heading's own line.
  const list = (heading: string): string[] =>
    [...field(new RegExp(`^ {8}${heading}:.*\\n((?: {16}.*\\n)*)`, "m")).matchAll(/^ {16}(.*)$/gm)].map((one) =>
      one[1]!
    );
  return {
    type: field(/^ {8}Type: (.+)$/m),
    keyId: field(/^ {8}Key ID: "(.*)"$/m),
    serial: field(/^ {8}Serial: (\d+)$/m),
    signedBy: field(/^ {8}Signing CA: \S+ (SHA256:\S+)/m),
    subject: field(/^ {8}Public key: \S+ (SHA256:\S+)/m),
    from: Date.parse(`${field(/^ {8}Valid: from (\S+) to/m)}Z`),
    to: Date.parse(`${field(/^ {8}Valid: from \S+ to (\S+)$/m)}Z`),
    principals: list("Principals"),
    criticalOptions: list("Critical Options"),
    extensions: list("Extensions"),
  };
}

/** The fingerprint of a public key file, as ssh-keygen shows it. */
export async function fingerprintOf(publicFile: string): Promise<string> {
  const { code, out, err } = await run("ssh-keygen", ["-lf", publicFile]);
  if (code !== 0) throw new Error(`ssh-keygen -l: ${err}`);
  return out.split(" ")[1]!;
}
