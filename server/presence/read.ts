import type { LivePod } from "../../db/stores/pods.ts";
import { AppError } from "../errors.ts";
import { describeError } from "../log.ts";
import type { PodDeps } from "../pods/deps.ts";
import { targetOf } from "../pods/reach.ts";
import { parseWalk, type WhoIsOn } from "./parse.ts";
import { MOST_PROCESSES, NO_LOGIN_PROGRAM, TOO_MANY_PROCESSES, WALK, WALK_BYTES, WALK_MS } from "./script.ts";

/** Who is on a pod, or why it is not known, in one sentence without a full stop (contract 5.9). */
export type Presence =
  | { readonly state: "known" } & WhoIsOn
  | {
    readonly state: "unknown";
    readonly reason: string;
    /** The pod let us in, so that something else may work there. */
    readonly isReached: boolean;
  };

const unknown = (reason: string, isReached: boolean): Presence => ({ state: "unknown", reason, isReached });
const COMMAND_FAILED = "The command on the pod failed";

/**
 * Reads who is on a pod over the backend's connection, within `deadlineMs` (5 s by default). It never rejects: whatever
 * hinders it is the reason.
 */
export async function readPresence(deps: PodDeps, pod: LivePod, deadlineMs = WALK_MS): Promise<Presence> {
  if (pod.status !== "RUNNING") return unknown("The pod is not running", false);
  if (pod.host === null || pod.port === null) return unknown("The pod has no SSH address yet", false);
  try {
    const result = await deps.ssh.exec(targetOf(deps, pod), "exec /bin/sh -s", {
      stdin: WALK,
      deadlineMs,
      maxOutputBytes: WALK_BYTES,
    });
    if (result.exitCode === NO_LOGIN_PROGRAM) {
      return unknown("The pod image has no godfather-login, so its sessions cannot be read", true);
    }
    if (result.exitCode === TOO_MANY_PROCESSES) {
      return unknown(`The pod has more than ${MOST_PROCESSES} processes of root, too many to read its sessions`, true);
    }
    if (result.exitCode !== 0 || result.truncated) return unknown(COMMAND_FAILED, true);
    const who = parseWalk(new TextDecoder().decode(result.stdout));
    return who === null ? unknown(COMMAND_FAILED, true) : { state: "known", ...who };
  } catch (error) {
    if (error instanceof AppError) return unknown(error.message, error.code === "pod_command_failed");
    deps.log.error("Who is on a pod could not be read", { pod: pod.id, error: describeError(error) });
    return unknown("The server could not read the pod's sessions", false);
  }
}
