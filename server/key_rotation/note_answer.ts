import type { Database } from "../../db/database.ts";
import { openEnvChange } from "../../db/stores/env_changes.ts";
import { type KeyWords, storeDiffers, storeEnvKeys, storeEnvUnsure, storeKeysStart } from "../../db/stores/pod_keys.ts";
import type { PodRow } from "../../db/stores/pods.ts";
import { isDown } from "../pods/moves.ts";
import type { RunpodPod } from "../runpod/client.ts";
import { differencesOf } from "./differences.ts";
import { keysInEnv, type OrgPublicKeys } from "./env_keys.ts";

/** What an answer of RunPod says of a pod's keys and of how it was made; null: its env was not told. */
function seenIn(row: PodRow, answer: RunpodPod, keys: OrgPublicKeys): KeyWords | null {
  const isTold = answer.env !== null;
  if (isTold) return keysInEnv(answer.env!, keys);
  return row.env_of === answer.id ? { backend: row.env_backend, user_ca: row.env_user_ca } : null;
}

const isSameEnv = (row: PodRow, answer: RunpodPod, env: KeyWords | null): boolean =>
  env === null || row.env_of === answer.id && row.env_backend === env.backend && row.env_user_ca === env.user_ca;

const isSameMake = (row: PodRow, answer: RunpodPod): boolean =>
  (row.differs ?? "[]") === JSON.stringify(differencesOf(row.config, answer));

/** True when an answer tells nothing new of a pod's env and of how it was made. */
export function tellsNothingNew(row: PodRow, answer: RunpodPod, keys: OrgPublicKeys): boolean {
  return isSameEnv(row, answer, seenIn(row, answer, keys)) && isSameMake(row, answer);
}

/**
 * Stores which of the org's keys a pod's env has, and, with a new start, which it began with: env is changed only while
 * a pod is stopped, so what is shown at the first sight of a start is what it began with. `row` is the pod before the
 * answer was stored. Call it in the transaction that stores the answer.
 */
export function noteAnswer(
  db: Database,
  row: PodRow,
  answer: RunpodPod,
  startKey: string | null,
  keys: OrgPublicKeys,
): void {
  const env = seenIn(row, answer, keys);
  if (env !== null && !isSameEnv(row, answer, env)) storeEnvKeys(db, row.id, answer.id, env);
  if (!isSameMake(row, answer)) storeDiffers(db, row.id, differencesOf(row.config, answer));
  const isUnsure = row.env_unsure === 1 && row.env_of === answer.id;
  if (startKey !== null && startKey !== row.keys_start) {
    const isKnown = env !== null && !isUnsure && openEnvChange(db, row.id) === undefined;
    storeKeysStart(db, row.id, startKey, isKnown ? env : { backend: null, user_ca: null });
  }
  if (row.env_unsure === 1 && (!isUnsure || isDown(answer.status))) storeEnvUnsure(db, row.id, false);
}
