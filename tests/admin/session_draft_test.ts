import assert from "node:assert/strict";
import {
  changeDraft,
  newDraft,
  nextHour,
  proposedStop,
  understood,
  wallText,
} from "../../admin/ui/screens/session_draft.ts";
import type { Session } from "../../admin/ui/data/pods.ts";

/** Noon of 30 November, 13:00 in Berlin. */
const NOW = Date.UTC(2026, 10, 30, 12);
const iso = (text: string) => new Date(text).toISOString();

const values = (more: Record<string, string | number | boolean> = {}) => ({
  start_at: "2026-12-01 18:00",
  stop_at: "20:00",
  time_zone: "Europe/Berlin",
  series: "once",
  over_budget: false,
  on_gpu_taken: "wait",
  ...more,
});

const SESSION = {
  id: 7,
  title: "Evening",
  start_at: iso("2026-12-01T17:00:30Z"),
  stop_at: iso("2026-12-01T19:00:30Z"),
  started: false,
  finished: false,
  extended_minutes: 0,
  over_budget: false,
  on_gpu_taken: "wait",
} as Session;

Deno.test("newDraft reads wall times of the zone, and times with an offset as they are", () => {
  assert.deepEqual(newDraft(values({ title: "Evening" }), NOW).body, {
    start_at: iso("2026-12-01T17:00Z"),
    stop_at: iso("2026-12-01T19:00Z"),
    title: "Evening",
    over_budget: false,
    on_gpu_taken: "wait",
  });
  const phoenix = newDraft(values({ time_zone: "america/phoenix" }), NOW);
  assert.equal(phoenix.body?.start_at, iso("2026-12-02T01:00Z"));
  assert.equal(phoenix.zone, "America/Phoenix");
  const offset = newDraft(values({ start_at: "2026-12-01T18:00-07:00", stop_at: "2026-12-02 04:00" }), NOW);
  assert.deepEqual([offset.body?.start_at, offset.body?.stop_at], [iso("2026-12-02T01:00Z"), iso("2026-12-02T03:00Z")]);
});

Deno.test("newDraft takes a bare time of the stop for the first one after the start", () => {
  const stopAt = (start_at: string, stop_at: string) => newDraft(values({ start_at, stop_at }), NOW).body?.stop_at;
  assert.equal(stopAt("2026-12-01 22:00", "2:00"), iso("2026-12-02T01:00Z"));
  assert.equal(stopAt("2026-12-01 22:00", "22:00"), iso("2026-12-02T21:00Z"));
  assert.equal(stopAt("2026-12-01 22:00", "22:01"), iso("2026-12-01T21:01Z"));
});

Deno.test("newDraft names the field of each mistake, by the server's rules", () => {
  const cases = [
    [{ start_at: "tomorrow" }, "start_at", /must be a time such as 18:00, "tomorrow 18:00", "2026-09-03 18:00"/],
    [{ start_at: "2026-02-30 10:00" }, "start_at", /There is no such day: 2026-02-30/],
    [{ start_at: "" }, "start_at", /must be a time/],
    [{ stop_at: "2026-12-01 18:00" }, "stop_at", /must be after start_at/],
    [{ stop_at: "2026-12-02 18:01" }, "stop_at", /at most 24 hours/],
    [{ start_at: "2026-11-30 10:00", stop_at: "12:00" }, "stop_at", /is in the past/],
    [{ time_zone: "Mars/Base" }, "time_zone", /is not the name of a time zone.*Mars\/Base/],
    [{ title: "x".repeat(201) }, "title", /at most 200 characters/],
    [{ title: "a\u202eb" }, "title", /without control characters/],
    [{ series: "count", every_weeks: 1, count: 101 }, "count", /from 1 to 100/],
    [{ series: "count", every_weeks: 0, count: 2 }, "every_weeks", /from 1 to 52/],
    [{ series: "until", every_weeks: 1, until: "2026-11-30" }, "until", /must not be before the first session/],
    [{ series: "until", every_weeks: 1, until: "christmas" }, "until", /must be a day such as/],
    [{ series: "until", every_weeks: 1, until: "2029-12-01" }, "until", /room for 157 sessions/],
    [{ series: "until", every_weeks: "x", until: "2026-12-20" }, "every_weeks", /from 1 to 52/],
  ] as const;
  for (const [more, field, sentence] of cases) {
    const draft = newDraft(values(more), NOW);
    assert.equal(draft.body, null, JSON.stringify(more));
    assert.equal(draft.mistake?.field, field, JSON.stringify(draft.mistake));
    assert.match(draft.mistake!.sentence, sentence);
  }
});

Deno.test("newDraft takes times without a date: the next such time, today's or tomorrow's", () => {
  const times = (start_at: string, stop_at = "20:00") => {
    const { body, mistake } = newDraft(values({ start_at, stop_at }), NOW);
    return body === null ? mistake?.sentence : `${body.start_at} ${body.stop_at}`;
  };
  const found = (start: string, stop: string) => `${iso(start)} ${iso(stop)}`;
  assert.equal(times("18:00"), found("2026-11-30T17:00Z", "2026-11-30T19:00Z"));
  assert.equal(times("13:00"), found("2026-12-01T12:00Z", "2026-12-01T19:00Z"));
  assert.equal(times("today 18:00"), found("2026-11-30T17:00Z", "2026-11-30T19:00Z"));
  assert.equal(times("Tomorrow 9:05"), found("2026-12-01T08:05Z", "2026-12-01T19:00Z"));
  assert.equal(times("tomorrow 18:00", "tomorrow 20:00"), found("2026-12-01T17:00Z", "2026-12-01T19:00Z"));
  assert.match(times("6pm")!, /must be a time such as/);
});

