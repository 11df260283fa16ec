import assert from "node:assert/strict";
import { pause, withDeadline, within } from "../../server/discord/deadline.ts";

Deno.test("withDeadline aborts work that takes too long and returns what it makes of it", async () => {
  const slow = (signal: AbortSignal) =>
    new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("aborted")));
  assert.equal(await withDeadline(10, slow), "aborted");
  assert.equal(await withDeadline(60_000, (signal) => Promise.resolve(signal.aborted)), false);
});

Deno.test("pause ends at once when the signal aborts", async () => {
  const stop = new AbortController();
  const paused = pause(60_000, stop.signal);
  stop.abort();
  assert.equal(await paused, false);
  assert.equal(await pause(60_000, stop.signal), false);
  assert.equal(await pause(1, new AbortController().signal), true);
});

Deno.test("within gives up waiting without stopping the work", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  assert.equal(await within(promise, 5, (ms) => `late after ${ms}`), "late after 5");
  resolve("done");
  assert.equal(await within(promise, 60_000, () => "late"), "done");
  assert.equal(await within(promise, undefined, () => "late"), "done");
  await assert.rejects(within(Promise.reject(new Error("no")), 60_000, () => "late"), /no/);
});
