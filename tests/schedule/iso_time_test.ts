import assert from "node:assert/strict";
import { readIsoTime } from "../../server/schedule/iso_time.ts";

interface Times {
  readonly good: readonly (readonly [string, string])[];
  readonly no_zone: readonly string[];
  readonly bad: readonly unknown[];
}
const times: Times = JSON.parse(
  Deno.readTextFileSync(new URL("../vectors/sessions/times.json", import.meta.url)),
);

Deno.test("readIsoTime takes every spelling of a time with an offset", () => {
  for (const [text, instant] of times.good) {
    assert.deepEqual(readIsoTime(text), { kind: "time", ms: Date.parse(instant) }, text);
  }
});

Deno.test("readIsoTime tells a time without a zone from what is no time at all", () => {
  for (const text of times.no_zone) assert.deepEqual(readIsoTime(text), { kind: "no_zone" }, text);
  for (const value of times.bad) assert.deepEqual(readIsoTime(value), { kind: "not_a_time" }, JSON.stringify(value));
});