Deno.test("newDraft counts the sessions of a series until a day, that day included", () => {
  const count = (until: string, every_weeks = 1) =>
    newDraft(values({ series: "until", every_weeks, until }), NOW).body?.repeat?.count;
  assert.deepEqual(["2026-12-01", "2026-12-07", "2026-12-08", "2026-12-22"].map((day) => count(day)), [1, 1, 2, 4]);
  assert.deepEqual([count("2026-12-14", 2), count("2026-12-15", 2)], [1, 2]);
  // By the days on the wall, not by hours: the clocks change in between.
  assert.equal(
    newDraft(
      values({ start_at: "2027-03-24 00:10", stop_at: "01:00", series: "until", every_weeks: 1, until: "2027-03-31" }),
      NOW,
    )
      .body?.repeat?.count,
    2,
  );
});

Deno.test("newDraft keeps the hours of a series on the wall, and warns where the clocks skip them", () => {
  const draft = newDraft(
    values({ start_at: "2027-03-21 02:30", stop_at: "04:00", series: "count", every_weeks: 1, count: 3 }),
    NOW,
  );
  assert.deepEqual(draft.body?.repeat, { every_weeks: 1, count: 3, time_zone: "Europe/Berlin" });
  assert.deepEqual(draft.windows.map(({ startAt }) => new Date(startAt).toISOString()), [
    iso("2027-03-21T01:30Z"),
    iso("2027-03-28T01:00Z"),
    iso("2027-04-04T00:30Z"),
  ]);
  assert.match(draft.warnings.join(), /The clocks of Europe\/Berlin skip 02:30 on 2027-03-28: 03:00 is taken/);
  const text = understood(draft, 0.5).join("\n");
  assert.match(text, /Sun 2027-03-21 02:30 GMT\+1 to Sun 2027-03-21 04:00 GMT\+1 \(Europe\/Berlin\)/);
  assert.match(text, /3 sessions, the last one Sun 2027-04-04 02:30 GMT\+2/);
  assert.match(text, /About \$2\.00 for 4 hours/);
  assert.match(newDraft(values({ start_at: "2027-03-28 02:30" }), NOW).warnings.join(), /Start: The clocks/);
});

Deno.test("changeDraft sends only what is different, whatever seconds the session has", () => {
  const form = (more: Record<string, string | boolean> = {}) => ({ ...values({ title: "Evening" }), ...more });
  const same = changeDraft(form(), SESSION, NOW);
  assert.deepEqual([same.body, same.mistake], [null, { field: null, sentence: "Nothing is different yet" }]);
  assert.deepEqual(changeDraft(form({ stop_at: "21:00" }), SESSION, NOW).body, { stop_at: iso("2026-12-01T20:00Z") });
  assert.deepEqual(changeDraft(values(), SESSION, NOW).body, { title: null });
  assert.deepEqual(changeDraft(form({ over_budget: true, on_gpu_taken: "fresh_pod" }), SESSION, NOW).body, {
    over_budget: true,
    on_gpu_taken: "fresh_pod",
  });
  // The whole session moves with its start, because the stop is a time of that day.
  assert.deepEqual(changeDraft(form({ start_at: "2026-12-03 18:00" }), SESSION, NOW).body, {
    start_at: iso("2026-12-03T17:00Z"),
    stop_at: iso("2026-12-03T19:00Z"),
  });
  assert.equal(changeDraft(form({ stop_at: "2026-12-03 18:00" }), SESSION, NOW).mistake?.field, "stop_at");
});

Deno.test("changeDraft leaves the start of a session that has started alone", () => {
  const { start_at: _, ...form } = values({ title: "Evening", stop_at: "2026-12-01 20:30" });
  const draft = changeDraft(form, { ...SESSION, started: true }, Date.UTC(2026, 11, 1, 18));
  assert.deepEqual(draft.body, { stop_at: iso("2026-12-01T19:30Z") });
});

Deno.test("proposals of times are read as the same times again, also where the clocks change", () => {
  for (const zone of ["Europe/Berlin", "America/Phoenix", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC"]) {
    for (let at = Date.UTC(2027, 2, 27, 12, 20); at < Date.UTC(2027, 3, 5); at += 41 * 60_000) {
      const startAt = nextHour(at, zone);
      assert(startAt > at && startAt <= at + 2 * 3_600_000, zone);
      assert.match(wallText(startAt, zone), /:00(?:[+-]\d\d:\d\d)?$/);
      const stopAt = startAt + 2 * 3_600_000;
      const draft = newDraft(
        values({ start_at: wallText(startAt, zone), stop_at: proposedStop(startAt, stopAt, zone), time_zone: zone }),
        at,
      );
      assert.deepEqual(
        [draft.body?.start_at, draft.body?.stop_at],
        [startAt, stopAt].map((ms) => new Date(ms).toISOString()),
        zone,
      );
    }
  }
});
