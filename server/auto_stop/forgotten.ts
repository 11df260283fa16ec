import type { Database } from "../../db/database.ts";
import { DAY, HOUR, isoTime } from "../clock.ts";
import { raise } from "../events/raise.ts";
import { isSeenUp } from "./decide.ts";
import type { LoadedPod } from "./load.ts";
import { timeOutside, windowsOf } from "./windows.ts";

/** A pod that ran this long outside of every session's window may have been forgotten. */
export const FORGOTTEN_MS = DAY;

/** Raises `pod.forgotten`, once for each run of a pod. */
export function tellForgotten(db: Database, { pod, sessions, facts }: LoadedPod, now: number): void {
  if (pod.up_since === null || now - pod.up_since < FORGOTTEN_MS || !isSeenUp(now, pod)) return;
  const outside = timeOutside(windowsOf(sessions, facts.leadMs), pod.up_since, now);
  if (outside < FORGOTTEN_MS) return;
  raise(db, {
    orgId: pod.org_id,
    kind: "pod.forgotten",
    podId: pod.id,
    runpodId: pod.runpod_id,
    subject: pod.name,
    actor: null,
    details: {
      up_since: isoTime(pod.up_since),
      hours_outside_sessions: Math.floor(outside / HOUR),
      cost_per_hour: pod.cost_per_hour,
      why: "The pod has run for 24 hours outside every session",
    },
    onceKey: `forgotten:${pod.id}:${pod.up_since}`,
  }, now);
}
