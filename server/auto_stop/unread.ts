import type { Database } from "../../db/database.ts";
import { HOUR, isoTime } from "../clock.ts";
import { raise } from "../events/raise.ts";
import { isSeenUp } from "./decide.ts";
import type { LoadedPod } from "./load.ts";
import { idleMs } from "./rules.ts";

/** When who is on a pod could not be read for so long, its idle stop may never come. */
export const UNREAD_MS = HOUR;

/**
 * Raises `pod.failed`, once for each run, for a pod that is stopped when it is idle and answers, but does not let the
 * server read who is on it. A pod that does not answer is told of as unreachable.
 */
export function tellUnread(db: Database, { pod, settings }: LoadedPod, now: number): void {
  if (pod.presence_error === null || pod.presence_failing_since === null || pod.up_since === null) return;
  const since = Math.max(pod.presence_failing_since, pod.up_since);
  if (now - since < UNREAD_MS || pod.status !== "RUNNING" || !isSeenUp(now, pod)) return;
  const isReachable = pod.reachable_start === pod.start_key && pod.unreachable_reason === null;
  if (!isReachable || idleMs(pod, settings) === null) return;
  raise(db, {
    orgId: pod.org_id,
    kind: "pod.failed",
    podId: pod.id,
    runpodId: pod.runpod_id,
    subject: pod.name,
    actor: null,
    details: {
      error: `Who is on the pod cannot be read: ${pod.presence_error}`,
      since: isoTime(since),
      why: "The pod answers, but who is on it could not be read for an hour, so it is not stopped when it is idle. " +
        "Somebody on it may be hindering that: look at the pod, and stop it if nobody needs it",
    },
    onceKey: `unread:${pod.id}:${pod.up_since}`,
  }, now);
}
