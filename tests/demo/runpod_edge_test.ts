/** F31 to F34: faults of any route, over a real socket where the connection matters. */
import assert from "node:assert/strict";
import { apiHeaders, gpuPod, replyOf, withBench } from "./runpod_helper.ts";

Deno.test("429 tells its wait in different places when F31 is on", () =>
  withBench(async ({ api, fake }) => {
    const told = async (variant: string) => {
      fake.faults.on({ fault: "F31", variant, times: 1, ms: 7_000 });
      const got = await api("GET", "/pods");
      assert.equal(got.status, 429);
      assert.equal(got.json.detail, "rate limit exceeded for the minute window");
      assert.equal(got.headers.get("content-type"), "application/problem+json");
      return [got.headers.get("retry-after"), got.headers.get("ratelimit")];
    };
    const [after, limit] = await told("minute");
    assert.equal(after, "7");
    assert.match(limit ?? "", /^"minute";r=0;t=7, "hour";r=[1-9]\d*;t=\d{2,}, "day";r=[1-9]\d*;t=\d{2,}$/);
    const [shortAfter, hour] = await told("hour");
    assert.equal(shortAfter, "1");
    assert.match(hour ?? "", /^"minute";r=0;t=1, "hour";r=0;t=7, /);
    assert.deepEqual(await told("retry-after-only"), ["7", null]);
    assert.deepEqual(await told("bare"), [null, null]);
    assert.equal((await api("GET", "/pods")).status, 200);
  }));

Deno.test("429 on create makes no pod (F31)", () =>
  withBench(async ({ api, fake }) => {
    fake.faults.on({ fault: "F31", times: 1, on: "POST /pods" });
    assert.equal((await api("GET", "/pods")).status, 200);
    assert.equal((await api("POST", "/pods", gpuPod())).status, 429);
    assert.deepEqual(fake.pods.list(), []);
  }));

Deno.test("the edge answers with HTML or nothing when F32 is on", () =>
  withBench(async ({ api, fake }) => {
    const cases: [string, number, boolean][] = [
      ["html-502", 502, false],
      ["html-524", 524, true],
      ["empty-503", 503, false],
      ["agent-403", 403, false],
    ];
    for (const [variant, status, made] of cases) {
      const before = fake.pods.list().length;
      fake.faults.on({ fault: "F32", variant, times: 1 });
      const got = await api("POST", "/pods", gpuPod());
      assert.equal(got.status, status);
      assert.equal(fake.pods.list().length - before, made ? 1 : 0, variant);
      if (variant === "empty-503") assert.equal(got.text, "");
      else {
        assert.match(got.headers.get("content-type") ?? "", /^text\/html/);
        assert.ok(got.text.length > 10_000);
      }
    }
  }));

Deno.test("the edge refuses a missing or default agent with code 1010 (F32)", () =>
  withBench(async ({ api }) => {
    for (const agent of ["", "Deno/2.9.6", "python-urllib/3.11", "node"]) {
      const got = await api("GET", "/pods", undefined, { "user-agent": agent });
      assert.equal(got.status, 403, agent);
      assert.match(got.text, /1010/);
    }
    assert.equal((await api("GET", "/pods", undefined, { "user-agent": "orgpods/0.1.0" })).status, 200);
  }));

Deno.test("bodies have another shape when F33 is on, and unreadable 2xx were carried out", () =>
  withBench(async ({ api, fake }) => {
    fake.faults.on({ fault: "F33", variant: "error", times: 1, status: 502 });
    const error = await api("POST", "/pods", gpuPod());
    assert.deepEqual([error.status, Object.keys(error.json)], [502, ["error"]]);
    fake.faults.on({ fault: "F33", variant: "message", times: 1 });
    const message = await api("POST", "/pods", gpuPod());
    assert.deepEqual([message.status, Object.keys(message.json)], [500, ["message"]]);
    assert.deepEqual(fake.pods.list(), []);
    fake.faults.on({ fault: "F33", variant: "not-json", times: 1 });
    await assert.rejects(api("POST", "/pods", gpuPod()), SyntaxError);
    fake.faults.on({ fault: "F33", variant: "html-200", times: 1 });
    const page = await api("POST", "/pods", gpuPod());
    assert.equal(page.status, 200);
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
    assert.equal(fake.pods.list().length, 2);
  }));

