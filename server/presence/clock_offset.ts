import type { LivePod } from "../../db/stores/pods.ts";
import { SECOND } from "../clock.ts";

/** How many seconds the pod's clock is ahead of the server's; null while it was not read in the pod's present start. */
export function clockOffsetOf(pod: LivePod): number | null {
  if (pod.clock_offset_ms === null || pod.setup_start !== pod.start_key) return null;
  return Math.round(pod.clock_offset_ms / SECOND);
}
