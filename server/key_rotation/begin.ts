import { insertRotation, type KeyKind, openRotation } from "../../db/stores/key_rotations.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { currentKey } from "../../db/stores/secrets.ts";
import { actorOf } from "../audit/write.ts";
import { AppError } from "../errors.ts";
import { raiseSettingsChanged } from "../events/settings_changed.ts";
import { actorName, type Asker, callerId } from "../identity/callers.ts";
import type { PodDeps } from "../pods/deps.ts";
import { KEY_NAMES } from "./names.ts";
import { rotationStatus } from "./status.ts";

/**
 * Begins to replace an org's key: the new pair, the rotation, the audit row and the event are written in one transaction.
 * New pods get the new key from then on; the rest is the rotation's own turns'. Throws `rotation_open` while an earlier
 * one of the kind is not finished, `conflict` before the org has keys, `secrets_key_missing`.
 */
export async function beginRotation(
  deps: Pick<PodDeps, "db" | "clock" | "audit" | "keys">,
  org: Org,
  asker: Asker,
  kind: KeyKind,
): Promise<void> {
  const { db, clock } = deps;
  refuseOpen(deps, org, kind);
  if (currentKey(db, org.id, kind) === undefined) {
    throw new AppError("conflict", "The organization has no keys yet: they are made with its first pod");
  }
  await deps.keys.replace(org.id, kind, (old, fingerprint) => {
    refuseOpen(deps, org, kind);
    const now = clock.now();
    const change = { old_fingerprint: old.fingerprint, new_fingerprint: fingerprint };
    insertRotation(db, {
      orgId: org.id,
      kind,
      oldFingerprint: old.fingerprint,
      newFingerprint: fingerprint,
      isRecovery: !deps.keys.isReadable(old),
      askedBy: callerId(asker.caller),
    }, now);
    deps.audit.write({
      ...actorOf(asker.caller),
      address: asker.address,
      action: asker.action,
      orgPrefix: org.prefix,
      status: 202,
      outcome: "ok",
      details: { kind, ...change },
    });
    const event = { changed: [KEY_NAMES[kind]], ...change };
    raiseSettingsChanged(db, org.id, actorName(asker.caller), event, now);
  });
}

function refuseOpen(deps: Pick<PodDeps, "db" | "clock" | "keys">, org: Org, kind: KeyKind): void {
  if (openRotation(deps.db, org.id, kind) === undefined) return;
  const { pods } = rotationStatus(deps, org, kind)!;
  const left = pods.filter((pod) => pod.left !== null);
  throw new AppError(
    "rotation_open",
    `An earlier rotation of the ${kind} key is not finished: ${
      left.length === 0
        ? "its last step comes by itself within a minute"
        : `${left.length} of ${pods.length} pods are left`
    }`,
    { extra: { left } },
  );
}
