import { createHash } from "node:crypto";
import type { Database } from "../../db/database.ts";
import type { Org } from "../../db/stores/organizations.ts";
import type { KeyLists } from "../../db/stores/pod_keys.ts";
import { keysOf } from "../../db/stores/secrets.ts";
import { trustedKeys } from "../key_rotation/facts.ts";
import { krlOfOrg } from "../revocation/krl_of_org.ts";
import type { RemoteFile } from "./remote_shell.ts";

export const KRL_FILE = "/etc/ssh/godfather_revoked";
export const CA_FILE = "/etc/ssh/godfather_user_ca.pub";

/** Whom a pod is to let in at present: what is on it besides its image. */
export interface Trust {
  /** The revocation list first: a CA is trusted only where the list is. */
  readonly files: readonly RemoteFile[];
  /** Lines that root's `authorized_keys` must have. */
  readonly backendLines: readonly string[];
  /** Lines that it must not have any more. */
  readonly goneLines: readonly string[];
  /** The fingerprints of the org's keys that it lets in. */
  readonly keys: KeyLists;
  /** Changes whenever any of this does. */
  readonly digest: string;
}

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

/** A file with its digest. */
export function remoteFile(path: string, mode: number, content: Uint8Array | string): RemoteFile {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { path, mode, bytes, sha256: sha256(bytes) };
}

/**
 * What the pods of an org are to trust at `now`: both keys of a kind while one replaces the other, and none that was replaced before.
 * Null before the org has keys.
 */
export function trustOf(db: Database, org: Org, now: number): Trust | null {
  const [backend, ca] = [trustedKeys(db, org.id, "backend"), trustedKeys(db, org.id, "user_ca")];
  if (backend === null || ca === null) return null;
  const [logins, cas] = [backend, ca].map(({ current, old }) => old === null ? [current] : [current, old]);
  const krl = krlOfOrg(db, org, now);
  const files = [remoteFile(KRL_FILE, 0o644, krl.bytes), remoteFile(CA_FILE, 0o644, linesOf(cas!))];
  const backendLines = logins!.map((key) => key.public_key);
  const goneLines = keysOf(db, org.id, "backend").map((key) => key.public_key)
    .filter((line) => !backendLines.includes(line));
  const digest = sha256(JSON.stringify([files.map((file) => file.sha256), backendLines, goneLines]));
  const keys = { backend: logins!.map(printOf), user_ca: cas!.map(printOf) };
  return { files, backendLines, goneLines, keys, digest };
}

const printOf = (key: { readonly fingerprint: string }): string => key.fingerprint;
const linesOf = (keys: readonly { readonly public_key: string }[]): string =>
  keys.map((key) => `${key.public_key}\n`).join("");
