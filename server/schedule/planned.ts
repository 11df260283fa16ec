import type { Database } from "../../db/database.ts";
import { nextSessions, sessionsOfBegunPods } from "../../db/stores/sessions.ts";
import { isoTime } from "../clock.ts";
import { SCHEDULE_TIMINGS } from "./decide.ts";

/** What the sessions of a pod have in store for it, as members see it. */
export interface Planned {
  readonly next_session: { readonly title: string | null; readonly start_at: string; readonly stop_at: string } | null;
  /** When the sessions that have begun let it stop; null when none has. */
  readonly stops_at: string | null;
}

type Window = { readonly start_at: number; readonly stop_at: number; readonly started: number };

/**
 * When the sessions of one pod let it stop, in milliseconds UTC: a session that begins within the lead of the schedule
 * after an end keeps it up (contract section 8.4). `sessions` are the unfinished ones, by start; null when none has begun.
 */
export function endOfChain(sessions: readonly Window[], now: number): number | null {
  let end: number | null = null;
  for (const { start_at, stop_at, started } of sessions) {
    const hasBegun = started === 1 || start_at <= now && stop_at > now;
    const follows = end !== null && start_at <= end + SCHEDULE_TIMINGS.leadMs;
    if (hasBegun || follows) end = Math.max(end ?? 0, stop_at);
  }
  return end;
}

/** The plans of all pods of an org, by our pod id, by two reads. */
export function plannedOf(db: Database, orgId: number, now: number): (podId: string) => Planned {
  const next = nextSessions(db, orgId, now);
  const begun = Map.groupBy(sessionsOfBegunPods(db, orgId, now), (session) => session.pod_id);
  return (podId) => {
    const following = next.get(podId);
    const end = endOfChain(begun.get(podId) ?? [], now);
    return {
      next_session: following === undefined ? null : {
        title: following.title,
        start_at: isoTime(following.start_at),
        stop_at: isoTime(following.stop_at),
      },
      stops_at: end === null ? null : isoTime(end),
    };
  };
}
