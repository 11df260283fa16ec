import type { Database } from "../../db/database.ts";
import type { PodAction } from "../../db/stores/intents.ts";
import type { PodRow } from "../../db/stores/pods.ts";
import { storeStatusWhy } from "../../db/stores/pods.ts";
import { raise } from "../events/raise.ts";

/** How people read what was done to a pod. */
const DID = { start: "started", restart: "restarted", stop: "stopped", terminate: "terminated" } as const;

/** The event of an action that was done; the same intent raises it once. Call it in the transaction that settles it. */
export function raiseAction(
  db: Database,
  pod: Pick<PodRow, "id" | "org_id" | "name" | "runpod_id">,
  action: PodAction,
  by: { readonly actor: string | null; readonly intentId: string | null },
  now: number,
): void {
  const did = DID[action];
  storeStatusWhy(db, pod.id, `${did.charAt(0).toUpperCase()}${did.slice(1)} by ${by.actor ?? "an officer"}`, now);
  raise(db, {
    orgId: pod.org_id,
    kind: action === "start" || action === "restart" ? "pod.started" : "pod.stopped",
    podId: pod.id,
    runpodId: pod.runpod_id,
    subject: pod.name,
    actor: by.actor,
    details: { did },
    onceKey: by.intentId === null ? null : `intent:${by.intentId}`,
  }, now);
}
