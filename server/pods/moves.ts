import type { PodRow } from "../../db/stores/pods.ts";

/** What a pod did between two looks. */
export type Move = "started" | "restarted" | "stopped" | "gone";

/** Is the pod on its way or running? RunPod bills it, or soon will. */
export function isUp(status: string | null): boolean {
  return status === "RUNNING" || status === "STARTING" || status === "PROVISIONING";
}

/** Is the pod certainly not running? A word nobody knows is neither up nor down. */
export function isDown(status: string | null): boolean {
  return status === "EXITED" || status === "ERROR" || status === "TERMINATED" || status === "GONE";
}

type Before = Pick<PodRow, "status" | "start_key" | "as_of" | "up_since">;
interface After {
  readonly status: string;
  readonly startKey: string | null;
  readonly startedAt: number | null;
}

/** What happened between what was stored and what is seen now; null: nothing, or it cannot be told. */
export function moveOf(before: Before, after: After): Move | null {
  if (before.status === null) return null;
  if (isDown(before.status) && isUp(after.status)) return "started";
  if (isUp(before.status) && isDown(after.status)) return "stopped";
  const isNewStart = before.start_key !== null && after.startKey !== null && before.start_key !== after.startKey;
  return before.status === "RUNNING" && after.status === "RUNNING" && isNewStart ? "restarted" : null;
}

/**
 * Since when the pod is up without a break, as far as it can be told; null when it is not up. A container that starts anew
 * while the pod stays up (a restart, a crash) is no break: else whoever can crash it could put its stops off.
 */
export function upSince(before: Before, after: After, seenAt: number): number | null {
  if (isDown(after.status)) return null;
  if (!isUp(after.status) || before.up_since !== null) return before.up_since;
  const { startedAt } = after;
  return startedAt !== null && startedAt <= seenAt ? Math.max(startedAt, 0) : seenAt;
}
