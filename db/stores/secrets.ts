import type { Database } from "../database.ts";

export interface SecretRow {
  readonly org_id: number;
  readonly name: string;
  readonly ciphertext: string;
  /** The last four characters of the value, for people to recognise it. */
  readonly hint: string;
  readonly updated_at: number;
}

export function secretOf(db: Database, orgId: number, name: string): SecretRow | undefined {
  return db.get("select * from org_secrets where org_id = ? and name = ?", orgId, name);
}

export function putSecret(
  db: Database,
  secret: { orgId: number; name: string; ciphertext: string; hint: string; by: string },
  now: number,
): void {
  db.run(
    "insert into org_secrets (org_id, name, ciphertext, hint, updated_at, updated_by) values (?, ?, ?, ?, ?, ?) " +
      "on conflict (org_id, name) do update set ciphertext = excluded.ciphertext, hint = excluded.hint, " +
      "updated_at = excluded.updated_at, updated_by = excluded.updated_by",
    secret.orgId,
    secret.name,
    secret.ciphertext,
    secret.hint,
    now,
    secret.by,
  );
}

/** True when there was such a secret. */
export function deleteSecret(db: Database, orgId: number, name: string): boolean {
  return db.run("delete from org_secrets where org_id = ? and name = ?", orgId, name) > 0;
}

export interface KeyRow {
  readonly id: number;
  readonly org_id: number;
  readonly kind: "backend" | "user_ca";
  readonly public_key: string;
  /** Encrypted; empty when it was wiped after a rotation. */
  readonly private_key: string;
  readonly fingerprint: string;
  readonly created_at: number;
  readonly retired_at: number | null;
}

/** The org's current key pair of a kind; the private half is encrypted. */
export function currentKey(db: Database, orgId: number, kind: KeyRow["kind"]): KeyRow | undefined {
  return db.get("select * from compute_keys where org_id = ? and kind = ? and retired_at is null", orgId, kind);
}

export function insertKey(db: Database, key: Omit<KeyRow, "id" | "created_at" | "retired_at">, now: number): void {
  db.run(
    "insert into compute_keys (org_id, kind, public_key, private_key, fingerprint, created_at) values (?, ?, ?, ?, ?, ?)",
    key.org_id,
    key.kind,
    key.public_key,
    key.private_key,
    key.fingerprint,
    now,
  );
}

export const allSecrets = (db: Database): SecretRow[] => db.all("select * from org_secrets");
/** Every key pair of every org whose private half is still there. */
export const allKeys = (db: Database): KeyRow[] => db.all("select * from compute_keys where private_key != ''");

/** Every key of a kind that an org has or had, the oldest first. */
export function keysOf(db: Database, orgId: number, kind: KeyRow["kind"]): KeyRow[] {
  return db.all("select * from compute_keys where org_id = ? and kind = ? order by id", orgId, kind);
}

/** The org's current key becomes an old one. */
export function retireKey(db: Database, id: number, now: number): void {
  db.run("update compute_keys set retired_at = ? where id = ?", now, id);
}

/** Removes the private half of an old key for good. */
export function wipePrivateKey(db: Database, id: number): void {
  db.run("update compute_keys set private_key = '' where id = ? and retired_at is not null", id);
}

export function replaceKeyCiphertext(db: Database, id: number, ciphertext: string): void {
  db.run("update compute_keys set private_key = ? where id = ?", ciphertext, id);
}

export function replaceSecretCiphertext(db: Database, orgId: number, name: string, ciphertext: string): void {
  db.run("update org_secrets set ciphertext = ? where org_id = ? and name = ?", ciphertext, orgId, name);
}
