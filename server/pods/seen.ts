import { podById, type SeenState, storeSeen } from "../../db/stores/pods.ts";
import type { RunpodPod } from "../runpod/client.ts";
import type { PodDeps } from "./deps.ts";
import { startKeyOf } from "./start_key.ts";

/** What of RunPod's answer is kept with the pod. Its env is not. */
export function seenOf(previous: string | null, pod: RunpodPod, askedAt: number): SeenState {
  return {
    status: pod.status,
    host: pod.address?.host ?? null,
    port: pod.address?.port ?? null,
    machine: pod.machine === null ? null : JSON.stringify(pod.machine),
    costPerHour: pod.cost,
    gpuCount: pod.gpu === null ? null : pod.gpu.count ?? null,
    startKey: startKeyOf(previous, pod, askedAt),
    startedAt: pod.startedAt,
  };
}

/** Stores one pod's answer unless a call that began later has been stored already. */
export function storeAnswer(deps: PodDeps, podId: string, answer: RunpodPod, askedAt: number): void {
  const row = podById(deps.db, podId);
  if (row === undefined || row.state === "terminated" || (row.as_of ?? 0) > askedAt) return;
  storeSeen(deps.db, podId, seenOf(row.start_key, answer, askedAt), askedAt);
}
