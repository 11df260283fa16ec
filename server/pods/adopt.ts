import { intentById, type IntentRow, settleIntent } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { bindRunpodId, podById, storeSeen } from "../../db/stores/pods.ts";
import type { RunpodPod } from "../runpod/client.ts";
import type { PodDeps } from "./deps.ts";
import { seenOf } from "./seen.ts";

/**
 * Binds a pod that RunPod made to the create that asked for it, and settles the create: id, state, intent and audit row
 * in one transaction, so that a crash leaves all of it or none.
 */
export function adoptCreated(
  deps: PodDeps,
  org: Org,
  intent: IntentRow,
  pod: RunpodPod,
  askedAt: number,
  how: string,
): void {
  const { db } = deps;
  const now = deps.clock.now();
  db.tx(() => {
    // The list can show the pod before the answer of the create arrives: whoever is second has nothing left to do.
    if (intentById(db, intent.id)?.state === "done") return;
    const row = podById(db, intent.pod_id);
    bindRunpodId(db, intent.pod_id, pod.id, how, now);
    storeSeen(db, intent.pod_id, seenOf(row?.start_key ?? null, pod, askedAt), askedAt);
    settleIntent(db, intent.id, { state: "done" }, now);
    deps.audit.write({
      ...JSON.parse(intent.request).audit,
      orgPrefix: org.prefix,
      podId: pod.id,
      status: 201,
      outcome: "created",
      details: { name: row?.name, how },
    });
  });
}
