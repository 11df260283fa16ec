import type { PodRow } from "../../db/stores/pods.ts";
import { DAY, HOUR, MINUTE } from "../clock.ts";

/** A stop that does not succeed is given up after this. */
export const GIVE_UP_MS = DAY;
const FIRST_PAUSE_MS = MINUTE;
const LONGEST_PAUSE_MS = HOUR;

type FailingRow = Pick<PodRow, "auto_stop_failing_since" | "auto_stop_next_at">;

/** May the stop be tried now? Not during the pause after a failure, and not once it was given up. */
export function mayTry(
  now: number,
  { auto_stop_failing_since: since, auto_stop_next_at: nextAt }: FailingRow,
): boolean {
  // A time ahead of the clock is left from a clock that was wrong.
  return since === null || nextAt !== null && (nextAt <= now || since > now);
}

/** What to remember of one more failure: a pause of one minute, doubled each time up to an hour; null gives it up. */
export function afterFailure(now: number, row: FailingRow): { readonly since: number; readonly nextAt: number | null } {
  const since = Math.min(row.auto_stop_failing_since ?? now, now);
  const failedFor = now - since;
  if (failedFor >= GIVE_UP_MS) return { since, nextAt: null };
  // The pauses so far add up to the time it has failed, so this one is that and the first one more.
  return { since, nextAt: now + Math.min(failedFor + FIRST_PAUSE_MS, LONGEST_PAUSE_MS) };
}
