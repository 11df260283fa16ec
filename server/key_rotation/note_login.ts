import { type Database, isDiskFailure } from "../../db/database.ts";
import { storeLoginKey } from "../../db/stores/pod_keys.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import type { OrgKeys } from "../ssh/org_keys.ts";
import type { PodTarget } from "../ssh/pool.ts";

/** Remembers for a pod's start which of two backend keys it let in. A full disk keeps nobody from a login. */
export function noteLogin(db: Database, keys: OrgKeys, target: PodTarget, privateKey: string): void {
  if (target.otherKey === undefined) return;
  const pod = podById(db, target.podKey) as LivePod | undefined;
  if (pod === undefined) return;
  const fingerprint = keys.backendKeysFor(pod).fingerprintOf(privateKey);
  if (fingerprint === null || pod.keys_start !== target.startKey || pod.login_key === fingerprint) return;
  try {
    storeLoginKey(db, pod.id, target.startKey, fingerprint);
  } catch (error) {
    if (!isDiskFailure(error)) throw error;
  }
}
