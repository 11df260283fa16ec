import type { SessionRow } from "../../db/stores/sessions.ts";

/** What of a session says when its pod must run. */
export type WindowRow = Pick<
  SessionRow,
  "start_at" | "stop_at" | "started" | "finished" | "finished_at" | "over_budget"
>;

/** From when (the lead included) until when a session keeps its pod up; milliseconds UTC. */
export interface Window {
  readonly from: number;
  readonly until: number;
  /** It still has to run, or runs. */
  readonly isOpenEnded: boolean;
  readonly started: boolean;
  readonly overBudget: boolean;
}

/** The windows of a pod's sessions, by their beginning. One that ended early ends there. */
export function windowsOf(sessions: readonly WindowRow[], leadMs: number): Window[] {
  return sessions.map((session) => ({
    from: session.start_at - leadMs,
    until: session.finished === 1 ? Math.min(session.stop_at, session.finished_at ?? session.stop_at) : session.stop_at,
    isOpenEnded: session.finished === 0,
    started: session.started === 1,
    overBudget: session.over_budget === 1,
  })).sort((a, b) => a.from - b.from);
}

/** The unfinished window that `at` lies in. */
export function openWindow(windows: readonly Window[], at: number): Window | undefined {
  return windows.find((one) => one.isOpenEnded && one.from <= at && at < one.until);
}

/** `at`, or the end of the unfinished windows that it lies in and that follow without a break. */
export function pastWindows(windows: readonly Window[], at: number): number {
  for (let inside = openWindow(windows, at); inside !== undefined; inside = openWindow(windows, at)) at = inside.until;
  return at;
}

/**
 * When the sessions let the pod stop: the end of the windows that were started or are open, and of those that begin, lead
 * included, before that end. Null when none of them is on. What ended before `now` is the schedule's to stop at once.
 */
export function endOfChain(windows: readonly Window[], now: number): number | null {
  const unfinished = windows.filter((one) => one.isOpenEnded);
  const begun = unfinished.filter((one) => one.started || one.from <= now && now < one.until);
  if (begun.length === 0) return null;
  let end = Math.max(...begun.map((one) => one.until));
  for (const { from, until } of unfinished) if (from <= end) end = Math.max(end, until);
  return end;
}

/** How much of the time from `from` to `to` lies outside of every window, finished ones included. */
export function timeOutside(windows: readonly Window[], from: number, to: number): number {
  let outside = 0;
  let at = from;
  for (const window of windows) {
    if (window.from >= to) break;
    outside += Math.max(0, window.from - at);
    at = Math.max(at, window.until);
  }
  return outside + Math.max(0, to - at);
}
