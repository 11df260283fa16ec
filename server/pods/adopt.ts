import { insertIntent, intentById, type IntentRow, markSent, settleIntent } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { bindRunpodId, podById, storeRunOverBudget } from "../../db/stores/pods.ts";
import type { RunpodPod } from "../runpod/client.ts";
import type { PodDeps } from "./deps.ts";
import { raise } from "../events/raise.ts";
import { recordAnswer } from "./seen.ts";

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
    const { replaces, over_budget } = JSON.parse(intent.request) as { replaces?: string; over_budget?: boolean };
    if (replaces !== undefined) terminateOld(deps, intent, replaces, now);
    bindRunpodId(db, intent.pod_id, pod.id, how, now);
    recordAnswer(deps, intent.pod_id, pod, askedAt);
    if (over_budget === true) storeRunOverBudget(db, intent.pod_id, true);
    settleIntent(db, intent.id, { state: "done" }, now);
    deps.audit.write({
      ...JSON.parse(intent.request).audit,
      orgPrefix: org.prefix,
      podId: pod.id,
      status: 201,
      outcome: "created",
      details: { name: row?.name, how, ...(over_budget === undefined ? {} : { over_budget }) },
    });
    raise(db, {
      orgId: org.id,
      kind: "pod.created",
      podId: intent.pod_id,
      runpodId: pod.id,
      subject: row?.name ?? null,
      actor: JSON.parse(intent.request).actor ?? null,
      details: { cost_per_hour: pod.cost, ...(replaces === undefined ? {} : { replaces }) },
      onceKey: `intent:${intent.id}`,
    }, now);
  });
}

/** The pod that was replaced is looked after like any other terminate that was sent and not yet answered. */
function terminateOld(deps: PodDeps, intent: IntentRow, runpodId: string, now: number): void {
  const id = crypto.randomUUID();
  const { request, org_id, pod_id, asked_by } = intent;
  const terminate = { id, orgId: org_id, podId: pod_id, runpodId, action: "terminate", askedBy: asked_by } as const;
  insertIntent(deps.db, { ...terminate, request: JSON.parse(request) }, now);
  markSent(deps.db, id, now);
}
