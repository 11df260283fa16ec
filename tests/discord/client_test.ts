import assert from "node:assert/strict";
import { createClient } from "../../server/discord/client.ts";
import { checkedEndpoint } from "../../server/discord/endpoint.ts";
import { MAX_BODY, send } from "../../server/discord/request.ts";
import { json, page, type Script, scripted, testClock, TOKEN } from "./support.ts";

const route = { route: "test", guildId: "1", path: ["a b", "c/../d"], query: { query: "x&y=z" } };

function clientOf(apiUrl: string) {
  const endpoint = checkedEndpoint("X", apiUrl);
  return createClient({ endpoint, version: "1.2.3", authorization: `Bot ${TOKEN}`, clock: testClock(), fetch });
}

async function get(script: Script, calls = 1) {
  await using server = scripted(script);
  const client = clientOf(server.apiUrl);
  const answers = [];
  for (let i = 0; i < calls; i++) answers.push(await client.get(route));
  return { last: answers.at(-1)!, seen: server.seen };
}

const limited = (retry_after: number, more = {}) =>
  json({ message: "You are being rate limited.", retry_after, ...more }, 429);

Deno.test("client sends agent, credential and an encoded address", async () => {
  const { last, seen } = await get(() => json({ fine: true }));
  assert.deepEqual(last.kind === "json" && last.body, { fine: true });
  const [request] = seen;
  assert.equal(request!.headers.get("user-agent"), "DiscordBot (https://github.com/orgpods/orgpods, 1.2.3)");
  assert.equal(request!.headers.get("authorization"), `Bot ${TOKEN}`);
  assert.equal(request!.path, "/a%20b/c%2F..%2Fd");
  assert.deepEqual([...request!.query], [["query", "x&y=z"]]);
});

Deno.test("client asks once more after a 429 with a short wait", async () => {
  const { last, seen } = await get((_, count) => count === 0 ? limited(0.02) : json({}));
  assert.equal(last.kind, "json");
  assert.equal(seen.length, 2);
});

Deno.test("client gives up after the second 429 and after a second 502", async () => {
  for (const status of [429, 502]) {
    const { last, seen } = await get(() => status === 429 ? limited(0.01) : page(502));
    assert.equal("status" in last && last.status, status);
    assert.equal(seen.length, 2);
  }
});

Deno.test("client asks once more after a 502, not after other answers", async () => {
  assert.equal((await get((_, count) => count === 0 ? page(502) : json({}))).last.kind, "json");
  for (const status of [400, 403, 404, 500, 503, 504]) {
    assert.equal((await get(() => page(status))).seen.length, 1, String(status));
  }
});

Deno.test("client neither waits for a long rate limit nor asks again before its end", async () => {
  const { last, seen } = await get(() => limited(5.1), 2);
  assert.deepEqual(last, { kind: "held", waitMs: 5_100 });
  assert.equal(seen.length, 1);
});

Deno.test("client does not ask again after a 429 that names no wait", async () => {
  const { last, seen } = await get(() => page(429));
  assert.equal("status" in last && last.status, 429);
  assert.equal(seen.length, 1);
});

Deno.test("client waits for the reset of a bucket that has nothing left", async () => {
  const headers = (after: string) => ({ "x-ratelimit-remaining": "0", "x-ratelimit-reset-after": after });
  const short = await get((_, count) => json({ count }, 200, headers("0.02")), 2);
  assert.deepEqual(short.last.kind === "json" && short.last.body, { count: 1 });
  const long = await get(() => json({}, 200, headers("30")), 2);
  assert.deepEqual(long.last, { kind: "held", waitMs: 30_000 });
  assert.equal(long.seen.length, 1);
});

Deno.test("client does not carry the credential along a redirect", async () => {
  await using other = scripted(() => json({}));
  const { last } = await get(() => new Response(null, { status: 302, headers: { location: other.origin } }));
  assert.equal("status" in last && last.status, 302);
  assert.equal(other.seen.length, 0);
});

Deno.test("client takes only JSON that says so and is so", async () => {
  const typed = (body: string, type: string) => new Response(body, { headers: { "content-type": type } });
  assert.equal((await get(() => typed("{}", "text/html"))).last.kind, "bare");
  assert.equal((await get(() => typed("{", "application/json"))).last.kind, "bare");
  assert.equal((await get(() => typed("", "application/json"))).last.kind, "bare");
  assert.equal((await get(() => typed("{}", "Application/JSON; charset=utf-8"))).last.kind, "json");
});

Deno.test("client stops reading a body that is too large", async () => {
  const block = new Uint8Array(1024 * 1024).fill(0x20);
  let left = 4 * MAX_BODY;
  const long = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      left -= block.byteLength;
      return left > 0 ? controller.enqueue(block) : controller.close();
    },
  });
  const { last } = await get(() => new Response(long, { headers: { "content-type": "application/json" } }));
  assert.deepEqual(last, { kind: "none", why: "too_large" });
});

Deno.test("client answers instead of throwing when the connection is cut or refused", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{";
  for (const reply of ["", head]) {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const port = (listener.addr as Deno.NetAddr).port;
    const served = (async () => {
      using connection = await listener.accept();
      await connection.read(new Uint8Array(4096));
      if (reply !== "") await connection.write(new TextEncoder().encode(reply));
    })();
    const answer = await clientOf(`http://127.0.0.1:${port}`).get(route);
    await served;
    assert.equal(answer.kind === "none" && answer.why, "network", JSON.stringify(reply));
  }
  const gone = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = gone.addr as Deno.NetAddr;
  gone.close();
  const answer = await clientOf(`http://127.0.0.1:${port}`).get(route);
  assert.equal(answer.kind === "none" && answer.why, "network");
});

Deno.test("send tells a time limit from a broken network, before and inside the body", async () => {
  for (const started of [false, true]) {
    const stop = new AbortController();
    const release = Promise.withResolvers<void>();
    await using server = scripted(async () => {
      if (started) {
        setTimeout(() => stop.abort(), 20);
        const body = new ReadableStream<Uint8Array>({ start: (c) => c.enqueue(new TextEncoder().encode("{")) });
        return new Response(body, { headers: { "content-type": "application/json" } });
      }
      stop.abort();
      await release.promise;
      return json({});
    });
    const url = new URL(server.apiUrl);
    const answer = await send({ fetch, url, agent: "x", authorization: "y", signal: stop.signal });
    release.resolve();
    assert.deepEqual(answer, { kind: "none", why: "timeout" });
  }
});

Deno.test("send throws on what is no failure of the network", async () => {
  const broken = () => Promise.reject(new RangeError("a fault of this program"));
  const o = {
    url: new URL("https://discord.com"),
    agent: "x",
    authorization: "y",
    signal: new AbortController().signal,
  };
  await assert.rejects(send({ ...o, fetch: broken }), RangeError);
});
