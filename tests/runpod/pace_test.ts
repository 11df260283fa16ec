import assert from "node:assert/strict";
import { createPace } from "../../server/runpod/client.ts";
import { failure, problem, rawPod, testClient, withServer } from "./support.ts";

const START = Date.parse("2026-09-01T10:00:00Z");

function setClock(): { now: () => number; at: number } {
  const clock = { at: START, now: () => clock.at };
  return clock;
}

const POLICY = '"minute";q=60;w=60, "hour";q=3000;w=3600, "day";q=50000;w=86400';

Deno.test("pace knows nothing when no answer told a limit", () => {
  const pace = createPace(setClock());
  assert.equal(pace.observe(200, new Headers()), null);
  assert.equal(pace.remaining(), null);
  assert.equal(pace.waitMs(), 0);
  assert.deepEqual(pace.windows(), []);
});

Deno.test("pace tells the fewest calls left when several windows are told", () => {
  const clock = setClock();
  const pace = createPace(clock);
  const limit = '"minute";r=41;t=12, "hour";r=2800;t=1812, "day";r=49500;t=45012';
  pace.observe(200, new Headers({ "ratelimit-policy": POLICY, "ratelimit": limit }));
  assert.equal(pace.remaining(), 41);
  assert.deepEqual(pace.windows()[0], { name: "minute", quota: 60, remaining: 41, resetsAt: START + 12_000 });
  clock.at += 12_000;
  assert.equal(pace.remaining(), 2800);
});

Deno.test("pace blocks until the reset when a window is used up, also after a success", () => {
  const clock = setClock();
  const pace = createPace(clock);
  pace.observe(200, new Headers({ "ratelimit": '"minute";r=0;t=12, "hour";r=2800;t=1812' }));
  assert.equal(pace.waitMs(), 12_000);
  assert.equal(pace.remaining(), 0);
  clock.at += 12_000;
  assert.equal(pace.waitMs(), 0);
  assert.equal(pace.remaining(), 2800);
});

Deno.test("pace asks for the longest wait when a 429 tells several", () => {
  const pace = createPace(setClock());
  const headers = { "retry-after": "12", "ratelimit": '"minute";r=0;t=9, "hour";r=0;t=100, "day";r=5;t=45012' };
  assert.equal(pace.observe(429, new Headers(headers)), 100);
  assert.equal(pace.waitMs(), 100_000);
  const other = createPace(setClock());
  assert.equal(other.observe(429, new Headers({ ...headers, "retry-after": "130" })), 130);
});

Deno.test("pace lets one call try after five minutes when a day is used up", () => {
  const clock = setClock();
  const pace = createPace(clock);
  assert.equal(pace.observe(429, new Headers({ "ratelimit": '"day";r=0;t=45012' })), 45_012);
  assert.equal(pace.waitMs(), 5 * 60_000);
});

Deno.test("pace waits five seconds when a 429 tells nothing", () => {
  assert.equal(createPace(setClock()).observe(429, new Headers()), 5);
});

Deno.test("pace reads a date when Retry-After is one", () => {
  const pace = createPace(setClock());
  assert.equal(pace.observe(429, new Headers({ "retry-after": "Tue, 01 Sep 2026 10:00:30 GMT" })), 30);
});

Deno.test("pace keeps the lower count when an older answer arrives late", () => {
  const pace = createPace(setClock());
  pace.observe(200, new Headers({ "ratelimit": '"minute";r=3;t=12' }));
  pace.observe(200, new Headers({ "ratelimit": '"minute";r=7;t=13' }));
  assert.equal(pace.remaining(), 3);
});

Deno.test("pace ignores what it cannot read when headers are odd", () => {
  const odd = [
    "",
    ",,;",
    '"minute"',
    '"minute";r=x;t=1',
    '"minute";r=-1;t=5',
    '"a b";r=0;t=5',
    '"m";r=0',
    "x".repeat(5_000),
  ];
  for (const ratelimit of odd) {
    const pace = createPace(setClock());
    pace.observe(200, new Headers({ ratelimit, "retry-after": "soon" }));
    assert.equal(pace.waitMs(), 0, ratelimit);
    assert.equal(pace.remaining(), null, ratelimit);
  }
});

Deno.test("pace takes the window's length when a limit tells no reset", () => {
  const pace = createPace(setClock());
  pace.observe(200, new Headers({ "ratelimit-policy": POLICY, "ratelimit": '"minute";r=0' }));
  assert.equal(pace.waitMs(), 60_000);
});

Deno.test("clients of one key fail without a call when the account's limit is used up", async () => {
  const last = () => Response.json(rawPod(), { headers: { "ratelimit": '"minute";r=0;t=40' } });
  await withServer([last], async (server) => {
    const one = testClient(server.url);
    const two = testClient(server.url, { pace: one.pace });
    await one.client.get("abc123def456");
    for (const call of [two.client.list(), two.client.act("p1", "stop"), two.client.act("p1", "start")]) {
      const error = await failure(call);
      assert.equal(error.kind, "rate_limited");
      assert.equal(error.status, null);
      assert.ok(error.retryAfter !== null && error.retryAfter > 30 && error.retryAfter <= 40);
      assert.equal(error.ambiguous, false);
    }
    assert.equal(server.seen.length, 1);
  });
});

Deno.test("client waits for its turn when the limit ends within the time of a repeatable call", async () => {
  const last = () => Response.json(rawPod(), { headers: { "ratelimit": '"minute";r=0;t=1' } });
  await withServer([last, () => Response.json(rawPod())], async (server) => {
    const { client } = testClient(server.url);
    await client.get("abc123def456");
    assert.equal((await failure(client.act("abc123def456", "start"))).kind, "rate_limited");
    assert.equal((await client.get("abc123def456")).id, "abc123def456");
    assert.equal(server.seen.length, 2);
  });
});

Deno.test("client does not keep stops back when only the balance is rate limited", async () => {
  const busy = () => problem(429, "slow", { headers: { "retry-after": "60" } });
  await withServer([busy, () => Response.json(rawPod())], async (server) => {
    const { client } = testClient(server.url);
    assert.equal((await failure(client.balance())).kind, "rate_limited");
    assert.equal((await client.act("abc123def456", "stop"))?.id, "abc123def456");
  });
});
