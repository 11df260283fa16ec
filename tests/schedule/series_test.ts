import assert from "node:assert/strict";
import { HOUR, MINUTE } from "../../server/clock.ts";
import { instantOf, readLocalTime, zoneNamed } from "../../server/schedule/local_time.ts";
import { seriesOf } from "../../server/schedule/series.ts";

/** Windows as `start/stop` in UTC to the minute. */
function series(start: string, stop: string, timeZone: string, count = 2, everyWeeks = 1): string[] {
  const first = { startAt: Date.parse(start), stopAt: Date.parse(stop) };
  return seriesOf(first, { everyWeeks, count, timeZone }).windows.map(({ startAt, stopAt }) =>
    [startAt, stopAt].map((ms) => new Date(ms).toISOString().slice(0, 16)).join("/")
  );
}

/** What is repeated: zone, first start and stop, and the windows of the series, in UTC. */
const CHANGES: readonly (readonly [string, string, string, string, readonly string[]])[] = [
  ["spring forward, evening", "America/New_York", "2026-03-05T18:00-05:00", "2026-03-05T20:00-05:00", [
    "2026-03-05T23:00/2026-03-06T01:00",
    "2026-03-12T22:00/2026-03-13T00:00",
  ]],
  ["fall back, evening", "America/New_York", "2026-10-29T18:00-04:00", "2026-10-29T20:00-04:00", [
    "2026-10-29T22:00/2026-10-30T00:00",
    "2026-11-05T23:00/2026-11-06T01:00",
  ]],
  ["no daylight saving", "America/Phoenix", "2026-03-05T18:00-07:00", "2026-03-05T20:00-07:00", [
    "2026-03-06T01:00/2026-03-06T03:00",
    "2026-03-13T01:00/2026-03-13T03:00",
  ]],
  ["spring forward", "Europe/Berlin", "2026-03-26T18:00+01:00", "2026-03-26T20:00+01:00", [
    "2026-03-26T17:00/2026-03-26T19:00",
    "2026-04-02T16:00/2026-04-02T18:00",
  ]],
  ["fall back", "Europe/Berlin", "2026-10-22T18:00+02:00", "2026-10-22T20:00+02:00", [
    "2026-10-22T16:00/2026-10-22T18:00",
    "2026-10-29T17:00/2026-10-29T19:00",
  ]],
  ["half an hour forward", "Australia/Lord_Howe", "2026-10-01T18:00+10:30", "2026-10-01T20:00+10:30", [
    "2026-10-01T07:30/2026-10-01T09:30",
    "2026-10-08T07:00/2026-10-08T09:00",
  ]],
  ["half an hour back", "Australia/Lord_Howe", "2027-04-01T18:00+11:00", "2027-04-01T20:00+11:00", [
    "2027-04-01T07:00/2027-04-01T09:00",
    "2027-04-08T07:30/2027-04-08T09:30",
  ]],
  // Over the change itself both wall times are kept, and the time between them is an hour less or more.
  ["over the gap", "America/New_York", "2026-03-01T01:00-05:00", "2026-03-01T05:00-05:00", [
    "2026-03-01T06:00/2026-03-01T10:00",
    "2026-03-08T06:00/2026-03-08T09:00",
  ]],
  ["over the overlap", "America/New_York", "2026-10-25T00:30-04:00", "2026-10-25T03:00-04:00", [
    "2026-10-25T04:30/2026-10-25T07:00",
    "2026-11-01T04:30/2026-11-01T08:00",
  ]],
  ["start in the gap: the first valid moment", "America/New_York", "2026-03-01T02:30-05:00", "2026-03-01T04:00-05:00", [
    "2026-03-01T07:30/2026-03-01T09:00",
    "2026-03-08T07:00/2026-03-08T08:00",
  ]],
  ["stop in the gap: the first valid moment", "America/New_York", "2026-03-01T01:00-05:00", "2026-03-01T02:30-05:00", [
    "2026-03-01T06:00/2026-03-01T07:30",
    "2026-03-08T06:00/2026-03-08T07:00",
  ]],
  ["all of it in the gap: as long as ever", "America/New_York", "2026-03-01T02:15-05:00", "2026-03-01T02:45-05:00", [
    "2026-03-01T07:15/2026-03-01T07:45",
    "2026-03-08T07:00/2026-03-08T07:30",
  ]],
  ["in the gap of half an hour", "Australia/Lord_Howe", "2026-09-27T02:10+10:30", "2026-09-27T04:00+10:30", [
    "2026-09-26T15:40/2026-09-26T17:30",
    "2026-10-03T15:30/2026-10-03T17:00",
  ]],
  [
    "start in the overlap: the first of the two",
    "America/New_York",
    "2026-10-25T01:30-04:00",
    "2026-10-25T03:00-04:00",
    [
      "2026-10-25T05:30/2026-10-25T07:00",
      "2026-11-01T05:30/2026-11-01T08:00",
    ],
  ],
  [
    "all of it in the overlap: the first of the two",
    "Europe/Berlin",
    "2026-10-18T02:15+02:00",
    "2026-10-18T02:45+02:00",
    [
      "2026-10-18T00:15/2026-10-18T00:45",
      "2026-10-25T00:15/2026-10-25T00:45",
    ],
  ],
  ["in the overlap of half an hour", "Australia/Lord_Howe", "2027-03-28T01:45+11:00", "2027-03-28T03:00+11:00", [
    "2027-03-27T14:45/2027-03-27T16:00",
    "2027-04-03T14:45/2027-04-03T16:30",
  ]],
  ["over midnight", "America/Phoenix", "2026-12-31T22:00-07:00", "2027-01-01T02:00-07:00", [
    "2027-01-01T05:00/2027-01-01T09:00",
    "2027-01-08T05:00/2027-01-08T09:00",
  ]],
  ["sent with the offset of another place", "America/Phoenix", "2026-03-06T01:00Z", "2026-03-06T12:00+09:00", [
    "2026-03-06T01:00/2026-03-06T03:00",
    "2026-03-13T01:00/2026-03-13T03:00",
  ]],
];
for (const [what, zone, start, stop, windows] of CHANGES) {
  Deno.test(`seriesOf keeps the local times in ${zone} when it meets: ${what}`, () => {
    assert.deepEqual(series(start, stop, zone), windows);
  });
}

