import type { RunpodPod } from "../runpod/client.ts";

/** Boot times computed from `uptime` wobble by the age of the answer; less than this is the same start. */
const WOBBLE_S = 60;

/**
 * The identity of one start of a container: host keys and what was verified belong to it (decision 26). It changes when
 * RunPod's `startedAt` changes, or when the uptime shows a later boot (a restart in RunPod's console). Null while the pod
 * does not run.
 */
export function startKeyOf(previous: string | null, pod: RunpodPod, askedAt: number): string | null {
  if (pod.status !== "RUNNING") return null;
  const started = String(pod.startedAt ?? pod.createdAt ?? 0);
  const boot = pod.uptimeSeconds === null ? null : Math.round(askedAt / 1000 - pod.uptimeSeconds);
  const [oldStarted, oldBoot] = previous?.split("/") ?? [];
  if (previous !== null && oldStarted === started) {
    if (boot === null) return previous;
    if (oldBoot !== "" && oldBoot !== undefined && boot - Number(oldBoot) <= WOBBLE_S) return previous;
    // The first answers of a start may lack the uptime; learning it is not a new start.
    if (oldBoot === "" || oldBoot === undefined) return previous;
  }
  return `${started}/${boot ?? ""}`;
}
