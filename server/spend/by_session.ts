import type { CutStretch, RanSession } from "../../db/stores/spend_sums.ts";
import { HOUR } from "../clock.ts";

/** What ran in a session: USD and hours. `unsure` as in the report. */
export interface SessionSum {
  readonly session: RanSession;
  readonly running: number;
  readonly runningHours: number;
  readonly unsure: number;
}

/**
 * Shares the runs of pods out among their sessions, by the times in which the sessions really ran. Where two sessions of
 * a pod overlap, the earlier one has the time. Both lists are in order of pod and time; a session that goes on ends at
 * `end`. One pass over each list.
 */
export function bySession(
  sessions: readonly RanSession[],
  stretches: readonly CutStretch[],
  end: number,
): SessionSum[] {
  const runs = Map.groupBy(stretches, (stretch) => stretch.podId);
  return [...Map.groupBy(sessions, (session) => session.podId)].flatMap(([podId, ofPod]) =>
    ofOnePod(ofPod, runs.get(podId) ?? [], end)
  );
}

function ofOnePod(sessions: readonly RanSession[], stretches: readonly CutStretch[], end: number): SessionSum[] {
  let taken = 0;
  let first = 0;
  return sessions.map((session) => {
    const from = Math.max(session.startedAt, taken);
    const until = session.finishedAt ?? end;
    taken = Math.max(taken, until);
    let [running, hours, unsure] = [0, 0, 0];
    // Stretches of a pod do not overlap, so those that ended before this session are of no use to the next either.
    while (first < stretches.length && stretches[first]!.b <= from) first++;
    for (let index = first; index < stretches.length && stretches[index]!.a < until; index++) {
      const { kind, rate, a, b } = stretches[index]!;
      const part = Math.max(0, Math.min(b, until) - Math.max(a, from)) / HOUR;
      if (kind === "unseen") unsure += part * rate;
      else {
        running += part * rate;
        hours += part;
      }
    }
    return { session, running, runningHours: hours, unsure };
  });
}
