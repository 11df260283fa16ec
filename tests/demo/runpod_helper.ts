/** A stand-in RunPod with a clock that stands still, and short ways to call it. */
import assert from "node:assert/strict";
import { createFakeRunpod, type FakeRunpod, type FakeRunpodOptions } from "../../server/demo/runpod/mod.ts";

export const KEY = "rpa_full_key_0001";
export const READ_KEY = "rpa_read_key_0002";
export const OTHER_KEY = "rpa_other_key_0003";
export const SECRET = "demo-secret-of-this-run";
export const AGENT = "orgpods/test";
export const CAPACITY =
  "There are no longer any instances available with the requested specifications. Please refresh and try again.";

/** Any JSON object; tests look into it freely. */
// deno-lint-ignore no-explicit-any
export type Loose = any;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Loose;
}

export class TestClock {
  constructor(public ms = Date.UTC(2026, 8, 1, 12)) {}
  now = (): number => this.ms;
  advance(ms: number): void {
    this.ms += ms;
  }
}

export interface Bench {
  readonly fake: FakeRunpod;
  readonly clock: TestClock;
  /** A call under `/v2` without a socket. */
  api(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  demo(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Creates a pod and lets the clock run until it has an address; its id. */
  running(body?: Record<string, unknown>): Promise<string>;
}

export function bench(options: Partial<FakeRunpodOptions> = {}): Bench {
  const clock = new TestClock();
  const fake = createFakeRunpod({
    apiKeys: { [KEY]: "full", [READ_KEY]: "read", [OTHER_KEY]: { rights: "full", account: "other" } },
    demoSecret: SECRET,
    clock,
    ...options,
  });
  const call = async (url: string, method: string, body: unknown, headers: Record<string, string>) => {
    const response = await fake.fetch(requestOf(url, method, body, headers));
    return await replyOf(response);
  };
  const self: Bench = {
    fake,
    clock,
    api: (method, path, body, headers = {}) => call(`http://127.0.0.1/v2${path}`, method, body, apiHeaders(headers)),
    demo: (method, path, body, headers = {}) =>
      call(`http://127.0.0.1/_demo/${path}`, method, body, { "x-demo-secret": SECRET, ...headers }),
    async running(body = {}) {
      const made = await self.api("POST", "/pods", { ...gpuPod(), ...body });
      assert.equal(made.status, 201, made.text);
      clock.advance(1_000);
      return made.json.id;
    },
  };
  return self;
}

/** A create body as a careful client sends it. */
export function gpuPod(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: "lab-1",
    image: "ghcr.io/example/pod:1",
    gpu: { id: "NVIDIA RTX A4000", count: 1 },
    disk: 20,
    ports: ["22/tcp"],
    env: { GODFATHER_CA: "ssh-ed25519 AAAA" },
    ...more,
  };
}

export function cpuPod(more: Record<string, unknown> = {}): Record<string, unknown> {
  const { gpu: _gpu, ...rest } = gpuPod(more);
  return { cpu: { id: "cpu3c", vcpuCount: 2 }, ...rest };
}

export function apiHeaders(more: Record<string, string> = {}): Record<string, string> {
  return { authorization: `Bearer ${KEY}`, "user-agent": AGENT, ...more };
}

export function requestOf(url: string, method: string, body: unknown, headers: Record<string, string>): Request {
  if (body === undefined) return new Request(url, { method, headers });
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Request(url, { method, body: text, headers: { "content-type": "application/json", ...headers } });
}

export async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** Runs a test body with a stand-in and closes it. */
export async function withBench(
  body: (bench: Bench) => Promise<void>,
  options: Partial<FakeRunpodOptions> = {},
): Promise<void> {
  const made = bench(options);
  try {
    await body(made);
  } finally {
    await made.fake.close();
  }
}

/** Polls until `check` gives a value; fails after a minute. */
export async function eventually<T>(check: () => Promise<T | null> | T | null): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const value = await check();
    if (value !== null) return value;
    assert.ok(Date.now() < deadline, "The condition did not come true in a minute");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
