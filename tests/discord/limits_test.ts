import assert from "node:assert/strict";
import { createLimits, retryAfter } from "../../server/discord/limits.ts";
import type { Answer } from "../../server/discord/request.ts";
import { testClock } from "./support.ts";

const member = { route: "member", guildId: "1" };

function answer(status: number, headers: Record<string, string>, body?: unknown): Answer {
  const base = { status, headers: new Headers(headers) };
  return body === undefined ? { kind: "bare", ...base } : { kind: "json", ...base, body };
}

const left = (remaining: number, resetAfter: number, bucket = "abc") => ({
  "x-ratelimit-bucket": bucket,
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset-after": String(resetAfter),
});

Deno.test("limits hold a bucket that has nothing left, until its reset", () => {
  const clock = testClock();
  const limits = createLimits(clock);
  limits.learn(member, answer(200, left(0, 1.5), {}));
  assert.equal(limits.openAt(member), clock.now() + 1_500);
  assert.equal(limits.openAt({ ...member, guildId: "2" }), 0);
  assert.equal(limits.openAt({ ...member, route: "roles" }), 0);
  clock.advance(1_500);
  assert.equal(limits.openAt(member), 0);
});

Deno.test("limits count calls that are sent before their answers come", () => {
  const limits = createLimits(testClock());
  limits.learn(member, answer(200, left(2, 10), {}));
  limits.spend(member);
  limits.spend(member);
  assert.notEqual(limits.openAt(member), 0);
  limits.learn(member, answer(200, left(1, 10), {}));
  assert.notEqual(limits.openAt(member), 0, "the older answer must not give a call back");
});

Deno.test("limits let routes of one bucket share it", () => {
  const limits = createLimits(testClock());
  const roles = { route: "roles", guildId: "1" };
  limits.learn(roles, answer(200, left(5, 10, "same"), []));
  limits.learn(member, answer(200, left(0, 10, "same"), {}));
  assert.notEqual(limits.openAt(roles), 0);
});

Deno.test("limits hold every route after a global 429 and one bucket after another 429", () => {
  for (const global of [true, false]) {
    const clock = testClock();
    const limits = createLimits(clock);
    limits.learn(member, answer(429, {}, { message: "slow", retry_after: 2.25, global }));
    assert.equal(limits.openAt(member), clock.now() + 2_250);
    assert.equal(limits.openAt({ route: "roles", guildId: "9" }), global ? clock.now() + 2_250 : 0);
  }
  for (const headers of [{ "x-ratelimit-global": "true" }, { "x-ratelimit-scope": "global" }]) {
    const limits = createLimits(testClock());
    limits.learn(member, answer(429, { ...headers as Record<string, string>, "retry-after": "3" }));
    assert.notEqual(limits.openAt({ route: "roles", guildId: "9" }), 0);
  }
});

Deno.test("limits open again after a wait that was waited out, and keep a later one", () => {
  const clock = testClock();
  const limits = createLimits(clock);
  limits.learn(member, answer(200, left(0, 1), {}));
  const until = limits.openAt(member);
  limits.learn(member, answer(429, {}, { retry_after: 4 }));
  limits.waited(member, until);
  assert.equal(limits.openAt(member), clock.now() + 4_000);
  limits.waited(member, clock.now() + 4_000);
  assert.equal(limits.openAt(member), 0);
});

Deno.test("retryAfter reads body or header and does not believe what is no wait", () => {
  assert.equal(retryAfter(answer(429, { "retry-after": "7" }, { retry_after: 0.5 })), 500);
  assert.equal(retryAfter(answer(429, { "retry-after": "7" })), 7_000);
  assert.equal(retryAfter(answer(429, {})), null);
  assert.equal(retryAfter(answer(429, { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" })), null);
  assert.equal(retryAfter(answer(429, {}, { retry_after: -1 })), null);
  assert.equal(retryAfter(answer(429, {}, { retry_after: 1e12 })), 3_600_000);
});
