import type { Database } from "../../db/database.ts";
import { allowedUsers, type LivePod, type PodRow } from "../../db/stores/pods.ts";
import { isoTime } from "../clock.ts";
import type { RunpodPod } from "../runpod/client.ts";

/** The pod as officers see it (contract section 4). */
export interface PodView {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly status: string | null;
  readonly is_public: boolean;
  readonly allowed_users: string[];
  readonly created_by: string | null;
  readonly created_at: string;
  readonly machine: Record<string, unknown> | null;
  readonly cost_per_hour: number | null;
  readonly stale: boolean;
  readonly as_of: string | null;
  /** Whether the server could log in during this start of the container; null when it was not tried. */
  readonly reachable: boolean | null;
  readonly unreachable_reason: string | null;
  /** Whether members get port forwarding on this pod in this start. */
  readonly port_forwarding: boolean | null;
  /** False when a stop loses every file. */
  readonly keeps_files: boolean;
  readonly started_at: string | null;
}

const timeOrNull = (ms: number | null) => ms === null ? null : isoTime(ms);

/** A stored pod as an answer; `stale` says that RunPod was not heard for this answer. */
export function podView(db: Database, pod: LivePod, stale: boolean): PodView {
  const thisStart = pod.start_key !== null && pod.status === "RUNNING" ? pod.start_key : null;
  const reached = thisStart !== null && pod.reachable_start === thisStart && pod.unreachable_reason === null;
  return {
    id: pod.runpod_id,
    name: pod.name,
    provider: pod.provider,
    status: pod.status ?? "UNKNOWN",
    is_public: pod.is_public === 1,
    allowed_users: allowedUsers(db, pod.id),
    created_by: pod.created_by,
    created_at: isoTime(pod.created_at),
    machine: pod.machine === null ? null : JSON.parse(pod.machine),
    cost_per_hour: pod.cost_per_hour,
    stale: stale || pod.missing_count > 0 && pod.status !== "GONE",
    as_of: timeOrNull(pod.as_of),
    reachable: thisStart === null ? null : reached ? true : pod.unreachable_reason === null ? null : false,
    unreachable_reason: thisStart === null ? null : pod.unreachable_reason,
    port_forwarding: thisStart !== null && pod.forwarding_start === thisStart ? pod.forwarding === "refused" : null,
    keeps_files: pod.keeps_files === 1,
    started_at: timeOrNull(pod.started_at),
  };
}

/** The GPU count a pod was asked for; 0 for a CPU pod. */
export function wantedGpus(pod: Pick<PodRow, "config">): number {
  return (JSON.parse(pod.config) as { use_cpu_only?: boolean }).use_cpu_only ? 0 : 1;
}

/** True when RunPod gave the pod fewer GPUs than it was asked for. */
export function lacksGpu(pod: Pick<PodRow, "config">, answer: Pick<RunpodPod, "gpu">): boolean {
  return (answer.gpu?.count ?? 0) < wantedGpus(pod);
}
