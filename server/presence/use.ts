import type { Database } from "../../db/database.ts";
import { storeActive, storeUse } from "../../db/stores/activity.ts";
import type { PodRow } from "../../db/stores/pods.ts";
import { MINUTE } from "../clock.ts";
import type { OrgSettings } from "../identity/org_settings.ts";
import { wantedGpus } from "../pods/gpu_count.ts";
import type { RunpodPod } from "../runpod/client.ts";
import { forgetFuture, unbroken } from "./since.ts";

/** Longer apart than this, nobody knows what was between two of RunPod's reports of use; they come with each list. */
export const USE_GAP_MS = 10 * MINUTE;

type Use = Pick<RunpodPod, "gpuPercent" | "cpuPercent" | "gpu" | "status">;

/**
 * Stores how busy RunPod says the pod is; per cent. At or above a threshold of the org the pod counts as in use. A report
 * that lacks the CPU, or the GPU of a GPU pod, is none. Call it in the transaction that stores the answer.
 */
export function noteUse(db: Database, row: PodRow, pod: Use, askedAt: number, settings: OrgSettings): void {
  const { gpuPercent, cpuPercent } = pod;
  if (pod.status !== "RUNNING" || cpuPercent === null) return;
  if (gpuPercent === null && ((pod.gpu?.count ?? 0) > 0 || wantedGpus(row) > 0)) return;
  const since = unbroken(row.use_at, row.use_since, askedAt, USE_GAP_MS);
  storeUse(db, row.id, { gpuPercent, cpuPercent, at: askedAt, since });
  const busy = busyWhy(gpuPercent, cpuPercent, settings);
  if (busy !== null) storeActive(db, row.id, busy, askedAt);
  else forgetFuture(db, row, askedAt);
}

/** Why a pod counts as at work; null when GPU and CPU are both below the org's thresholds. */
export function busyWhy(gpuPercent: number | null, cpuPercent: number | null, settings: OrgSettings): string | null {
  if (gpuPercent !== null && gpuPercent >= settings.idle_gpu_percent) return `its GPU was at ${gpuPercent} %`;
  if (cpuPercent !== null && cpuPercent >= settings.idle_cpu_percent) return `its CPU was at ${cpuPercent} %`;
  return null;
}
