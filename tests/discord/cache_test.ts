import assert from "node:assert/strict";
import { createCache } from "../../server/discord/cache.ts";
import { gate, testClock } from "./support.ts";

function counted(clock = testClock(), max = 10) {
  let asked = 0;
  const cache = createCache<number>({ clock, ttlMs: 1_000, max });
  return { cache, clock, ask: () => Promise.resolve(++asked), asked: () => asked };
}

Deno.test("cache keeps an answer for its time and no longer", async () => {
  const { cache, clock, ask } = counted();
  assert.equal(await cache.load("a", ask), 1);
  clock.advance(999);
  assert.equal(await cache.load("a", ask), 1);
  clock.advance(1);
  assert.equal(cache.peek("a"), undefined);
  assert.equal(await cache.load("a", ask), 2);
});

Deno.test("cache counts the age from the question when the answer is slow", async () => {
  const { cache, clock } = counted();
  const slow = gate();
  const answer = cache.load("a", () => slow.passed.then(() => 1));
  clock.advance(900);
  slow.open();
  await answer;
  clock.advance(99);
  assert.equal(cache.peek("a"), 1);
  clock.advance(1);
  assert.equal(cache.peek("a"), undefined);
});

Deno.test("cache does not trust an answer when the clock was set back", async () => {
  const { cache, clock, ask } = counted();
  await cache.load("a", ask);
  clock.advance(-1);
  assert.equal(cache.peek("a"), undefined);
});

Deno.test("cache asks once for callers at the same time", async () => {
  const { cache, ask, asked } = counted();
  assert.deepEqual(await Promise.all([cache.load("a", ask), cache.load("a", ask), cache.load("b", ask)]), [1, 1, 2]);
  assert.equal(asked(), 2);
});

Deno.test("cache keeps neither a failure nor an answer that keep refuses", async () => {
  const cache = createCache<number>({ clock: testClock(), ttlMs: 1_000, max: 10, keep: (value) => value > 1 });
  await assert.rejects(cache.load("a", () => Promise.reject(new Error("no"))), /no/);
  assert.equal(await cache.load("a", () => Promise.resolve(1)), 1);
  assert.equal(cache.peek("a"), undefined);
  assert.equal(await cache.load("a", () => Promise.resolve(2)), 2);
  assert.equal(cache.peek("a"), 2);
});

Deno.test("cache neither keeps nor shares an answer that was under way when it was forgotten", async () => {
  const { cache } = counted();
  const old = gate();
  const before = cache.load("a", () => old.passed.then(() => 1));
  cache.forget((key) => key === "a");
  const after = cache.load("a", () => Promise.resolve(2));
  assert.equal(await after, 2);
  old.open();
  assert.equal(await before, 1);
  assert.equal(cache.peek("a"), 2);
});

Deno.test("cache drops the oldest key when it is full", async () => {
  const { cache, ask } = counted(testClock(), 2);
  for (const key of ["a", "b", "c"]) await cache.load(key, ask);
  assert.equal(cache.peek("a"), undefined);
  assert.equal(cache.peek("c"), 3);
});
