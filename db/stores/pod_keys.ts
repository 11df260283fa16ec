import type { Database } from "../database.ts";
import type { KeyKind } from "./key_rotations.ts";

/** Which of the org's keys a pod's env and files hold. Keys are told by their fingerprints. */
export interface PodKeyColumns {
  /** The RunPod pod whose env this was. */
  readonly env_of: string | null;
  /** A fingerprint, `other` for a key that the org never had, `none`; null: not known. */
  readonly env_backend: string | null;
  readonly env_user_ca: string | null;
  /** 1: which env the next start has is not known. */
  readonly env_unsure: number;
  /** The start that all below belong to. */
  readonly keys_start: string | null;
  /** The env that this start began with; null: not known. */
  readonly start_env_backend: string | null;
  readonly start_env_user_ca: string | null;
  /** JSON lists of the fingerprints in its files; null: not known. */
  readonly files_backend: string | null;
  readonly files_user_ca: string | null;
  /** The backend key that the pod let in last. */
  readonly login_key: string | null;
  /** JSON list of what RunPod shows otherwise than it was asked for; null: nothing. */
  readonly differs: string | null;
}

/** One word for each kind of key. */
export type KeyWords = Readonly<Record<KeyKind, string | null>>;
/** Fingerprints for each kind of key. */
export type KeyLists = Readonly<Record<KeyKind, readonly string[]>>;

export function storeEnvKeys(db: Database, podId: string, runpodId: string, env: KeyWords): void {
  db.run(
    "update compute_pods set env_of = ?, env_backend = ?, env_user_ca = ? where id = ?",
    runpodId,
    env.backend,
    env.user_ca,
    podId,
  );
}

export function storeEnvUnsure(db: Database, podId: string, isUnsure: boolean): void {
  db.run("update compute_pods set env_unsure = ? where id = ?", isUnsure ? 1 : 0, podId);
}

export function storeDiffers(db: Database, podId: string, differs: readonly string[]): void {
  db.run(
    "update compute_pods set differs = ? where id = ?",
    differs.length === 0 ? null : JSON.stringify(differs),
    podId,
  );
}

/** A start begins: nothing is known of its files. */
export function storeKeysStart(db: Database, podId: string, start: string, env: KeyWords): void {
  db.run(
    "update compute_pods set keys_start = ?, start_env_backend = ?, start_env_user_ca = ?, files_backend = null, " +
      "files_user_ca = null, login_key = null where id = ?",
    start,
    env.backend,
    env.user_ca,
    podId,
  );
}

/** What was delivered to a pod in one start. */
export function storeDeliveredKeys(db: Database, podId: string, start: string, files: KeyLists): void {
  db.run(
    "update compute_pods set files_backend = ?, files_user_ca = ? where id = ? and keys_start = ?",
    JSON.stringify(files.backend),
    JSON.stringify(files.user_ca),
    podId,
    start,
  );
}

/** What a look at the files of one start found; what was delivered meanwhile is newer. */
export function storeFoundKeys(db: Database, podId: string, start: string, files: KeyLists): void {
  db.run(
    "update compute_pods set files_backend = ?, files_user_ca = ? where id = ? and keys_start = ? " +
      "and files_backend is null",
    JSON.stringify(files.backend),
    JSON.stringify(files.user_ca),
    podId,
    start,
  );
}

/** Which backend key the pod let in. */
export function storeLoginKey(db: Database, podId: string, start: string, fingerprint: string): void {
  db.run(
    "update compute_pods set login_key = ?1 where id = ?2 and keys_start = ?3 and login_key is not ?1",
    fingerprint,
    podId,
    start,
  );
}

/** The fingerprints of a stored list; null: not known. */
export function listOf(stored: string | null): readonly string[] | null {
  return stored === null ? null : JSON.parse(stored) as string[];
}
