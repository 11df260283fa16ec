import type { PodRow } from "../../db/stores/pods.ts";
import { isoTime } from "../clock.ts";
import type { OrgSettings } from "../identity/org_settings.ts";
import { isUp } from "../pods/moves.ts";
import { type AutoStop, decideAutoStop, type StopFacts, type StopRow, type StopRule } from "./decide.ts";
import { endOfChain, type WindowRow, windowsOf } from "./windows.ts";

/** The next stop of a pod; milliseconds UTC. */
export interface PlannedStop {
  readonly at: number;
  readonly rule: StopRule | "schedule";
  readonly why: string;
}

/** How people read the rule of a stop that is to come. */
const WHY: Readonly<Record<StopRule, string>> = {
  idle_stop: "It is idle",
  max_run: "One run may last no longer",
  budget: "The month's budget is spent",
};

/**
 * When a pod stops next, if nothing changes: at the end of the sessions that are on and of those that follow without a
 * break, else by the rule that `autoStop` found; null when nothing stops it.
 */
export function plannedStop(
  now: number,
  pod: Pick<PodRow, "status">,
  sessions: readonly WindowRow[],
  autoStop: AutoStop,
  leadMs: number,
): PlannedStop | null {
  if (!isUp(pod.status)) return null;
  if (autoStop.kind === "stop") return { at: now, rule: autoStop.rule, why: autoStop.why };
  const end = endOfChain(windowsOf(sessions, leadMs), now);
  if (end !== null) return { at: Math.max(end, now), rule: "schedule", why: "Its session ends" };
  if (autoStop.stopsAt === null || autoStop.rule === null) return null;
  return { at: autoStop.stopsAt, rule: autoStop.rule, why: WHY[autoStop.rule] };
}

/** When and why a pod stops, and why it is still up, as officers read it; all null for a pod that is not up. */
export interface Standing {
  readonly stops_at: string | null;
  readonly stops_why: string | null;
  readonly stays_why: string | null;
}

/** The standing of one pod, without any read: for a list, the caller loads all sessions at once (`sessionsOfRuns`). */
export function standingOf(
  now: number,
  pod: StopRow,
  sessions: readonly WindowRow[],
  settings: OrgSettings,
  facts: StopFacts,
): Standing {
  if (!isUp(pod.status)) return { stops_at: null, stops_why: null, stays_why: null };
  const autoStop = decideAutoStop(now, pod, sessions, settings, facts);
  const stop = plannedStop(now, pod, sessions, autoStop, facts.leadMs);
  return {
    stops_at: stop === null ? null : isoTime(stop.at),
    stops_why: stop?.why ?? null,
    stays_why: autoStop.kind === "stay" ? autoStop.why : null,
  };
}
