import type { Org } from "../../db/stores/organizations.ts";
import { deleteSession, openSessions, type SessionRow, updateSession } from "../../db/stores/sessions.ts";
import { AppError } from "../errors.ts";
import type { Asker } from "../identity/callers.ts";
import { findPod } from "../pods/list.ts";
import { auditSessions, mayRunFor, type SessionDeps, sessionOf, timesOf } from "./sessions.ts";

/**
 * Takes a session away (contract section 8.5), or with `series` all unfinished ones of its series from this one on: one
 * for which the pod was started ends now, and the next turn of the schedule stops the pod; any other is removed. All or
 * nothing, under one audit row. Returns their numbers, by start. Throws `session_not_found`, and `conflict` where there is
 * no series, or nothing left of it.
 */
export async function removeSessions(
  deps: SessionDeps,
  org: Org,
  asker: Asker,
  runpodId: string,
  id: number,
  options: { readonly series: boolean },
): Promise<number[]> {
  const { db, clock } = deps;
  return await deps.actions.exclusive(findPod(deps, org, runpodId).id, () =>
    Promise.resolve(db.tx(() => {
      const pod = findPod(deps, org, runpodId);
      const session = sessionOf(db, pod, id);
      const sessions = options.series ? restOfSeries(openSessions(db, pod.id), session) : [session];
      const ending = sessions.filter((one) => one.finished === 0 && mayRunFor(db, pod, one));
      for (const one of sessions) {
        if (!ending.includes(one)) deleteSession(db, one.id);
        else updateSession(db, one.id, { started: 1, stop_at: Math.min(one.stop_at, clock.now()) });
      }
      auditSessions(deps, org, asker, pod, 200, detailsOf(sessions, ending, options.series));
      return sessions.map((one) => one.id);
    })));
}

/** The unfinished sessions of a series from one of them on, by start. */
function restOfSeries(open: readonly SessionRow[], from: SessionRow): SessionRow[] {
  if (from.series_id === null) {
    throw new AppError("conflict", `The session ${from.id} is not one of a series; remove it by itself`);
  }
  const rest = open.filter((one) => one.series_id === from.series_id && one.start_at >= from.start_at);
  if (rest.length > 0) return rest;
  throw new AppError("conflict", `From the session ${from.id} on the series has no session that is not over`);
}

function detailsOf(sessions: readonly SessionRow[], ending: readonly SessionRow[], isSeries: boolean) {
  return {
    sessions: sessions.map(timesOf),
    title: sessions[0]?.title ?? null,
    deleted: ending.length > 0 && !isSeries ? "ends now" : "removed",
    ...(isSeries ? { series_id: sessions[0]?.series_id ?? null, end_now: ending.map((one) => one.id) } : {}),
  };
}
