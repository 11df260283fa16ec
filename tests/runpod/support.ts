/** Small loopback servers that say what a test tells them to, and a client that talks to them with short waits. */
import assert from "node:assert/strict";
import { type Clock, systemClock } from "../../server/clock.ts";
import type { Log } from "../../server/log.ts";
import {
  createPace,
  createRunpodClient,
  type Pace,
  type RunpodClient,
  RunpodError,
} from "../../server/runpod/client.ts";
import type { Limits } from "../../server/runpod/request.ts";

export const KEY = "rpa_TESTKEY0123456789abcdefghijklmnop";

export interface Seen {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** An answer: made at once, or by a function that may wait. */
export type Script = Response | (() => Response | Promise<Response>);

export interface Scripted {
  /** Base URL, ending in /v2. */
  readonly url: string;
  readonly seen: Seen[];
}

/** Runs `work` with a server that gives the scripted answers in order, then 599. */
export async function withServer(scripts: readonly Script[], work: (server: Scripted) => Promise<void>): Promise<void> {
  const seen: Seen[] = [];
  const left = [...scripts];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = await request.text();
    seen.push({ method: request.method, path: pathname + search, headers: request.headers, body });
    const script = left.shift();
    if (script === undefined) return new Response("no more answers", { status: 599 });
    return typeof script === "function" ? await script() : script;
  });
  try {
    await work({ url: `http://127.0.0.1:${server.addr.port}/v2`, seen });
  } finally {
    await server.shutdown();
  }
}

/** Runs `work` with a server that reads each request, sends these bytes, and then closes, or stays silent. */
export async function withRawServer(
  bytes: string,
  then: "close" | "hang",
  work: (server: { url: string; connections: () => number }) => Promise<void>,
): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  let count = 0;
  const serve = async () => {
    for await (const connection of listener) {
      count++;
      open.add(connection);
      await connection.read(new Uint8Array(64 * 1024));
      if (bytes !== "") await connection.write(new TextEncoder().encode(bytes));
      if (then === "close") {
        open.delete(connection);
        connection.close();
      }
    }
  };
  const done = serve();
  try {
    await work({ url: `http://127.0.0.1:${listener.addr.port}/v2`, connections: () => count });
  } finally {
    listener.close();
    await done;
    for (const connection of open) connection.close();
  }
}

/** The same rules as in production with waits that a test can afford. */
export const QUICK: Limits = {
  attempts: 3,
  attemptMs: 60_000,
  firstWaitMs: 1,
  maxWaitMs: 2_000,
  leastMs: 1,
  callMs: 60_000,
};

export interface Lines {
  readonly log: Log;
  readonly lines: { message: string; fields: Record<string, unknown> }[];
}

export function collectLog(): Lines {
  const lines: Lines["lines"] = [];
  const add = (message: string, fields: Record<string, unknown> = {}) => void lines.push({ message, fields });
  return { log: { info: add, warn: add, error: add }, lines };
}

export interface TestClient {
  readonly client: RunpodClient;
  readonly pace: Pace;
  readonly lines: Lines["lines"];
}

export function testClient(
  url: string,
  o: { clock?: Clock; limits?: Partial<Limits>; apiKey?: string; pace?: Pace; fetch?: typeof fetch } = {},
): TestClient {
  const clock = o.clock ?? systemClock;
  const pace = o.pace ?? createPace(clock);
  const { log, lines } = collectLog();
  const client = createRunpodClient({
    baseUrl: url,
    apiKey: o.apiKey ?? KEY,
    version: "1.2.3",
    clock,
    log,
    pace,
    limits: { ...QUICK, ...o.limits },
    ...(o.fetch ? { fetch: o.fetch } : {}),
  });
  return { client, pace, lines };
}

/** The RunpodError that `call` ends with. */
export async function failure(call: Promise<unknown>): Promise<RunpodError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof RunpodError, `expected a RunpodError, got ${error}`);
    return error;
  }
  assert.fail("expected the call to fail");
}

export function problem(
  status: number,
  detail: string,
  more: { errors?: string[]; headers?: HeadersInit } = {},
): Response {
  const body = { title: "Title", status, detail, ...(more.errors ? { errors: more.errors } : {}) };
  const headers = new Headers(more.headers);
  headers.set("content-type", "application/problem+json");
  return new Response(JSON.stringify(body), { status, headers });
}

/** A pod as RunPod's v2 specification shows it. */
export function rawPod(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: "abc123def456",
    name: "workshop-x1",
    status: "RUNNING",
    actions: ["stop", "restart", "terminate"],
    image: "runpod/base:1",
    args: "",
    disk: 20,
    mounts: {},
    ports: ["22/tcp"],
    env: { HF_HOME: "/workspace/hf" },
    registry: null,
    gpu: { id: "NVIDIA RTX A4000", count: 1, vcpuCount: 8, memory: 32 },
    cloud: "SECURE",
    dataCenterId: "EU-RO-1",
    cudaVersion: "12.8",
    ssh: { proxy: null, direct: { host: "203.0.113.7", port: 17740, username: "root", command: "ssh" } },
    template: null,
    cost: 0.25,
    locked: false,
    runtime: { uptime: 90, gpus: [], ports: [] },
    createdAt: "2026-09-01T10:00:00Z",
    startedAt: "2026-09-01T10:01:00.5Z",
    globalNetworking: { enabled: false },
    ...more,
  };
}