Deno.test("seriesOf keeps the first window as it was sent, also where the clocks show its time twice", () => {
  // The second 01:30 of that night.
  assert.deepEqual(series("2026-11-01T01:30-05:00", "2026-11-01T03:00-05:00", "America/New_York"), [
    "2026-11-01T06:30/2026-11-01T08:00",
    "2026-11-08T06:30/2026-11-08T08:00",
  ]);
  // From the first 01:45 to the second 01:15, which is before it on the wall.
  assert.deepEqual(series("2026-11-01T01:45-04:00", "2026-11-01T01:15-05:00", "America/New_York"), [
    "2026-11-01T05:45/2026-11-01T06:15",
    "2026-11-08T06:45/2026-11-08T07:15",
  ]);
});

Deno.test("seriesOf counts weeks on the calendar of the zone, over a whole year and over leap days", () => {
  const windows = series("2026-01-08T18:00-07:00", "2026-01-08T20:00-07:00", "America/Denver", 53);
  assert.equal(windows.length, 53);
  assert.equal(windows.at(-1), "2027-01-08T01:00/2027-01-08T03:00");
  assert.equal(windows[26], "2026-07-10T00:00/2026-07-10T02:00");
  const yearly = series("2028-02-29T10:00Z", "2028-02-29T11:00Z", "UTC", 3, 52);
  assert.deepEqual(yearly, [
    "2028-02-29T10:00/2028-02-29T11:00",
    "2029-02-27T10:00/2029-02-27T11:00",
    "2030-02-26T10:00/2030-02-26T11:00",
  ]);
});

Deno.test("seriesOf refuses a series with a day of 25 hours, and names it", () => {
  const weekly = (count: number) =>
    series("2026-10-17T12:00-04:00", "2026-10-18T12:00-04:00", "America/New_York", count);
  assert.equal(weekly(2).length, 2);
  assert.throws(() => weekly(4), {
    code: "invalid_request",
    message: "A session can be at most 24 hours long, and the one of 2026-10-31 would be longer: the clocks of " +
      "America/New_York are put back in it",
  });
});

