import type { PodRow } from "../../db/stores/pods.ts";
import { HOUR, isoTime, MINUTE } from "../clock.ts";
import type { OrgSettings } from "../identity/org_settings.ts";
import { isUp } from "../pods/moves.ts";
import { type ActivityRow, idleness } from "./idle.ts";
import { idleMs, keptUntil, maxRunMs } from "./rules.ts";
import { openWindow, pastWindows, type Window, type WindowRow, windowsOf } from "./windows.ts";

/** The rules by which a pod is stopped without a session; the words are those of `SYSTEM_RULES`. */
export type StopRule = "idle_stop" | "max_run" | "budget";

export type AutoStop =
  | { readonly kind: "stop"; readonly rule: StopRule; readonly why: string }
  /** `stopsAt`: when it stops, and by which rule, if nothing changes; null when no rule is in force or it is not known. */
  | { readonly kind: "stay"; readonly why: string; readonly stopsAt: number | null; readonly rule: StopRule | null };

/** What the decision looks at beside the pod, its sessions and the org's settings. */
export interface StopFacts {
  /** The month's budget is spent. */
  readonly budgetReached: boolean;
  readonly hasRunningJob: boolean;
  /** A session counts from this long before its start. */
  readonly leadMs: number;
}

export type StopRow =
  & ActivityRow
  & Pick<
    PodRow,
    "status" | "as_of" | "auto_stop_after_minutes" | "max_run_hours" | "keep_until" | "run_over_budget"
  >;

/** A state this old is not what the pod is now. */
export const UNSEEN_MS = 10 * MINUTE;
/** Contract 8.3. */
export const LEAD_MS = 10 * MINUTE;

/** Is the pod running or on its way there, as far as RunPod said a moment ago? It costs money already while it starts. */
export function isSeenUp(now: number, pod: Pick<StopRow, "status" | "as_of">): boolean {
  return isUp(pod.status) && pod.as_of !== null && Math.abs(now - pod.as_of) <= UNSEEN_MS;
}

/**
 * Must the pod stop now, by the idle rule, the limit on hours of one run, or the budget? `sessions` are the unfinished
 * ones of the pod and those that ended in its present run. All times are milliseconds UTC. Whatever is not known keeps
 * the pod up, and `why` says what it is. `keep_until` puts off the first two rules, not the budget; a pod that is still
 * starting cannot be idle.
 */
export function decideAutoStop(
  now: number,
  pod: StopRow,
  sessions: readonly WindowRow[],
  settings: OrgSettings,
  facts: StopFacts,
): AutoStop {
  const unseen = unseenWhy(now, pod);
  if (unseen !== null) return { kind: "stay", why: unseen, stopsAt: null, rule: null };
  const windows = windowsOf(sessions, facts.leadMs);
  const isAtBudget = settings.stop_at_budget && facts.budgetReached;
  if (isAtBudget && pod.run_over_budget === 0 && !spendsOnPurpose(windows, now)) {
    return { kind: "stop", rule: "budget", why: "The month's budget is spent" };
  }
  const earliest = keptUntil(now, pod) ?? now;
  const byRun = maxRunStop(pod, windows, settings, earliest);
  const byIdle = idleStop(now, pod, windows, settings, facts, earliest);
  const stops = [byRun, byIdle.stop].filter((one) => one !== null).sort((a, b) => a.at - b.at);
  const next = stops[0];
  if (next !== undefined && next.at <= now) return { kind: "stop", rule: next.rule, why: next.why };
  return {
    kind: "stay",
    why: stayWhy(now, pod, windows, isAtBudget, byIdle.why, byRun),
    stopsAt: next?.at ?? null,
    rule: next?.rule ?? null,
  };
}

interface PlannedRule {
  readonly at: number;
  readonly rule: StopRule;
  readonly why: string;
}

function unseenWhy(now: number, pod: StopRow): string | null {
  if (isSeenUp(now, pod)) return null;
  if (!isUp(pod.status)) return `It is not running: ${pod.status ?? "its state is not known"}`;
  return pod.as_of === null
    ? "RunPod has not told its state"
    : `RunPod has not told its state since ${isoTime(pod.as_of)}`;
}

/** A session that is open and was planned to run over the budget. */
function spendsOnPurpose(windows: readonly Window[], now: number): boolean {
  return windows.some((one) => one.overBudget && one.isOpenEnded && one.from <= now && now < one.until);
}

function maxRunStop(
  pod: StopRow,
  windows: readonly Window[],
  settings: OrgSettings,
  earliest: number,
): PlannedRule | null {
  const longest = maxRunMs(pod, settings);
  if (longest === null || pod.up_since === null) return null;
  const at = pastWindows(windows, Math.max(pod.up_since + longest, earliest));
  return { at, rule: "max_run", why: `It has run for ${hours(longest)}, the longest that one run may last` };
}

function idleStop(
  now: number,
  pod: StopRow,
  windows: readonly Window[],
  settings: OrgSettings,
  facts: StopFacts,
  earliest: number,
): { readonly stop: PlannedRule | null; readonly why: string | null } {
  const after = idleMs(pod, settings);
  if (after === null) return { stop: null, why: null };
  if (pod.status !== "RUNNING") return { stop: null, why: `It is still on its way up: ${pod.status}` };
  const idle = idleness(now, pod, settings, facts.hasRunningJob);
  if (idle.kind !== "idle") return { stop: null, why: idle.why };
  // The time within a session's window is not idle, whether the session is over, open or to come.
  let since = idle.since;
  let at = Math.max(since + after, earliest);
  for (const { from, until, isOpenEnded, started } of windows) {
    if (from > at || until <= since || !isOpenEnded && !started) continue;
    since = until;
    at = Math.max(since + after, earliest);
  }
  return {
    stop: { at, rule: "idle_stop", why: `Nobody and nothing has used it for ${minutes(after)}` },
    why: idle.why,
  };
}

/** The most telling reason why a pod is still up. */
function stayWhy(
  now: number,
  pod: StopRow,
  windows: readonly Window[],
  isAtBudget: boolean,
  idleWhy: string | null,
  byRun: PlannedRule | null,
): string {
  const open = openWindow(windows, now);
  if (open !== undefined) return `A session keeps it up until ${isoTime(pastWindows(windows, open.until))}`;
  const kept = keptUntil(now, pod);
  if (kept !== null) return `An officer keeps it up until ${isoTime(kept)}`;
  if (isAtBudget) return "An officer lets this run go over the budget";
  if (idleWhy !== null) return idleWhy;
  return byRun === null ? "No rule stops it by itself" : "It may run on until its longest run is over";
}

const hours = (ms: number) => plural(ms / HOUR, "hour");
const minutes = (ms: number) => plural(ms / MINUTE, "minute");
const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;
