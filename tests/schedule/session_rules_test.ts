import assert from "node:assert/strict";
import type { SessionRow } from "../../db/stores/sessions.ts";
import { HOUR, MINUTE } from "../../server/clock.ts";
import { checkChange, checkNewSession, readChange } from "../../server/schedule/session_rules.ts";

const NOW = Date.parse("2026-11-30T12:00Z");
const START = "2026-11-30T18:00Z";
const STOP = "2026-11-30T20:00Z";
const check = (body: Record<string, unknown>) => checkNewSession(body as Parameters<typeof checkNewSession>[0], NOW);
const refused = (message: string) => ({ code: "invalid_request", message });

const TITLE = "title must be text of at most 200 characters";
const ONE_LINE = "title must be one line without control characters";
const REPEAT = "repeat must be an object with every_weeks, count and time_zone";
const weekly = { every_weeks: 1, count: 8, time_zone: "America/Phoenix" };
const withRepeat = (repeat: unknown) => ({ start_at: START, stop_at: STOP, repeat });

/** In the order of the contract: each body breaks its rule and all that come after it. */
const REFUSALS: readonly (readonly [string, Record<string, unknown>])[] = [
  ["start_at must be an ISO 8601 time with a timezone", { stop_at: "soon", title: 1 }],
  ["start_at must be an ISO 8601 time with a timezone", { start_at: "2026-02-30T10:00Z", stop_at: "soon" }],
  ["start_at needs a timezone, such as -07:00 or Z", { start_at: "2026-11-30T18:00", stop_at: "soon" }],
  ["stop_at must be an ISO 8601 time with a timezone", { start_at: START, title: 1 }],
  ["stop_at needs a timezone, such as -07:00 or Z", { start_at: START, stop_at: "2026-11-30T20:00", title: 1 }],
  ["stop_at must be after start_at", { start_at: "2026-11-20T18:00Z", stop_at: "2026-11-20T18:00Z", title: 1 }],
  ["stop_at must be after start_at", { start_at: START, stop_at: "2026-11-30T20:00+07:00", title: 1 }],
  ["A session can be at most 24 hours long", {
    start_at: "2026-11-20T18:00Z",
    stop_at: "2026-11-21T18:00:01Z",
    title: 1,
  }],
  ["stop_at is in the past", { start_at: "2026-11-30T10:00Z", stop_at: "2026-11-30T12:00Z", title: 1 }],
  [TITLE, { start_at: START, stop_at: STOP, title: 1, over_budget: 1 }],
  [TITLE, { start_at: START, stop_at: STOP, title: "\u{1f680}".repeat(201) }],
  [ONE_LINE, { start_at: START, stop_at: STOP, title: "a\nb" }],
  [ONE_LINE, { start_at: START, stop_at: STOP, title: "a\u001b[2J" }],
  [ONE_LINE, { start_at: START, stop_at: STOP, title: "a\u202eb" }],
  [ONE_LINE, { start_at: START, stop_at: STOP, title: "a\ud800" }],
  ["over_budget must be true or false", { start_at: START, stop_at: STOP, over_budget: "true", on_gpu_taken: 1 }],
  ["over_budget must be true or false", { start_at: START, stop_at: STOP, over_budget: null }],
  ["on_gpu_taken must be wait or fresh_pod", { start_at: START, stop_at: STOP, on_gpu_taken: "buy", repeat: 1 }],
  [REPEAT, withRepeat(null)],
  [REPEAT, withRepeat([weekly])],
  [REPEAT, withRepeat({ ...weekly, until: STOP })],
  ["repeat.every_weeks must be a whole number from 1 to 52", withRepeat({})],
  ["repeat.every_weeks must be a whole number from 1 to 52", withRepeat({ ...weekly, every_weeks: 0 })],
  ["repeat.every_weeks must be a whole number from 1 to 52", withRepeat({ ...weekly, every_weeks: 53 })],
  ["repeat.count must be a whole number from 1 to 100", withRepeat({ ...weekly, count: 1.5 })],
  ["repeat.count must be a whole number from 1 to 100", withRepeat({ ...weekly, count: 101 })],
  [
    "repeat.time_zone must be the name of a time zone, such as America/Phoenix",
    withRepeat({ every_weeks: 1, count: 2 }),
  ],
];
for (const [sentence, body] of REFUSALS) {
  Deno.test(`checkNewSession says "${sentence}" when it gets ${JSON.stringify(body).slice(0, 120)}`, () => {
    assert.throws(() => check(body), refused(sentence));
  });
}

