import assert from "node:assert/strict";
import type { RunpodClient } from "../../server/runpod/client.ts";
import { systemClock } from "../../server/clock.ts";
import { createBody, createPace } from "../../server/runpod/client.ts";
import { failure, problem, rawPod, testClient, withRawServer, withServer } from "./support.ts";

const OK = () => Response.json(rawPod());
const DOWN = () => problem(502, "bad gateway");
const BODY = createBody({
  name: "n",
  image: "i",
  cloud: "SECURE",
  diskGb: 20,
  env: {},
  hardware: { kind: "cpu", flavor: "cpu3c", vcpuCount: 2 },
});

const REPEATED: readonly [string, (client: RunpodClient) => Promise<unknown>][] = [
  ["get", (c) => c.get("abc123def456")],
  ["stop", (c) => c.act("abc123def456", "stop")],
  ["terminate", (c) => c.terminate("abc123def456")],
  ["openapi", (c) => c.openapi()],
];

for (const [name, call] of REPEATED) {
  Deno.test(`client.${name} succeeds when RunPod fails twice first`, async () => {
    await withServer([DOWN, () => new Response(null, { status: 503 }), OK], async (server) => {
      const { client, lines } = testClient(server.url);
      await call(client);
      assert.equal(server.seen.length, 3);
      assert.deepEqual(lines.map((line) => line.fields["status"]), [502, 503]);
    });
  });
}

const ONCE: readonly [string, (client: RunpodClient) => Promise<unknown>][] = [
  ["create", (c) => c.create(BODY)],
  ["patch", (c) => c.patch("abc123def456", { env: {} })],
  ["start", (c) => c.act("abc123def456", "start")],
  ["restart", (c) => c.act("abc123def456", "restart")],
];

for (const [name, call] of ONCE) {
  for (
    const [what, answer] of [["502", DOWN], [
      "429",
      () => problem(429, "slow down", { headers: { "retry-after": "1" } }),
    ]] as const
  ) {
    Deno.test(`client.${name} is sent once when RunPod answers ${what}`, async () => {
      await withServer([answer, OK], async (server) => {
        const error = await failure(call(testClient(server.url).client));
        assert.equal(error.status, Number(what));
        assert.equal(error.ambiguous, what === "502");
        assert.equal(server.seen.length, 1);
      });
    });
  }
}

Deno.test("client gives up with the last failure when all attempts are used", async () => {
  await withServer([DOWN, DOWN, () => problem(500, "third"), OK], async (server) => {
    const error = await failure(testClient(server.url).client.get("abc123def456"));
    assert.equal(error.detail, "third");
    assert.equal(server.seen.length, 3);
  });
});

Deno.test("client does not repeat when RunPod refuses or does not know the call", async () => {
  for (const status of [400, 401, 403, 404, 409, 410, 422, 501]) {
    await withServer([() => problem(status, "no"), OK], async (server) => {
      await failure(testClient(server.url).client.get("abc123def456"));
      assert.equal(server.seen.length, 1, `status ${status}`);
    });
  }
});

Deno.test("client.get is sent again when the connection breaks", async () => {
  await withRawServer("", "close", async (server) => {
    const error = await failure(testClient(server.url).client.get("p1"));
    assert.equal(error.kind, "network");
    assert.equal(server.connections(), 3);
  });
});

Deno.test("client.get is sent again when one attempt takes too long and the call has time left", async () => {
  const waiting = Promise.withResolvers<Response>();
  await withServer([() => waiting.promise, OK], async (server) => {
    const { client, lines } = testClient(server.url, { limits: { attemptMs: 50 } });
    assert.equal((await client.get("abc123def456")).id, "abc123def456");
    assert.equal(server.seen.length, 2);
    assert.equal(lines[0]?.fields["detail"], "RunPod did not answer within 0.05 s");
    waiting.resolve(new Response());
  });
});

Deno.test("client does not repeat when the call's time limit leaves no room for it", async () => {
  await withServer([DOWN, OK], async (server) => {
    const { client } = testClient(server.url, { limits: { leastMs: 5_000 } });
    const error = await failure(client.list({ timeoutMs: 4_000 }));
    assert.equal(error.status, 502);
    assert.equal(server.seen.length, 1);
  });
});

Deno.test("client.get waits and asks again when a 429 names a short time", async () => {
  const busy = () => problem(429, "rate limit exceeded", { headers: { "retry-after": "1" } });
  await withServer([busy, OK], async (server) => {
    assert.equal((await testClient(server.url).client.get("abc123def456")).id, "abc123def456");
    assert.equal(server.seen.length, 2);
  });
});

Deno.test("client.get fails at once with the waiting time when a 429 names a long one", async () => {
  const busy = () => problem(429, "rate limit exceeded for the minute window", { headers: { "retry-after": "12" } });
  await withServer([busy, OK], async (server) => {
    const error = await failure(testClient(server.url).client.get("abc123def456"));
    assert.equal(error.kind, "rate_limited");
    assert.equal(error.retryAfter, 12);
    assert.equal(error.ambiguous, false);
    assert.equal(server.seen.length, 1);
  });
});

Deno.test("client does not repeat when another call has used the rate limit up meanwhile", async () => {
  await withServer([DOWN, OK], async (server) => {
    const waits = [0, 0, 60_000];
    const pace = { ...createPace(systemClock), waitMs: () => waits.shift() ?? 0 };
    const error = await failure(testClient(server.url, { pace }).client.get("abc123def456"));
    assert.equal(error.status, 502);
    assert.equal(server.seen.length, 1);
  });
});
