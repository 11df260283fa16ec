import assert from "node:assert/strict";
import type { SessionRow } from "../../db/stores/sessions.ts";
import { DAY, HOUR, MINUTE } from "../../server/clock.ts";
import { decide, type Plan, SCHEDULE_TIMINGS, type ScheduledPod } from "../../server/schedule/decide.ts";

const START = Date.UTC(2026, 10, 30, 18);
const STOP = START + 2 * HOUR;

const session = (change: Partial<SessionRow> = {}): SessionRow => ({
  id: 1,
  org_id: 1,
  pod_id: "pod",
  title: null,
  start_at: START,
  stop_at: STOP,
  started: 0,
  finished: 0,
  state: "scheduled",
  error: null,
  error_at: null,
  failing_since: null,
  starting_at: null,
  started_at: null,
  finished_at: null,
  series_id: null,
  extended_minutes: 0,
  over_budget: 0,
  on_gpu_taken: "wait",
  created_by: null,
  created_at: 0,
  ...change,
});
const started = (change: Partial<SessionRow> = {}) => session({ started: 1, state: "running", ...change });

const pod = (change: Partial<ScheduledPod> = {}): ScheduledPod => ({
  isTerminated: false,
  status: "EXITED",
  isFresh: true,
  upSince: null,
  hasOpenAction: false,
  missingSince: null,
  lacksGpu: false,
  neverCameUp: false,
  lastStart: null,
  ...change,
});
const up = (change: Partial<ScheduledPod> = {}) => pod({ status: "RUNNING", upSince: START - 10 * MINUTE, ...change });

const FREE = { computeEnabled: true, budgetReached: false };

/** The plan in short: what is asked for which sessions, and what each session becomes. */
function plan(
  now: number,
  sessions: SessionRow[],
  state: ScheduledPod,
  limits = FREE,
): { step: string | null; marks: Record<number, string> } {
  const made: Plan = decide(now, sessions, state, limits, SCHEDULE_TIMINGS);
  const { step } = made;
  return {
    step: step === null ? null : `${step.action} ${step.sessions.join()}${step.overBudget ? " over budget" : ""}`,
    marks: Object.fromEntries(made.marks.map((mark) => {
      const { finished, state, started, error } = mark.change;
      const words = [state, started === 1 && "started", finished === 1 && "finished", mark.event, error && "error"];
      return [mark.id, words.filter(Boolean).join(" ")];
    })),
  };
}

Deno.test("decide starts a stopped pod from 10 minutes before its session, and not a moment earlier", () => {
  assert.deepEqual(plan(START - 10 * MINUTE - 1, [session()], pod()), { step: null, marks: {} });
  assert.deepEqual(plan(START - 10 * MINUTE, [session()], pod()), { step: "start 1", marks: {} });
  assert.deepEqual(plan(STOP - 1, [session()], pod()), { step: "start 1", marks: {} });
});

Deno.test("decide takes a pod that already runs as started", () => {
  assert.deepEqual(plan(START, [session()], up()), { step: null, marks: { 1: "running started" } });
  for (const status of ["PROVISIONING", "STARTING"]) {
    assert.deepEqual(plan(START, [session()], up({ status })), { step: null, marks: { 1: "starting started" } });
  }
});

Deno.test("decide takes nothing for done while RunPod is not heard", () => {
  assert.deepEqual(plan(START, [session()], up({ isFresh: false })), { step: null, marks: { 1: "error" } });
  assert.deepEqual(plan(START, [session()], pod({ isFresh: false })), { step: "start 1", marks: {} });
  assert.deepEqual(plan(STOP, [started()], pod({ isFresh: false })), { step: "stop 1", marks: {} });
});

Deno.test("decide starts once for all sessions whose windows are open, and keeps the pod through overlapping ones", () => {
  const second = session({ id: 2, start_at: START + HOUR, stop_at: STOP + HOUR });
  assert.deepEqual(plan(START + HOUR, [session(), second], pod()).step, "start 1,2");
  assert.deepEqual(plan(STOP, [started(), { ...second, started: 1, state: "running" }], up()), {
    step: null,
    marks: { 1: "done finished" },
  });
  assert.deepEqual(plan(STOP + HOUR, [{ ...second, started: 1 }], up()).step, "stop 2");
});