Deno.test("checkNewSession takes what is allowed, with its defaults", () => {
  assert.deepEqual(check({ start_at: START, stop_at: STOP }), {
    startAt: NOW + 6 * HOUR,
    stopAt: NOW + 8 * HOUR,
    title: null,
    overBudget: false,
    onGpuTaken: "wait",
    repeat: null,
  });
  const all = check({
    start_at: "2026-11-30T10:00-07:00",
    stop_at: "2026-12-01T10:00-07:00",
    title: "  Workshop \u{1f469}\u200d\u{1f52c}  ",
    over_budget: true,
    on_gpu_taken: "fresh_pod",
    repeat: weekly,
  });
  assert.equal(all.stopAt - all.startAt, 24 * HOUR);
  assert.deepEqual([all.title, all.overBudget, all.onGpuTaken], [
    "Workshop \u{1f469}\u200d\u{1f52c}",
    true,
    "fresh_pod",
  ]);
  assert.deepEqual(all.repeat, { everyWeeks: 1, count: 8, timeZone: "America/Phoenix" });
  assert.equal([...check({ start_at: START, stop_at: STOP, title: "\u{1f680}".repeat(200) }).title!].length, 200);
  for (const title of [null, "", "  "]) assert.equal(check({ start_at: START, stop_at: STOP, title }).title, null);
  // The start may be in the past.
  assert.equal(check({ start_at: "2026-11-29T12:01Z", stop_at: "2026-11-30T12:01Z" }).stopAt, NOW + MINUTE);
});

const session = (change: Partial<SessionRow> = {}) =>
  ({
    start_at: NOW - 2 * HOUR,
    stop_at: NOW - MINUTE,
    started: 1,
    extended_minutes: 0,
    ...change,
  }) as SessionRow;

Deno.test("readChange takes any subset that is not empty", () => {
  assert.throws(() => readChange({}), refused("Send title, start_at, stop_at, over_budget or on_gpu_taken"));
  assert.deepEqual(readChange({ title: null }), { title: null });
  assert.deepEqual(readChange({ over_budget: true, on_gpu_taken: "wait" }), { over_budget: 1, on_gpu_taken: "wait" });
  assert.deepEqual(readChange({ stop_at: STOP }), { stop_at: NOW + 8 * HOUR });
});

Deno.test("checkChange leaves the times alone when the change does", () => {
  checkChange(session(), { title: "Late" }, NOW);
  checkChange(session(), { start_at: NOW - 2 * HOUR, stop_at: NOW - MINUTE }, NOW);
});

Deno.test("checkChange checks the window that would be", () => {
  const unstarted = session({ started: 0 });
  assert.throws(() => checkChange(unstarted, { start_at: NOW }, NOW), refused("stop_at must be after start_at"));
  assert.throws(() => checkChange(unstarted, { stop_at: NOW }, NOW), refused("stop_at is in the past"));
  const long = { stop_at: NOW + 22 * HOUR + 1 };
  assert.throws(() => checkChange(unstarted, long, NOW), refused("A session can be at most 24 hours long"));
  checkChange(unstarted, { start_at: NOW + HOUR, stop_at: NOW + 2 * HOUR }, NOW);
  // What it was extended by comes on top of the 24 hours.
  checkChange(session({ extended_minutes: 1 }), long, NOW);
  assert.throws(() => checkChange(session(), { start_at: NOW, stop_at: NOW + HOUR }, NOW), {
    code: "conflict",
    message: "The session has started, so its start_at cannot be changed; change stop_at",
  });
});
