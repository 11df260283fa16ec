import { erasing } from "../../db/erase.ts";
import { finishRotation, replacedKey, type RotationRow } from "../../db/stores/key_rotations.ts";
import { openIntents } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { type LivePod, livePods } from "../../db/stores/pods.ts";
import { wipePrivateKey } from "../../db/stores/secrets.ts";
import { actorOf } from "../audit/write.ts";
import { MINUTE } from "../clock.ts";
import { raiseSettingsChanged } from "../events/settings_changed.ts";
import { actorName } from "../identity/callers.ts";
import type { PodDeps } from "../pods/deps.ts";
import { KEY_NAMES, ROTATION } from "./names.ts";
import { standingOf } from "./standing.ts";

/** A pod can be missing from RunPod's answers for a while, and comes back with the keys it had. */
const GONE_FOR_MS = 15 * MINUTE;

function isFreshlyGone(pod: LivePod, now: number): boolean {
  return pod.status === "GONE" && Math.abs(now - (pod.missing_since ?? now)) < GONE_FOR_MS;
}

/** A create on its way may carry the old key. */
export function isReady(deps: Pick<PodDeps, "db" | "clock">, org: Org, rotation: RotationRow): boolean {
  const { db } = deps;
  if (openIntents(db, org.id).some((intent) => intent.action === "create")) return false;
  const now = deps.clock.now();
  return livePods(db, org.id).every((pod) => standingOf(pod, rotation) === "done" && !isFreshlyGone(pod, now));
}

/**
 * Ends a rotation whose pods all have the new key: from now on no pod is to trust the old one, and its private half is
 * wiped. In one transaction; false when it is not ready any more.
 */
export function finishIfReady(
  deps: Pick<PodDeps, "db" | "clock" | "audit" | "keys" | "log">,
  org: Org,
  rotation: RotationRow,
): boolean {
  const { db, clock } = deps;
  const old = replacedKey(db, org.id, rotation.kind);
  if (!isReady(deps, org, rotation)) return false;
  const isDone = erasing(db, () => {
    if (!isReady(deps, org, rotation)) return false;
    const now = clock.now();
    const { kind, old_fingerprint, new_fingerprint } = rotation;
    const change = { old_fingerprint, new_fingerprint };
    finishRotation(db, rotation.id, now);
    if (old !== undefined) wipePrivateKey(db, old.id);
    deps.audit.write({
      ...actorOf(ROTATION),
      action: "KEYS",
      orgPrefix: org.prefix,
      status: 200,
      outcome: "ok",
      details: { kind, finished: true, ...change },
    });
    const event = { changed: [KEY_NAMES[kind]], finished: true, ...change };
    raiseSettingsChanged(db, org.id, actorName(ROTATION), event, now);
    return true;
  });
  if (isDone && old !== undefined) {
    deps.keys.forget(old.id);
    deps.log.info("A rotation of keys is finished", { org: org.prefix, kind: rotation.kind });
  }
  return isDone;
}
