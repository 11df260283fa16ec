import { HOUR, MINUTE, SECOND } from "../clock.ts";

/** The waits after the first failures; every later one is an hour. Together they last about a day. */
const FIRST_WAITS = [10 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE];
const LATER_WAIT = HOUR;
const LATER_TRIES = 23;

/** A delivery that failed this often is given up. Counted in tries, so that a clock that jumps does not end it early. */
export const MAX_TRIES = 1 + FIRST_WAITS.length + LATER_TRIES;

/**
 * A delivery that failed this often, after some thirteen minutes, lets later ones of its webhook pass: one message that a
 * receiver cannot take must not hold up all others for a day.
 */
export const PASSED_AFTER_TRIES = FIRST_WAITS.length;

/** No receiver may put a delivery off longer than this at a time. */
export const MAX_WAIT = 2 * HOUR;

/**
 * How long to wait after so many failed tries, in ms: one tenth more or less by chance, so that receivers do not get
 * everything at once, and never less than the receiver asked for. `random` gives numbers from 0 to 1.
 */
export function waitAfter(tries: number, askedMs: number | null, random: () => number): number {
  const wait = (FIRST_WAITS[tries - 1] ?? LATER_WAIT) * (0.9 + 0.2 * random());
  return Math.round(Math.min(Math.max(wait, askedMs ?? 0), MAX_WAIT));
}

/** Is it time? A time further off than any wait was left behind by a clock that was wrong. */
export function isDue(nextAt: number, now: number): boolean {
  return nextAt <= now || nextAt > now + MAX_WAIT;
}
