import type { RotationRow } from "../../db/stores/key_rotations.ts";
import { listOf } from "../../db/stores/pod_keys.ts";
import type { LivePod } from "../../db/stores/pods.ts";
import { isDown } from "../pods/moves.ts";

/** How far a pod is with a new key of one kind. */
export type Standing =
  /** Env and files agree on the new key, or there is nothing left to agree. */
  | "done"
  /** RunPod did not show the pod, or not its env. */
  | "not_shown"
  /** Its env has another key, which can be changed only while it is stopped. */
  | "stop_once"
  /** It is stopped; its env is changed by itself. */
  | "env_next"
  /** It is in a state in which its env cannot be changed and nobody can log in. */
  | "odd_state"
  /** It runs; its files lack the new key, and are brought to it when the server can log in. */
  | "files_next"
  /** It runs, its files cannot be changed, and they lack the new key: its next start has it. */
  | "restart_once";

/**
 * Decides about one pod and one rotation from what is stored. A pod that RunPod no longer has does not count; one that
 * RunPod cannot be asked about does.
 */
export function standingOf(
  pod: LivePod,
  rotation: Pick<RotationRow, "kind" | "new_fingerprint" | "old_fingerprint">,
): Standing {
  if (pod.status === "GONE" || pod.status === "TERMINATED") return "done";
  const { kind, new_fingerprint: wanted } = rotation;
  const env = pod.env_of === pod.runpod_id ? pod[`env_${kind}`] : null;
  if (pod.missing_count > 0 || pod.status === null || env === null) return "not_shown";
  if (env !== wanted) {
    if (pod.status === "EXITED") return "env_next";
    return isDown(pod.status) ? "odd_state" : "stop_once";
  }
  if (isDown(pod.status)) return "done";
  const isThisStart = pod.start_key !== null && pod.keys_start === pod.start_key;
  const files = isThisStart ? listOf(pod[`files_${kind}`]) : null;
  const isIn = files?.includes(wanted) === true || isThisStart && kind === "backend" && pod.login_key === wanted;
  if (isIn) return "done";
  const isFixed = pod.setup_start === pod.start_key && pod.setup_state === "refused" && files !== null;
  if (!isFixed) return "files_next";
  // An image that keeps a key elsewhere than in these files: what the start began with counts.
  const isElsewhere = !files.includes(rotation.old_fingerprint) && pod[`start_env_${kind}`] === wanted;
  return isElsewhere ? "done" : "restart_once";
}
