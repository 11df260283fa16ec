import type { LivePod } from "../../db/stores/pods.ts";
import { AppError } from "../errors.ts";
import { describeError } from "../log.ts";
import type { PodDeps } from "../pods/deps.ts";
import { targetOf } from "../pods/reach.ts";
import { parseWalk, type WhoIsOn } from "./parse.ts";
import { NO_LOGIN_PROGRAM, WALK, WALK_BYTES, WALK_MS } from "./script.ts";

/** Who is on a pod, or why it is not known, in one sentence without a full stop (contract 5.9). */
export type Presence =
  | { readonly state: "known" } & WhoIsOn
  | { readonly state: "unknown"; readonly reason: string };

const unknown = (reason: string): Presence => ({ state: "unknown", reason });
const COMMAND_FAILED = "The command on the pod failed";

/**
 * Reads who is on a pod over the backend's connection, within `deadlineMs` (5 s by default). It never rejects: whatever
 * hinders it is the reason.
 */
export async function readPresence(deps: PodDeps, pod: LivePod, deadlineMs = WALK_MS): Promise<Presence> {
  if (pod.status !== "RUNNING") return unknown("The pod is not running");
  if (pod.host === null || pod.port === null) return unknown("The pod has no SSH address yet");
  try {
    const result = await deps.ssh.exec(targetOf(deps, pod), "exec /bin/sh -s", {
      stdin: WALK,
      deadlineMs,
      maxOutputBytes: WALK_BYTES,
    });
    if (result.exitCode === NO_LOGIN_PROGRAM) {
      return unknown("The pod image has no godfather-login, so its sessions cannot be read");
    }
    if (result.exitCode !== 0 || result.truncated) return unknown(COMMAND_FAILED);
    const who = parseWalk(new TextDecoder().decode(result.stdout));
    return who === null ? unknown(COMMAND_FAILED) : { state: "known", ...who };
  } catch (error) {
    if (error instanceof AppError) return unknown(error.message);
    deps.log.error("Who is on a pod could not be read", { pod: pod.id, error: describeError(error) });
    return unknown("The server could not read the pod's sessions");
  }
}
