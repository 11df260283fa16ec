/** What the tests of the pod image share: pods of it with the real sshd, and ssh clients that stay connected. */
import assert from "node:assert/strict";
import type { PodAddress } from "../../server/demo/pods/host.ts";
import { eventually, type Org, ssh, sshOptions } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";

export const ignorePods = lacks("root", "sshd", "unshare", "setpriv", "useradd", "su", "ssh", "ssh-keygen", "ps");

/** An ssh client that runs. */
export interface OpenSsh {
  /** What it printed so far. */
  printed(): string;
}

/** Runs ssh as a client that stays, to `use`'s end; `input` is typed at once, and its standard input stays open. */
export async function withOpenSsh<T>(
  address: PodAddress,
  key: string,
  wish: { readonly flags?: readonly string[]; readonly command?: string; readonly input?: string },
  use: (open: OpenSsh) => Promise<T>,
): Promise<T> {
  const command = wish.command === undefined ? [] : [wish.command];
  const args = [...sshOptions(address, key), ...wish.flags ?? [], `root@${address.host}`, ...command];
  const child = new Deno.Command("ssh", { args, stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();
  let text = "";
  const reading = (async () => {
    for await (const chunk of child.stdout) text += new TextDecoder().decode(chunk);
  })();
  const writer = child.stdin.getWriter();
  try {
    if (wish.input !== undefined) await writer.write(new TextEncoder().encode(wish.input));
    return await use({ printed: () => text });
  } finally {
    kill(child);
    await child.status;
    await reading;
    await writer.abort();
  }
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    // It ended by itself.
    if (!(error instanceof TypeError)) throw error;
  }
}

/** A command as root over the backend's key; its output. Fails when the command does. */
export async function asRoot(address: PodAddress, org: Org, command: string): Promise<string> {
  const { code, out, err } = await ssh(address, org.backend, { command });
  assert.equal(code, 0, `${command}: ${err}`);
  return out;
}

/** Waits until something answers on a port of this machine. */
export async function answers(port: number): Promise<void> {
  await eventually(`port ${port} answers`, async () => {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.ConnectionRefused) return false;
      throw error;
    }
  });
}
