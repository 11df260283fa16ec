import assert from "node:assert/strict";
import { type AutoStop, decideAutoStop, type StopFacts, type StopRow } from "../../server/auto_stop/decide.ts";
import type { WindowRow } from "../../server/auto_stop/windows.ts";
import { DAY, HOUR, isoTime, MINUTE } from "../../server/clock.ts";
import type { OrgSettings } from "../../server/identity/org_settings.ts";
import { FACTS, hoursAgo, minutesAgo, NOW, settings, stopRow, windowRow } from "./support.ts";

interface Case {
  readonly pod?: Partial<StopRow>;
  readonly sessions?: readonly Partial<WindowRow>[];
  readonly settings?: Partial<OrgSettings>;
  readonly facts?: Partial<StopFacts>;
  readonly is: "idle_stop" | "max_run" | "budget" | "stay";
  readonly why?: RegExp;
  /** Minutes from now; null: not known or never. Only for what stays. */
  readonly stopsIn?: number | null;
  readonly by?: string;
}

const IDLE = { auto_stop_after_minutes: 30 };
const NO_RULE = { max_run_hours: null };

const CASES: Readonly<Record<string, Case>> = {
  "stays without any rule": { settings: NO_RULE, is: "stay", why: /^No rule stops it/, stopsIn: null },
  "stays below the org's limit of 24 hours": { is: "stay", stopsIn: 21 * 60, by: "max_run" },

  // Idle.
  "stops when it was idle for the whole time": { pod: IDLE, is: "idle_stop", why: /used it for 30 minutes$/ },
  "stops by the org's rule": { settings: IDLE, is: "idle_stop" },
  "stays when its own rule is off": { settings: IDLE, pod: { auto_stop_after_minutes: 0 }, is: "stay" },
  "stops at the very end of the idle time": { pod: { ...IDLE, active_at: minutesAgo(30) }, is: "idle_stop" },
  "stays until the idle time is over": {
    pod: { ...IDLE, active_at: minutesAgo(29), active_why: "bob was on it" },
    is: "stay",
    why: /11:31:00.*last in use \(bob was on it\)/,
    stopsIn: 1,
    by: "idle_stop",
  },
  "stays when it is up for less than the idle time": {
    pod: { ...IDLE, up_since: minutesAgo(20) },
    is: "stay",
    stopsIn: 10,
    by: "idle_stop",
  },
  "stays while its GPU is at the threshold": { pod: { ...IDLE, gpu_percent: 5 }, is: "stay", why: /GPU was at 5 %/ },
  "stays while its CPU is above the threshold": {
    pod: { ...IDLE, cpu_percent: 10.5 },
    is: "stay",
    why: /CPU was at 10.5 %/,
  },
  "stops with use below other thresholds": {
    pod: { ...IDLE, gpu_percent: 40, cpu_percent: 40 },
    settings: { idle_gpu_percent: 50, idle_cpu_percent: 50 },
    is: "idle_stop",
  },
  "stops a CPU pod without a figure of GPUs": { pod: { ...IDLE, gpu_percent: null }, is: "idle_stop" },
  "stays while a job runs": { pod: IDLE, facts: { hasRunningJob: true }, is: "stay", why: /A job runs/ },
  "stays when nobody ever read who is on": {
    pod: { ...IDLE, presence_at: null, presence_since: null },
    is: "stay",
    why: /Who is on it was not read yet/,
    stopsIn: 21 * 60,
    by: "max_run",
  },
  "stays when the last read of who is on is too old": {
    pod: { ...IDLE, presence_at: minutesAgo(13) },
    is: "stay",
    why: /Who is on it was not read since/,
  },
  "stays when who is on cannot be read": {
    pod: { ...IDLE, presence_error: "Could not connect to the pod" },
    is: "stay",
    why: /cannot be read: Could not connect to the pod/,
  },
  "stays when who was on was not known at the beginning": {
    pod: { ...IDLE, presence_since: minutesAgo(25) },
    is: "stay",
    why: /since when it is known who is on it/,
    stopsIn: 5,
  },
  "stays when RunPod never reported use": {
    pod: { ...IDLE, use_at: null, use_since: null },
    is: "stay",
    why: /RunPod has not reported how busy/,
  },
  "stays when RunPod's report of use is old": {
    pod: { ...IDLE, use_at: minutesAgo(11) },
    is: "stay",
    why: /RunPod has not reported since/,
  },
  "stays when use was not known at the beginning": {
    pod: { ...IDLE, use_since: minutesAgo(10) },
    is: "stay",
    stopsIn: 20,
  },
  "stays on reports from ahead of the clock": { pod: { ...IDLE, presence_at: NOW + HOUR }, is: "stay" },

  // Sessions and the idle rule.
  "stays in a session": {
    pod: IDLE,
    sessions: [{}],
    is: "stay",
    why: /A session keeps it up until 2026-11-30T13:00/,
    stopsIn: 90,
    by: "idle_stop",
  },
  "stays in the lead of a session": {
    pod: IDLE,
    sessions: [{ start_at: NOW + 10 * MINUTE, stop_at: NOW + HOUR, started: 0 }],
    is: "stay",
    why: /A session keeps it up/,
  },
  "stops before the lead of a session": {
    pod: IDLE,
    sessions: [{ start_at: NOW + 10 * MINUTE + 1, stop_at: NOW + HOUR, started: 0 }],
    is: "idle_stop",
  },
  "stays when a session ended within the idle time": {
    pod: IDLE,
    sessions: [{ stop_at: minutesAgo(10), finished: 1, finished_at: minutesAgo(8) }],
    is: "stay",
    stopsIn: 20,
  },
  "stops when a session was never started within the idle time": {
    pod: IDLE,
    sessions: [{ stop_at: minutesAgo(10), started: 0, finished: 1, finished_at: minutesAgo(8) }],
    is: "idle_stop",
  },

  // The limit on hours of one run.
  "stops after the org's limit": {
    pod: { up_since: hoursAgo(24) },
    is: "max_run",
    why: /run for 24 hours, the longest/,
  },
  "stops after its own limit": { pod: { max_run_hours: 3 }, is: "max_run" },
  "stays just before the limit": { pod: { max_run_hours: 3, up_since: hoursAgo(3) + 1 }, is: "stay" },
  "stays for ever with its own limit off": {
    pod: { max_run_hours: 0, up_since: hoursAgo(999) },
    is: "stay",
    stopsIn: null,
  },
  "stays past the limit until the session ends": {
    pod: { max_run_hours: 2 },
    sessions: [{}],
    is: "stay",
    why: /A session keeps it up until/,
    stopsIn: 60,
    by: "max_run",
  },
  "stays past the limit through sessions that follow at once": {
    pod: { max_run_hours: 2 },
    sessions: [{}, { start_at: NOW + HOUR + 9 * MINUTE, stop_at: NOW + 3 * HOUR, started: 0 }],
    is: "stay",
    stopsIn: 180,
  },
  "stops past the limit when its session is over": {
    pod: { max_run_hours: 2 },
    sessions: [{ stop_at: minutesAgo(1) }],
    is: "max_run",
  },

  "stops past the limit while it is still starting": { pod: { max_run_hours: 3, status: "STARTING" }, is: "max_run" },
  "stops past the limit while RunPod looks for a machine": {
    pod: { max_run_hours: 3, status: "PROVISIONING" },
    is: "max_run",
  },
  "is not idle while it is still starting": {
    pod: { ...IDLE, status: "STARTING" },
    is: "stay",
    why: /still on its way up: STARTING/,
    stopsIn: 21 * 60,
    by: "max_run",
  },

  // What an officer puts off.
  "stays idle while an officer keeps it": {
    pod: { ...IDLE, keep_until: NOW + 40 * MINUTE },
    is: "stay",
    why: /An officer keeps it up until 2026-11-30T12:40/,
    stopsIn: 40,
    by: "idle_stop",
  },
  "stays past the limit while an officer keeps it": {
    pod: { max_run_hours: 1, keep_until: NOW + MINUTE },
    is: "stay",
    stopsIn: 1,
    by: "max_run",
  },
  "stops when the time an officer kept it is over": { pod: { ...IDLE, keep_until: NOW }, is: "idle_stop" },

  "stays when an officer keeps it for a whole day": { pod: { ...IDLE, keep_until: NOW + DAY }, is: "stay" },
  "stops when it is kept for more than a day, which a wrong clock left behind": {
    pod: { ...IDLE, keep_until: NOW + DAY + 1 },
    is: "idle_stop",
  },
  "stays for another reason than a wrong clock's keep": {
    pod: { keep_until: NOW + 6 * DAY },
    is: "stay",
    why: /until its longest run is over/,
    stopsIn: 21 * 60,
  },

  // The budget.
  "stops when the budget is spent and the org wants that": {
    settings: { stop_at_budget: true },
    facts: { budgetReached: true },
    is: "budget",
    why: /budget is spent/,
  },
  "stays when the budget is spent and the org does not want that": { facts: { budgetReached: true }, is: "stay" },
  "stays while the budget is not spent": { settings: { stop_at_budget: true }, is: "stay" },
  "stops at the budget in a session": {
    settings: { stop_at_budget: true },
    facts: { budgetReached: true },
    sessions: [{}],
    is: "budget",
  },
  "stays at the budget in a session that may go over it": {
    settings: { stop_at_budget: true },
    facts: { budgetReached: true },
    sessions: [{ over_budget: 1 }],
    is: "stay",
  },
  "stops at the budget before a session that may go over it": {
    settings: { stop_at_budget: true },
    facts: { budgetReached: true },
    sessions: [{ over_budget: 1, start_at: NOW + HOUR, stop_at: NOW + 2 * HOUR, started: 0 }],
    is: "budget",
  },
  "stops at the budget while it is still starting": {
    settings: { stop_at_budget: true },
    facts: { budgetReached: true },
    pod: { status: "STARTING" },
    is: "budget",
  },
  "stays at the budget in a run that may go over it": {
    settings: { stop_at_budget: true },
    facts: { budgetReached: true },
    pod: { ...IDLE, run_over_budget: 1, active_at: minutesAgo(1) },
    is: "stay",
    why: /^An officer lets this run go over the budget$/,
    stopsIn: 29,
    by: "idle_stop",
  },
  "stops for another reason in a run that may go over the budget": {
    settings: { stop_at_budget: true },
    facts: { budgetReached: true },
    pod: { run_over_budget: 1, max_run_hours: 3 },
    is: "max_run",
  },
  "says nothing of the budget before it is spent": {
    settings: { stop_at_budget: true },
    pod: { run_over_budget: 1 },
    is: "stay",
    why: /until its longest run is over/,
  },
  "stops at the budget whatever an officer keeps": {
    settings: { stop_at_budget: true },
    facts: { budgetReached: true },
    pod: { keep_until: NOW + HOUR },
    is: "budget",
  },

  // What the server does not see.
  "stays when RunPod was not heard for more than ten minutes": {
    pod: { ...IDLE, max_run_hours: 1, as_of: minutesAgo(11) },
    settings: { stop_at_budget: true },
    facts: { budgetReached: true },
    is: "stay",
    why: /has not told its state since/,
    stopsIn: null,
  },
  "stays when the state is from far ahead of the clock": { pod: { max_run_hours: 1, as_of: NOW + DAY }, is: "stay" },
  "stays when it does not run": {
    pod: { max_run_hours: 1, status: "EXITED" },
    is: "stay",
    why: /not running: EXITED/,
  },
};

for (const [name, one] of Object.entries(CASES)) {
  Deno.test(`decideAutoStop ${name}`, () => {
    const got = decideAutoStop(
      NOW,
      stopRow(one.pod),
      (one.sessions ?? []).map(windowRow),
      settings(one.settings),
      { ...FACTS, ...one.facts },
    );
    assert.equal(got.kind === "stop" ? got.rule : "stay", one.is, JSON.stringify(got));
    if (one.why !== undefined) assert.match(got.why, one.why);
    if (one.stopsIn !== undefined) assert.equal(shownStop(got), shownTime(one.stopsIn));
    if (one.by !== undefined) assert.equal(got.rule, one.by);
  });
}

const shownTime = (minutes: number | null) => minutes === null ? null : isoTime(NOW + minutes * MINUTE);
const shownStop = (got: AutoStop) => got.kind === "stay" && got.stopsAt !== null ? isoTime(got.stopsAt) : null;