Deno.test("decide does not stop between sessions with a gap of at most 10 minutes", () => {
  const next = session({ id: 2, start_at: STOP + 10 * MINUTE, stop_at: STOP + HOUR });
  assert.deepEqual(plan(STOP, [started(), next], up()), {
    step: null,
    marks: { 1: "done finished", 2: "running started" },
  });
  const later = { ...next, start_at: STOP + 11 * MINUTE };
  assert.deepEqual(plan(STOP, [started(), later], up()), { step: "stop 1", marks: {} });
});

Deno.test("decide leaves the stop to a session that ran until the next one is known to have the pod", () => {
  const next = session({ id: 2, start_at: STOP, stop_at: STOP + HOUR });
  const unheard = up({ isFresh: false });
  assert.deepEqual(plan(STOP, [started(), next], unheard), { step: null, marks: { 2: "error" } });
  assert.deepEqual(plan(STOP + HOUR, [started(), { ...next, error: "Not heard" }], unheard).step, "stop 1,2");
  assert.deepEqual(plan(STOP, [started(), next], up({ status: "REBALANCING" })).marks, {});
  assert.deepEqual(plan(STOP, [started(), { ...next, started: 1 }], unheard).marks[1], "done finished");
  assert.deepEqual(plan(STOP, [started(), next], pod()).marks[1], "done finished");
});

Deno.test("decide stops a pod after its last session, also one that ran before it", () => {
  assert.deepEqual(plan(STOP - 1, [started()], up()), { step: null, marks: {} });
  assert.deepEqual(plan(STOP, [started()], up({ upSince: START - 5 * HOUR })).step, "stop 1");
});

Deno.test("decide makes a missed stop up, but leaves a pod alone that somebody started after the session", () => {
  assert.equal(plan(STOP + 3 * DAY, [started()], up()).step, "stop 1");
  assert.deepEqual(plan(STOP + HOUR, [started()], up({ upSince: STOP + MINUTE })), {
    step: null,
    marks: { 1: "done finished" },
  });
  // The schedule's own start came through after the session was ended.
  const late = { askedAt: STOP - MINUTE, state: "done" as const, isOurs: true };
  assert.equal(plan(STOP + 5 * MINUTE, [started()], up({ upSince: STOP + MINUTE, lastStart: late })).step, "stop 1");
  const theirs = up({ upSince: STOP + MINUTE, lastStart: { ...late, isOurs: false } });
  assert.equal(plan(STOP + 5 * MINUTE, [started()], theirs).step, null);
});

Deno.test("decide respects a manual stop during a session", () => {
  assert.deepEqual(plan(START + HOUR, [started()], pod()), { step: null, marks: {} });
  assert.deepEqual(plan(STOP, [started()], pod()), { step: null, marks: { 1: "done finished" } });
});

Deno.test("decide knows a start by its action when the program ended before it was stored", () => {
  const asked = session({ state: "starting", starting_at: START });
  const done = { lastStart: { askedAt: START, state: "done" as const, isOurs: true } };
  assert.deepEqual(plan(START + HOUR, [asked], pod(done)), { step: null, marks: { 1: "running started" } });
  assert.equal(plan(STOP, [asked], up(done)).step, "stop 1");
  assert.equal(
    plan(START + HOUR, [asked], pod({ lastStart: { askedAt: START, state: "failed", isOurs: true } })).step,
    "start 1",
  );
  // Another start, from before the session asked for its own.
  const before = { lastStart: { askedAt: START - HOUR, state: "done" as const, isOurs: true } };
  assert.equal(plan(START + HOUR, [asked], pod(before)).step, "start 1");
  // RunPod carried it out although its answer said otherwise.
  const late = up({ lastStart: { askedAt: START, state: "failed", isOurs: true }, upSince: START + 5 * MINUTE });
  assert.equal(plan(STOP, [asked], late).step, "stop 1");
});

