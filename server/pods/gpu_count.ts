import type { PodRow } from "../../db/stores/pods.ts";
import type { RunpodPod } from "../runpod/client.ts";

/** The GPU count a pod was asked for; 0 for a CPU pod. */
export function wantedGpus(pod: Pick<PodRow, "config">): number {
  return (JSON.parse(pod.config) as { use_cpu_only?: boolean }).use_cpu_only ? 0 : 1;
}

/** True when RunPod gave the pod fewer GPUs than it was asked for. */
export function lacksGpu(pod: Pick<PodRow, "config">, answer: Pick<RunpodPod, "gpu">): boolean {
  return (answer.gpu?.count ?? 0) < wantedGpus(pod);
}