Deno.test("seriesOf warns of times that the clocks skip and of zones that have no summer time", () => {
  const warningsOf = (start: string, stop: string, timeZone: string) =>
    seriesOf({ startAt: Date.parse(start), stopAt: Date.parse(stop) }, { everyWeeks: 1, count: 3, timeZone }).warnings;
  assert.deepEqual(warningsOf("2027-03-07T02:30-05:00", "2027-03-07T04:00-05:00", "America/New_York"), [
    "The clocks of America/New_York skip 02:30 on 2027-03-14: 03:00 is taken in its place",
  ]);
  assert.deepEqual(warningsOf("2027-03-07T02:30-05:00", "2027-03-07T04:00-05:00", "EST"), [
    "EST has no summer time; use America/New_York",
  ]);
  assert.deepEqual(warningsOf("2027-03-07T02:30-07:00", "2027-03-07T04:00-07:00", "America/Phoenix"), []);
});

const NO_ZONES = [
  "Mars/Base",
  "",
  "+07:00",
  "-0700",
  "GMT+",
  "America/",
  "/Phoenix",
  "America/Phoenix ",
  "America",
  "../etc",
];

Deno.test("seriesOf refuses a zone that does not exist, and names it", () => {
  for (const zone of [...NO_ZONES, "2026-01-01T00:00[America/Phoenix]", "x".repeat(65)]) {
    assert.throws(() => series("2026-03-06T01:00Z", "2026-03-06T03:00Z", zone), (error: Error & { code: string }) => {
      assert.equal(error.code, "invalid_request");
      assert.match(
        error.message,
        /^repeat\.time_zone is not the name of a time zone: .*Send a name of the IANA list, /,
      );
      assert(error.message.includes(zone.slice(0, 60)), error.message);
      return true;
    });
  }
});

Deno.test("zoneNamed gives the usual spelling of a zone and of its older names", () => {
  const names = ["america/phoenix", "Europe/Berlin", "UTC", "Etc/GMT+7", "America/Argentina/Buenos_Aires", "EST5EDT"];
  assert.deepEqual(names.map(zoneNamed), ["America/Phoenix", ...names.slice(1)]);
  for (const name of NO_ZONES) assert.equal(zoneNamed(name), null, name);
});

Deno.test("instantOf finds the moment after a gap of a whole day", () => {
  // Samoa went over the date line: there was no 30 December 2011.
  const local = readLocalTime("2011-12-30 10:00")!;
  assert.equal(instantOf(local, "Pacific/Apia"), Date.UTC(2011, 11, 30, 10));
});

Deno.test("readLocalTime takes a wall time with a space or a T and nothing else", () => {
  for (const text of ["2026-09-03 18:00", "2026-09-03T18:00", "2026-09-03 18:00:00"]) {
    assert.equal(instantOf(readLocalTime(text)!, "UTC"), Date.UTC(2026, 8, 3, 18), text);
  }
  for (const text of ["2026-02-30 18:00", "2026-09-03 24:00", "2026-09-03", "18:00", "2026-09-03 18:00Z", "soon"]) {
    assert.equal(readLocalTime(text), null, text);
  }
});

Deno.test("seriesOf keeps the length of windows that no change of the clocks touches", () => {
  const first = { startAt: Date.parse("2026-05-01T10:00Z"), stopAt: Date.parse("2026-05-01T11:30Z") };
  const { windows, warnings } = seriesOf(first, { everyWeeks: 2, count: 5, timeZone: "Europe/Berlin" });
  assert.deepEqual(warnings, []);
  assert.deepEqual(windows.map(({ startAt, stopAt }) => stopAt - startAt), Array(5).fill(90 * MINUTE));
  assert.deepEqual(
    windows.map(({ startAt }) => startAt - first.startAt),
    [0, 1, 2, 3, 4].map((n) => n * 14 * 24 * HOUR),
  );
});