Deno.test("answers come late, cut, not at all or as 410 when F34 is on (socket)", () =>
  withBench(async ({ fake }) => {
    const { origin } = await fake.listen();
    const get = async (ms?: number) => {
      const limit = ms === undefined ? {} : { signal: AbortSignal.timeout(ms) };
      return await replyOf(await fetch(`${origin}/v2/pods`, { headers: apiHeaders(), ...limit }));
    };
    fake.faults.on({ fault: "F34", variant: "slow", times: 1, ms: 60_000 });
    await assert.rejects(get(150), { name: "TimeoutError" });
    fake.faults.on({ fault: "F34", variant: "slow", times: 1, ms: 5 });
    assert.equal((await get()).status, 200);
    fake.faults.on({ fault: "F34", variant: "cut", times: 1 });
    const cut = await fetch(`${origin}/v2/pods`, { headers: apiHeaders() });
    assert.equal(cut.status, 200);
    await assert.rejects(cut.text());
    fake.faults.on({ fault: "F34", variant: "refused-like", times: 1 });
    await assert.rejects(get());
    fake.faults.on({ fault: "F34", variant: "410", times: 1 });
    assert.equal((await get()).status, 410);
    assert.equal((await get()).status, 200);
  }));

Deno.test("connection faults behave alike without a socket (F13, F34)", () =>
  withBench(async ({ api, fake }) => {
    fake.faults.on({ fault: "F34", variant: "cut", times: 1 });
    await assert.rejects(api("GET", "/pods"), TypeError);
    fake.faults.on({ fault: "F13", variant: "cut", times: 1 });
    await assert.rejects(api("POST", "/pods", gpuPod()), TypeError);
    assert.equal(fake.pods.list().length, 1);
    fake.faults.on({ fault: "F13", variant: "hang", times: 1 });
    const signal = AbortSignal.timeout(50);
    const request = new Request("http://127.0.0.1/v2/pods", {
      method: "POST",
      body: JSON.stringify(gpuPod()),
      headers: apiHeaders({ "content-type": "application/json" }),
      signal,
    });
    await assert.rejects(fake.fetch(request), { name: "TimeoutError" });
    fake.faults.on({ fault: "F34", variant: "slow", times: 1, ms: 600_000 });
    const waiting = assert.rejects(api("GET", "/pods"));
    await fake.close();
    await waiting;
  }));

Deno.test("a connection is refused when the stand-in is closed (F34)", () =>
  withBench(async ({ fake }) => {
    const { origin, close } = await fake.listen();
    await close();
    await assert.rejects(fetch(`${origin}/v2/pods`, { headers: apiHeaders() }), TypeError);
  }));

Deno.test("listener serves keep-alive, chunked and HEAD requests and drops what is not HTTP", () =>
  withBench(async ({ fake }) => {
    const { origin } = await fake.listen();
    const port = Number(new URL(origin).port);
    const talk = async (text: string): Promise<string> => {
      using conn = await Deno.connect({ hostname: "127.0.0.1", port });
      await conn.write(new TextEncoder().encode(text));
      return await new Response(conn.readable).text();
    };
    const head = `Authorization: Bearer rpa_full_key_0001\r\nUser-Agent: t/1\r\nHost: x\r\n`;
    const json = JSON.stringify(gpuPod());
    const chunks = `${json.slice(0, 5)}|${json.slice(5)}`.split("|")
      .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("");
    const both = await talk(
      `POST /v2/pods HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n` +
        `HEAD /v2/pods HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
    );
    assert.match(both, /^HTTP\/1\.1 201 Created\r\n/);
    assert.match(both, /HTTP\/1\.1 405 Method Not Allowed\r\n[^{]*$/);
    assert.equal(await talk("hello\r\n\r\n"), "");
    assert.equal(await talk(`GET /v2/pods HTTP/1.1\r\nBad Header: x\r\n\r\n`), "");
    assert.equal(await talk(`POST /v2/pods HTTP/1.1\r\n${head}Content-Length: 99999999\r\n\r\n`), "");
    assert.equal(fake.pods.list().length, 1);
  }));
