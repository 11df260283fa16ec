/** What the tests of stops by themselves share: a pod row and a session, all ordinary, and turns of the jobs. */
import { HOUR, MINUTE } from "../../server/clock.ts";
import type { OrgSettings } from "../../server/identity/org_settings.ts";
import { settingsOf } from "../../server/identity/org_settings.ts";
import type { StopFacts, StopRow } from "../../server/auto_stop/decide.ts";
import type { WindowRow } from "../../server/auto_stop/windows.ts";
import type { PodRow } from "../../db/stores/pods.ts";
import { type ClockedWorld, ORG } from "../pods/support.ts";

export const NOW = Date.UTC(2026, 10, 30, 12);

export const minutesAgo = (minutes: number) => NOW - minutes * MINUTE;
export const hoursAgo = (hours: number) => NOW - hours * HOUR;

/** Up for three hours, watched without a gap for two, idle for two; no rule of its own. */
export function stopRow(change: Partial<StopRow> = {}): StopRow {
  return {
    status: "RUNNING",
    as_of: minutesAgo(1),
    up_since: hoursAgo(3),
    auto_stop_after_minutes: null,
    max_run_hours: null,
    keep_until: null,
    run_over_budget: 0,
    active_at: null,
    active_why: null,
    gpu_percent: 0,
    cpu_percent: 1,
    use_at: minutesAgo(1),
    use_since: hoursAgo(2),
    presence_at: minutesAgo(4),
    presence_since: hoursAgo(2),
    presence_error: null,
    ...change,
  };
}

/** An unfinished session, by default the one that is on from an hour ago for two hours. */
export function windowRow(change: Partial<WindowRow> = {}): WindowRow {
  return {
    start_at: hoursAgo(1),
    stop_at: hoursAgo(-1),
    started: 1,
    finished: 0,
    finished_at: null,
    over_budget: 0,
    ...change,
  };
}

export function settings(change: Partial<OrgSettings> = {}): OrgSettings {
  return { ...settingsOf({ settings: "{}" }), ...change };
}

export const FACTS: StopFacts = { budgetReached: false, hasRunningJob: false, leadMs: 10 * MINUTE };

/** The one pod of a world as it is stored. */
export const storedPod = (world: ClockedWorld): PodRow => world.db.get<PodRow>("select * from compute_pods")!;

/** A list of RunPod that is stored now. */
export async function listNow(world: ClockedWorld): Promise<void> {
  world.clock.advance(1_500);
  const answer = await world.call("GET", `${ORG}/pods`, { as: "officer" });
  if (answer.status !== 200) throw new Error(answer.text);
}

/** Lets time pass while RunPod's list is stored every few minutes, as a running server does. */
export async function pass(world: ClockedWorld, ms: number, stepMs = 4 * MINUTE): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    world.clock.advance(Math.min(left, stepMs));
    await listNow(world);
  }
}

export interface EventFacts {
  readonly kind: string;
  readonly actor: string | null;
  readonly details: Record<string, unknown>;
}

export function eventsOf(world: ClockedWorld, kind: string): EventFacts[] {
  return world.db.all<{ kind: string; actor: string | null; details: string }>(
    "select kind, actor, details from events where kind = ? order by id",
    kind,
  ).map((row) => ({ ...row, details: JSON.parse(row.details) }));
}
