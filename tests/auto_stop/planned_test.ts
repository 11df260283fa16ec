import assert from "node:assert/strict";
import type { AutoStop } from "../../server/auto_stop/decide.ts";
import { plannedStop, standingOf } from "../../server/auto_stop/planned.ts";
import { timeOutside, type WindowRow, windowsOf } from "../../server/auto_stop/windows.ts";
import { HOUR, isoTime, MINUTE } from "../../server/clock.ts";
import { FACTS, hoursAgo, minutesAgo, NOW, settings, stopRow, windowRow } from "./support.ts";

const LEAD = 10 * MINUTE;
const STAY: AutoStop = { kind: "stay", why: "", stopsAt: NOW + 5 * HOUR, rule: "max_run" };

const planned = (sessions: Partial<WindowRow>[], autoStop: AutoStop = STAY, status = "RUNNING") =>
  plannedStop(NOW, { status }, sessions.map(windowRow), autoStop, LEAD);

Deno.test("plannedStop is the end of the session that is on, through those that follow within the lead", () => {
  const next = { start_at: NOW + HOUR + LEAD, stop_at: NOW + 2 * HOUR, started: 0 };
  assert.deepEqual(planned([{}]), { at: NOW + HOUR, rule: "schedule", why: "Its session ends" });
  assert.equal(planned([{}, next])?.at, NOW + 2 * HOUR);
  assert.equal(planned([{}, { ...next, start_at: next.start_at + 1 }])?.at, NOW + HOUR);
  const third = { start_at: NOW + 2 * HOUR, stop_at: NOW + 3 * HOUR, started: 0 };
  assert.equal(planned([third, {}, next])?.at, NOW + 3 * HOUR, "whatever their order");
});

Deno.test("plannedStop leaves sessions out that are finished or far away, and takes the rule's time then", () => {
  const later = { start_at: NOW + HOUR, stop_at: NOW + 2 * HOUR, started: 0 };
  for (const sessions of [[], [later], [{ finished: 1 }]]) {
    const { at, rule } = planned(sessions) ?? {};
    assert.deepEqual([at, rule], [NOW + 5 * HOUR, "max_run"]);
  }
  assert.equal(planned([], { kind: "stay", why: "", stopsAt: null, rule: null }), null);
});

Deno.test("plannedStop is now for a session that is over and for a rule that holds, and null for a pod that is down", () => {
  assert.deepEqual([planned([{ stop_at: minutesAgo(2) }])?.at, planned([{}], STAY, "EXITED")], [NOW, null]);
  const budget = planned([{}], { kind: "stop", rule: "budget", why: "The month's budget is spent" });
  assert.deepEqual([budget?.at, budget?.rule], [NOW, "budget"]);
});

Deno.test("standingOf tells officers when and why a pod stops and why it is up", () => {
  const pod = stopRow({ auto_stop_after_minutes: 30, active_at: minutesAgo(20), active_why: "ada was on it" });
  const idle = standingOf(NOW, pod, [], settings(), FACTS);
  assert.deepEqual([idle.stops_at, idle.stops_why], [isoTime(NOW + 10 * MINUTE), "It is idle"]);
  assert.match(idle.stays_why ?? "", /ada was on it/);
  const inSession = standingOf(NOW, pod, [windowRow()], settings(), FACTS);
  assert.deepEqual([inSession.stops_at, inSession.stops_why], [isoTime(NOW + HOUR), "Its session ends"]);
  assert.deepEqual(standingOf(NOW, stopRow({ status: "EXITED" }), [], settings(), FACTS), {
    stops_at: null,
    stops_why: null,
    stays_why: null,
  });
});

Deno.test("timeOutside counts only what lies outside of all windows, lead and finished ones included", () => {
  const outside = (sessions: Partial<WindowRow>[]) =>
    timeOutside(windowsOf(sessions.map(windowRow), LEAD), hoursAgo(10), NOW);
  assert.equal(outside([]), 10 * HOUR);
  assert.equal(outside([{ start_at: hoursAgo(8), stop_at: hoursAgo(6) }]), 8 * HOUR - LEAD);
  assert.equal(
    outside([
      { start_at: hoursAgo(7), stop_at: hoursAgo(5), finished: 1 },
      { start_at: hoursAgo(8), stop_at: hoursAgo(6) },
      { start_at: hoursAgo(20), stop_at: hoursAgo(9) },
      { start_at: hoursAgo(-2), stop_at: hoursAgo(-3) },
    ]),
    6 * HOUR - LEAD,
  );
  assert.equal(
    outside([{ start_at: hoursAgo(8), stop_at: hoursAgo(-5), finished: 1, finished_at: hoursAgo(7) }]),
    9 * HOUR - LEAD,
    "a session that was ended early counts until then",
  );
  assert.equal(outside([{ start_at: hoursAgo(10), stop_at: hoursAgo(-1) }]), 0);
});
