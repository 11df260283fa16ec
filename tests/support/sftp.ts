/** What the tests of the SFTP client share: a session to a real sshd, paths, odd names, errors. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type Sftp, SftpError } from "../../server/ssh/sftp/mod.ts";
import { type PoolOptions, type SshPool } from "../../server/ssh/pool.ts";
import { trustingPool } from "./ssh_pool.ts";
import { startSshd, type TestSshd } from "./sshd.ts";

/** A path or a name as bytes. */
export function path(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** `folder/name` where the name may be any bytes. */
export function inside(folder: string, name: Uint8Array): Uint8Array {
  return Uint8Array.from(Buffer.concat([Buffer.from(`${folder}/`), name]));
}

export const oddNames: readonly { readonly what: string; readonly name: Uint8Array }[] = JSON.parse(
  Deno.readTextFileSync(new URL("../vectors/files/odd_names.json", import.meta.url)),
).map(({ what, hex }: { what: string; hex: string }) => ({ what, name: Uint8Array.from(Buffer.from(hex, "hex")) }));

/** The SftpError a promise rejects with. */
export async function sftpErrorOf(promise: Promise<unknown>): Promise<SftpError> {
  const error = await promise.then((value) => new Error(`No error but ${value}`), (reason) => reason);
  assert(error instanceof SftpError, error instanceof Error ? error.stack : String(error));
  return error;
}

export interface Scene {
  readonly sshd: TestSshd;
  readonly pool: SshPool;
  readonly sftp: Sftp;
  /** A folder of the test's own. */
  readonly folder: string;
}

/** Runs `use` with a session to a real sshd. */
export async function withSftp(
  use: (scene: Scene) => Promise<void>,
  { lines = [], pool: options = {} }: { lines?: readonly string[]; pool?: Partial<PoolOptions> } = {},
): Promise<void> {
  const sshd = await startSshd(...lines);
  const pool = trustingPool(options);
  try {
    const folder = `${sshd.folder}/files`;
    await Deno.mkdir(folder);
    await use({ sshd, pool, folder, sftp: await pool.sftp(sshd.target(), { deadlineMs: 60_000 }) });
  } finally {
    await pool.close();
    await sshd.stop();
  }
}
