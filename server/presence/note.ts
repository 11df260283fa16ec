import type { Database } from "../../db/database.ts";
import { storeActive, storePresence, storePresenceError } from "../../db/stores/activity.ts";
import { podById } from "../../db/stores/pods.ts";
import { MINUTE } from "../clock.ts";
import { isSomebodyOn, type WhoIsOn } from "./parse.ts";
import type { Presence } from "./read.ts";
import { forgetFuture, unbroken } from "./since.ts";

/** Between two reads of who is on a pod. */
export const PRESENCE_EVERY_MS = 5 * MINUTE;
/** Longer apart than this, nobody knows who was on between two reads: two intervals, and a turn for each. */
export const PRESENCE_GAP_MS = 12 * MINUTE;

/** Stores who was on a pod when it was read at `at`. */
export function notePresence(db: Database, podId: string, presence: Presence, at: number): void {
  db.tx(() => {
    const row = podById(db, podId);
    if (row === undefined) return;
    if (presence.state === "unknown") {
      // A time ahead of the clock is left from a clock that was wrong.
      return storePresenceError(db, podId, presence.reason, Math.min(row.presence_failing_since ?? at, at));
    }
    storePresence(db, podId, at, unbroken(row.presence_at, row.presence_since, at, PRESENCE_GAP_MS));
    if (isSomebodyOn(presence)) storeActive(db, podId, whoWasOn(presence), at);
    else forgetFuture(db, row, at);
  });
}

function whoWasOn({ sessions, connections }: WhoIsOn): string {
  const names = [...new Set(sessions.map((session) => session.username))];
  if (names.length === 0) return connections === 1 ? "an SSH connection was open" : "SSH connections were open";
  const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return `${names.slice(0, 3).join(", ")}${more} ${names.length === 1 ? "was" : "were"} on it`;
}
