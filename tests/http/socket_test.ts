import assert from "node:assert/strict";
import { dataDirAt } from "../../server/data_dir.ts";
import { listen } from "../../server/listen.ts";
import { createLog } from "../../server/log.ts";
import { eventually } from "../support/world.ts";
import { OPERATOR } from "../support/server_process.ts";
import { type ClockedWorld, openSession, withWorld } from "./support.ts";

interface Served {
  readonly world: ClockedWorld;
  readonly port: number;
  readonly socket: string;
  readonly log: string[];
}

/** A world behind its real listeners: a TCP port and the operator's socket. */
function served(work: (at: Served) => Promise<void>): Promise<void> {
  return withWorld(async (world) => {
    const folder = await Deno.makeTempDir({ prefix: "orgpods-socket-" });
    const dir = dataDirAt(folder);
    const log: string[] = [];
    const listening = await listen(
      world.app,
      world.config,
      dir,
      createLog((line) => void log.push(line), world.clock.now),
    );
    try {
      await work({ world, port: Number(new URL(listening.url).port), socket: dir.socket, log });
    } finally {
      await listening.close(1_000);
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** Sends bytes as they are over TCP and gives back what comes until the server closes. */
async function raw(port: number, ...parts: string[]): Promise<string> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const answer = new Response(conn.readable).text();
  const writer = conn.writable.getWriter();
  for (const part of parts) await writer.write(new TextEncoder().encode(part));
  return await answer;
}

const head = (line: string, ...headers: string[]) =>
  [line, "Host: 127.0.0.1", "Connection: close", ...headers, "", ""].join("\r\n");
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

async function sendAll(conn: Deno.Conn, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
}

function ignoreClosed(error: unknown): void {
  const { BadResource, BrokenPipe, ConnectionReset, Interrupted } = Deno.errors;
  if (![BadResource, BrokenPipe, ConnectionReset, Interrupted].some((kind) => error instanceof kind)) throw error;
}

Deno.test("the operator is who comes over the socket, and nobody who comes over TCP", () =>
  served(async ({ port, socket }) => {
    const status = head("GET /api/operator/status HTTP/1.1");
    const overTcp = await raw(port, status);
    assert.equal(statusOf(overTcp), 403);
    assert.match(overTcp, /"code":"not_the_operator"/);
    assert.equal(Deno.statSync(socket).mode! & 0o777, 0o600);
    using client = Deno.createHttpClient({ proxy: { transport: "unix", path: socket } });
    const overSocket = await fetch(OPERATOR + "/api/operator/status", { client });
    assert.equal(overSocket.status, 200);
    assert.equal((await overSocket.json()).version, "0.0.0-test");
    const member = await fetch(OPERATOR + "/api/compute/org/me/pods", { client });
    assert.deepEqual([member.status, (await member.json()).code], [403, "no_discord_user"]);
  }));

Deno.test("over TCP a body that is too large is refused, whatever length it claims", () =>
  served(async ({ world, port }) => {
    const token = await world.token("officer", "officer");
    const authorization = `Authorization: Bearer ${token}`;
    const put = "PUT /api/compute/org/settings HTTP/1.1";
    const piece = new TextEncoder().encode(`10000\r\n${" ".repeat(0x10000)}\r\n`);
    const bodies: [string, Uint8Array<ArrayBuffer>, number][] = [
      ["Content-Length: 99999999", new TextEncoder().encode("{}"), 1],
      ["Transfer-Encoding: chunked", piece, 20],
    ];
    for (const [length, part, count] of bodies) {
      const conn = await Deno.connect({ hostname: "127.0.0.1", port });
      await sendAll(conn, new TextEncoder().encode(head(put, authorization, length)));
      // The server stops reading once it has had enough, so the rest may find no room and no taker.
      const sending = (async () => {
        for (let i = 0; i < count; i++) await sendAll(conn, part);
      })().catch(ignoreClosed);
      const buffer = new Uint8Array(4_096);
      const size = await conn.read(buffer);
      assert.equal(statusOf(new TextDecoder().decode(buffer.subarray(0, size ?? 0))), 413, length);
      conn.close();
      await sending;
    }
    const settings = await world.call("GET", "/api/compute/org/settings", { as: "operator" });
    assert.equal(settings.status, 200);
  }));

Deno.test("a client that goes away in the middle of its body changes nothing and is no error of the server", () =>
  served(async ({ world, port, log }) => {
    const token = await world.token("officer", "officer");
    let ended = 0;
    const inner = world.app.fetch;
    Object.assign(world.app, {
      fetch: (...parameters: Parameters<typeof inner>) => inner(...parameters).finally(() => ended++),
    });
    const halves = [
      ["Content-Length: 1000", '{"pod_image": "half'],
      ["Transfer-Encoding: chunked", '13\r\n{"pod_image": "half\r\n5\r\nha'],
    ];
    for (const [length = "", half = ""] of halves) {
      const before = ended;
      const conn = await Deno.connect({ hostname: "127.0.0.1", port });
      const start = head("PUT /api/compute/org/settings HTTP/1.1", `Authorization: Bearer ${token}`, length);
      await sendAll(conn, new TextEncoder().encode(start + half));
      conn.close();
      await eventually(() => ended > before, "the request ends");
    }
    const bad = [...log, ...world.logLines].filter((line) => line.includes('"level":"error"'));
    assert.deepEqual(bad, []);
    const settings = await world.call("GET", "/api/compute/org/settings", { as: "operator" });
    assert.equal(settings.json.settings.pod_image, null);
  }));

Deno.test("odd request lines over TCP get a refusal, and the server goes on", () =>
  served(async ({ port, log, world }) => {
    const lines: [string, number[]][] = [
      ["GET //api/compute/org/pods HTTP/1.1", [404]],
      ["GET /api/compute/org/../../operator/status HTTP/1.1", [403, 404]],
      ["GET /api/compute/org/pods/%2e%2e/settings HTTP/1.1", [401, 404]],
      ["GET /api/compute/org/pods/%00 HTTP/1.1", [401]],
      ["GET http://evil.example/health HTTP/1.1", [200, 400]],
      ["OPTIONS * HTTP/1.1", [400, 404, 405]],
      ["HEAD /health HTTP/1.1", [200]],
      [`GET /${"a".repeat(60_000)} HTTP/1.1`, [404, 414, 431]],
    ];
    for (const [line, wanted] of lines) {
      const answer = await raw(port, head(line));
      assert.ok(wanted.includes(statusOf(answer)), `${line.slice(0, 60)}: ${answer.slice(0, 200)}`);
    }
    assert.match(await raw(port, head("GET /health HTTP/1.1")), /"status":"ok"/);
    assert.deepEqual([...log, ...world.logLines].filter((line) => line.includes('"level":"error"')), []);
  }));

Deno.test("a session writes over TCP only when Origin is the address that was asked", () =>
  served(async ({ world, port }) => {
    const cookie = `Cookie: ${openSession(world, "officer")}`;
    const put = (host: string, origin: string) =>
      raw(
        port,
        [
          "PUT /api/compute/org/settings HTTP/1.1",
          `Host: ${host}`,
          `Origin: ${origin}`,
          cookie,
          "Connection: close",
          "Content-Length: 20",
          "",
          '{"pod_image": "own"}',
        ].join("\r\n"),
      );
    assert.equal(statusOf(await put(`127.0.0.1:${port}`, `http://127.0.0.1:${port}`)), 200);
    assert.equal(
      statusOf(await put("pods.example.org", "https://pods.example.org")),
      200,
      "behind a proxy that keeps Host",
    );
    assert.equal(statusOf(await put(`127.0.0.1:${port}`, "http://127.0.0.1:1")), 403);
    assert.equal(statusOf(await put(`127.0.0.1:${port}`, `http://localhost:${port}`)), 403);
  }));