Deno.test("decide waits while it is not known what came of an action", () => {
  assert.deepEqual(plan(START, [session()], pod({ hasOpenAction: true })), { step: null, marks: {} });
  assert.deepEqual(plan(STOP, [started()], up({ hasOpenAction: true })), { step: null, marks: {} });
});

Deno.test("decide calls a session missed when nobody tried, failed when it was refused, and never stops for it", () => {
  assert.deepEqual(plan(STOP, [session()], up()), { step: null, marks: { 1: "missed finished session.missed error" } });
  const refused = session({ error: "RunPod answered 400", failing_since: START });
  assert.deepEqual(plan(STOP, [refused], pod()), { step: null, marks: { 1: "failed finished session.failed error" } });
});

Deno.test("decide finishes what a pod can no longer do", () => {
  assert.deepEqual(plan(START, [session()], pod({ status: "GONE" })).marks, {
    1: "failed finished session.failed error",
  });
  assert.deepEqual(plan(START, [started()], pod({ isTerminated: true, status: "TERMINATED" })).marks, {
    1: "done finished",
  });
});

Deno.test("decide stops pods but starts none while compute is off", () => {
  const off = { computeEnabled: false, budgetReached: false };
  assert.deepEqual(plan(START, [session()], pod(), off), { step: null, marks: { 1: "error" } });
  assert.equal(plan(STOP, [started()], up(), off).step, "stop 1");
});

Deno.test("decide starts over the budget only for a session that says so", () => {
  const spent = { computeEnabled: true, budgetReached: true };
  assert.deepEqual(plan(START, [session()], pod(), spent), { step: null, marks: { 1: "error" } });
  assert.equal(plan(START, [session({ over_budget: 1 })], pod(), spent).step, "start 1 over budget");
  assert.deepEqual(plan(START, [session()], up(), spent).marks, { 1: "running started" });
  assert.equal(plan(STOP, [started()], up(), spent).step, "stop 1");
});

Deno.test("decide gives a stop up after a day of refusals, and says that the pod may cost money", () => {
  const refused = started({ error: "RunPod answered 500", failing_since: STOP });
  assert.equal(plan(STOP + DAY - 1, [refused], up()).step, "stop 1");
  assert.deepEqual(plan(STOP + DAY, [refused], up()), {
    step: null,
    marks: { 1: "failed finished session.failed error" },
  });
});

Deno.test("decide says that a pod of a started session runs once it runs", () => {
  const starting = started({ state: "starting" });
  assert.deepEqual(plan(START, [starting], up({ status: "STARTING" })), { step: null, marks: {} });
  assert.deepEqual(plan(START, [starting], up()), { step: null, marks: { 1: "running" } });
});

Deno.test("decide waits five minutes before it believes that a pod is gone", () => {
  const gone = pod({ status: "GONE", missingSince: START });
  assert.deepEqual(plan(START + 5 * MINUTE - 1, [started()], gone), { step: null, marks: {} });
  assert.deepEqual(plan(START + 5 * MINUTE, [started()], gone).marks, { 1: "failed finished session.failed error" });
});

Deno.test("decide stops a pod that runs without its GPU before it counts as started", () => {
  assert.deepEqual(plan(START, [session()], up({ lacksGpu: true })), { step: "stop ", marks: { 1: "error" } });
  assert.deepEqual(plan(START, [started()], up({ lacksGpu: true })), { step: null, marks: {} });
});

Deno.test("decide starts a pod again that RunPod said it had started and that never came up", () => {
  const starting = started({ state: "starting", starting_at: START, started_at: START });
  const down = pod({ neverCameUp: true, lastStart: { askedAt: START, state: "done", isOurs: true } });
  assert.deepEqual(plan(START + 5 * MINUTE - 1, [starting], down), { step: null, marks: {} });
  assert.equal(plan(START + 5 * MINUTE, [starting], down).step, "start 1");
  assert.deepEqual(plan(STOP, [starting], down).marks, { 1: "failed finished session.failed error" });
  // Once it ran, its being down is somebody's doing.
  assert.deepEqual(plan(START + HOUR, [{ ...starting, state: "running" }], down), { step: null, marks: {} });
});
