import type { Database } from "../../db/database.ts";
import { KEY_KINDS, type KeyKind, replacedKey } from "../../db/stores/key_rotations.ts";
import { listOf, type PodKeyColumns } from "../../db/stores/pod_keys.ts";
import type { PodRow } from "../../db/stores/pods.ts";
import { currentKey, type KeyRow, keysOf } from "../../db/stores/secrets.ts";
import type { KeyFacts } from "./choose.ts";
import type { OrgPublicKeys } from "./env_keys.ts";

/** An org's keys of a kind that pods are to trust now. */
export interface TrustedKeys {
  readonly current: KeyRow;
  /** The key that is being replaced; null when no rotation is open. */
  readonly old: KeyRow | null;
}

/** Null before the org has keys. */
export function trustedKeys(db: Database, orgId: number, kind: KeyKind): TrustedKeys | null {
  const current = currentKey(db, orgId, kind);
  return current === undefined ? null : { current, old: replacedKey(db, orgId, kind) ?? null };
}

/** Is this the fingerprint of a CA that pods of the org trust? */
export function isTrustedCa(db: Database, orgId: number, fingerprint: string): boolean {
  const keys = trustedKeys(db, orgId, "user_ca");
  return keys !== null && (keys.current.fingerprint === fingerprint || keys.old?.fingerprint === fingerprint);
}

/** Every key that an org has or had. */
export function publicKeysOf(db: Database, orgId: number): OrgPublicKeys {
  const [backend, userCa] = KEY_KINDS.map((kind) => keysOf(db, orgId, kind));
  return { backend: backend!, user_ca: userCa! };
}

/** What is known of a pod's present start and one kind of key. */
export function factsOf(pod: Pick<PodRow, "start_key"> & PodKeyColumns, keys: TrustedKeys): KeyFacts {
  const { kind } = keys.current;
  const isThisStart = pod.keys_start !== null && pod.keys_start === pod.start_key;
  return {
    current: keys.current.fingerprint,
    old: keys.old?.fingerprint ?? null,
    files: isThisStart ? listOf(pod[`files_${kind}`]) : null,
    startEnv: isThisStart ? pod[`start_env_${kind}`] : null,
    login: isThisStart && kind === "backend" ? pod.login_key : null,
  };
}
