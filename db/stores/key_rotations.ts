import type { Database } from "../database.ts";
import type { KeyRow } from "./secrets.ts";

export type KeyKind = KeyRow["kind"];
export const KEY_KINDS: readonly KeyKind[] = ["backend", "user_ca"];

/** One change of an org's key of a kind, from the new pair until the old one is trusted nowhere. */
export interface RotationRow {
  readonly id: number;
  readonly org_id: number;
  readonly kind: KeyKind;
  readonly old_fingerprint: string;
  readonly new_fingerprint: string;
  /** 1: the old private key could not be decrypted when it began. */
  readonly is_recovery: number;
  readonly asked_by: string;
  readonly asked_at: number;
  readonly state: "open" | "done";
  readonly finished_at: number | null;
}

export interface NewRotation {
  readonly orgId: number;
  readonly kind: KeyKind;
  readonly oldFingerprint: string;
  readonly newFingerprint: string;
  readonly isRecovery: boolean;
  readonly askedBy: string;
}

export function insertRotation(db: Database, rotation: NewRotation, now: number): void {
  db.run(
    "insert into key_rotations (org_id, kind, old_fingerprint, new_fingerprint, is_recovery, asked_by, asked_at) " +
      "values (?, ?, ?, ?, ?, ?, ?)",
    rotation.orgId,
    rotation.kind,
    rotation.oldFingerprint,
    rotation.newFingerprint,
    rotation.isRecovery ? 1 : 0,
    rotation.askedBy,
    now,
  );
}

export function openRotation(db: Database, orgId: number, kind: KeyKind): RotationRow | undefined {
  return db.get("select * from key_rotations where org_id = ? and kind = ? and state = 'open'", orgId, kind);
}

export function openRotations(db: Database, orgId: number): RotationRow[] {
  return db.all("select * from key_rotations where org_id = ? and state = 'open' order by id", orgId);
}

/** The last rotation of a kind, open or done. */
export function lastRotation(db: Database, orgId: number, kind: KeyKind): RotationRow | undefined {
  return db.get("select * from key_rotations where org_id = ? and kind = ? order by id desc limit 1", orgId, kind);
}

export function finishRotation(db: Database, id: number, now: number): void {
  db.run("update key_rotations set state = 'done', finished_at = ? where id = ?", now, id);
}

/** The key that is being replaced, while its rotation is open. */
export function replacedKey(db: Database, orgId: number, kind: KeyKind): KeyRow | undefined {
  return db.get(
    "select k.* from key_rotations r join compute_keys k on k.org_id = r.org_id and k.kind = r.kind " +
      "and k.fingerprint = r.old_fingerprint where r.org_id = ? and r.kind = ? and r.state = 'open'",
    orgId,
    kind,
  );
}

/**
 * Orgs whose pods may need something because of keys: a rotation or a change of an env that is open, and pods whose
 * env or whose files in the present start hold a key of the org that was replaced.
 */
export function orgsWithKeyWork(db: Database): number[] {
  const retired = "select k.fingerprint from compute_keys k where k.org_id = p.org_id and k.retired_at is not null " +
    "and k.kind";
  return db.all<{ org_id: number }>(
    "select org_id from key_rotations where state = 'open' " +
      "union select org_id from env_changes where state in ('sent', 'unsettled') " +
      "union select p.org_id from compute_pods p where p.state = 'live' and (" +
      `p.env_backend in (${retired} = 'backend') or p.env_user_ca in (${retired} = 'user_ca') ` +
      "or p.start_key = p.keys_start and p.files_backend is not null and exists (" +
      `select 1 from json_each(p.files_backend) f where f.value in (${retired} = 'backend')) ` +
      "or p.start_key = p.keys_start and p.files_user_ca is not null and exists (" +
      `select 1 from json_each(p.files_user_ca) f where f.value in (${retired} = 'user_ca')))`,
  ).map((row) => row.org_id);
}
