import assert from "node:assert/strict";
import { DAY, HOUR, MINUTE, SECOND } from "../../server/clock.ts";
import { isDue, MAX_TRIES, MAX_WAIT, waitAfter } from "../../server/webhooks/backoff.ts";

const middle = () => 0.5;

Deno.test("waitAfter grows from ten seconds to an hour, and all waits together last about a day", () => {
  const waits = Array.from({ length: MAX_TRIES - 1 }, (_, index) => waitAfter(index + 1, null, middle));
  assert.deepEqual(waits.slice(0, 7), [
    10 * SECOND,
    30 * SECOND,
    2 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    HOUR,
    HOUR,
  ]);
  const all = waits.reduce((sum, wait) => sum + wait, 0);
  assert.ok(Math.abs(all - DAY) < HOUR, `${all / HOUR} h`);
});

Deno.test("waitAfter moves a wait by at most a tenth", () => {
  assert.equal(waitAfter(1, null, () => 0), 9 * SECOND);
  assert.equal(waitAfter(1, null, () => 1), 11 * SECOND);
});

Deno.test("waitAfter is never shorter than what the receiver asks for, within two hours", () => {
  assert.equal(waitAfter(1, 45 * SECOND, middle), 45 * SECOND);
  assert.equal(waitAfter(4, 45 * SECOND, middle), 10 * MINUTE);
  assert.equal(waitAfter(1, 30 * DAY, middle), MAX_WAIT);
});

Deno.test("isDue does not wait for a time that a clock left behind that was a day ahead", () => {
  const now = 1_000_000_000_000;
  assert.equal(isDue(now, now), true);
  assert.equal(isDue(now + 1, now), false);
  assert.equal(isDue(now + MAX_WAIT, now), false);
  assert.equal(isDue(now + DAY, now), true);
});
