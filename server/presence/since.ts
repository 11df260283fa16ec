import type { Database } from "../../db/database.ts";
import { storeActive } from "../../db/stores/activity.ts";
import type { PodRow } from "../../db/stores/pods.ts";

/**
 * Since when reports come without a gap, the one at `at` included: `since` goes on when the last one is at most `gapMs`
 * old. A time ahead of the clock says nothing.
 */
export function unbroken(last: number | null, since: number | null, at: number, gapMs: number): number {
  const goesOn = last !== null && since !== null && last <= at && at - last <= gapMs && since <= at;
  return goesOn ? since : at;
}

/** A last use ahead of the clock was left by a clock that was wrong: it would count as use until then. */
export function forgetFuture(db: Database, row: PodRow, at: number): void {
  if (row.active_at !== null && row.active_at > at) storeActive(db, row.id, row.active_why ?? "it was in use", at);
}
