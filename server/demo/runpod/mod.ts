/**
 * A strict stand-in for RunPod's REST API v2: it refuses what RunPod refuses, and loses answers, runs out of capacity
 * and moves ports when told to. The API is at `<origin>/v2`, GraphQL at `<origin>/graphql`, the controls at
 * `<origin>/_demo/…`. Nothing in it reads the real time but through its clock.
 */
import type { Clock } from "../../clock.ts";
import type { PodHost } from "../pods/host.ts";
import type { Answer } from "./answers.ts";
import { answerApi } from "./api.ts";
import { type Catalog, newCatalog } from "./catalog_data.ts";
import { answerDemo } from "./demo_routes.ts";
import { createFaults, type Faults } from "./faults.ts";
import { type Listening, listenOn } from "./listener.ts";
import { balanceOf, billed, setBalance, spendRate } from "./meter.ts";
import { createOutside, type Outside } from "./outside.ts";
import type { Incoming, RecordedRequest } from "./requests.ts";
import { DEFAULT_TIMINGS, type KeyGrant, type Quotas, type Timings, type World } from "./state.ts";

export type { FaultSpec } from "./faults.ts";
export type { RecordedRequest } from "./requests.ts";
export type { FakePod, KeyGrant, Quotas, Timings } from "./state.ts";

export interface FakeRunpodOptions {
  /**
   * Keys and their rights: "read" may only read, "none" nothing (403). An object also names the account, so that two
   * keys can belong to two accounts. Keys put in later are seen.
   */
  readonly apiKeys: Readonly<Record<string, KeyGrant>>;
  /** What `X-Demo-Secret` must carry on `/_demo/…`. */
  readonly demoSecret: string;
  readonly clock: Clock;
  /** Runs the containers. Without one, addresses are made up: loopback with ports nobody listens on. */
  readonly podHost?: PodHost;
  readonly timings?: Partial<Timings>;
  /** Requests in each window; past them the answer is 429. Wide by default. */
  readonly quotas?: Partial<Quotas>;
  /** USD on each account at the start; 1000 by default. At 0 pods are stopped or terminated. */
  readonly balance?: number;
}

export interface Meter {
  /** USD; the account is "main" unless said. */
  balance(account?: string): number;
  setBalance(amount: number, account?: string): void;
  /** USD billed so far. */
  billed(account?: string): number;
  /** USD per hour at this moment. */
  spendRate(account?: string): number;
}

export interface FakeRunpod {
  /** Answers without a socket; the request must carry a User-Agent, as over the wire. A lost answer is a TypeError, as with the real fetch; a hanging one ends with the
   * request's signal or with close(). */
  fetch(request: Request): Promise<Response>;
  /** Listens on 127.0.0.1; port 0, the default, takes a free one. */
  listen(port?: number): Promise<Listening>;
  readonly pods: Outside;
  /** Every API request with its full body; set `length = 0` to forget them. */
  readonly requests: RecordedRequest[];
  readonly faults: Faults;
  readonly meter: Meter;
  /** The `stock` of a type may be changed. */
  readonly catalog: Catalog;
  /** Resolves when the pod host has done all it was asked to do so far. */
  idle(): Promise<void>;
  /** Ends sockets and open answers and waits for the pod host's work. The pod host itself stays the caller's to close. */
  close(): Promise<void>;
}

export function createFakeRunpod(options: FakeRunpodOptions): FakeRunpod {
  const closing = new AbortController();
  const world: World = {
    clock: options.clock,
    timings: { ...DEFAULT_TIMINGS, ...options.timings },
    quotas: { minute: 6_000, hour: 300_000, day: 5_000_000, ...options.quotas },
    podHost: options.podHost ?? null,
    apiKeys: options.apiKeys,
    demoSecret: options.demoSecret,
    catalog: newCatalog(),
    faults: createFaults(),
    requests: [],
    pods: new Map(),
    terminated: [],
    accounts: new Map(),
    startingBalance: options.balance ?? 1_000,
    podKeys: new Set(),
    portsListening: new Set(),
    addressesMade: 0,
  };
  const outside = createOutside(world);
  const sockets: Listening[] = [];
  const answer = (incoming: Incoming): Answer => {
    const { pathname } = incoming.url;
    const given = pathname.startsWith("/_demo/") ? answerDemo(world, outside, incoming) : answerApi(world, incoming);
    return { ...given, headers: { date: new Date(world.clock.now()).toUTCString(), ...given.headers } };
  };
  const idle = async () => {
    await Promise.all([...world.terminated, ...world.pods.values()].map((pod) => pod.work));
  };
  return {
    async fetch(request) {
      const body = new Uint8Array(await request.arrayBuffer());
      const { method, url, headers, signal } = request;
      return await responseOf(answer({ method, url: new URL(url), headers, body }), [signal, closing.signal]);
    },
    listen(port = 0) {
      const socket = listenOn(port, answer);
      world.portsListening.add(Number(new URL(socket.origin).port));
      sockets.push(socket);
      return Promise.resolve(socket);
    },
    pods: outside,
    requests: world.requests,
    faults: world.faults,
    meter: {
      balance: (account = "main") => balanceOf(world, account),
      setBalance: (amount, account = "main") => setBalance(world, account, amount),
      billed: (account = "main") => billed(world, account),
      spendRate: (account = "main") => spendRate(world, account),
    },
    catalog: world.catalog,
    idle,
    async close() {
      closing.abort();
      await Promise.all(sockets.map((socket) => socket.close()));
      await idle();
    },
  };
}

/** An answer as fetch would give it, connection faults included. */
async function responseOf(answer: Answer, signals: readonly AbortSignal[]): Promise<Response> {
  const { connection } = answer;
  const lost = () => new TypeError("The connection was closed before the answer was complete");
  if (connection?.kind === "cut") throw lost();
  if (connection?.kind === "hang") await pause(null, signals);
  if (connection?.kind === "slow") await pause(connection.ms, signals);
  const init = { status: answer.status, headers: answer.headers };
  if (connection?.kind !== "cut-body") return new Response(answer.body, init);
  const half = new TextEncoder().encode(answer.body ?? "").subarray(0, (answer.body ?? "").length >> 1);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(half),
    pull: (controller) => controller.error(lost()),
  }, { highWaterMark: 0 });
  return new Response(answer.status === 204 ? null : body, init);
}

/** Waits `ms`, for ever with null; rejects with the reason of the first signal that aborts. */
function pause(ms: number | null, signals: readonly AbortSignal[]): Promise<void> {
  const signal = AbortSignal.any([...signals]);
  return new Promise((resolve, reject) => {
    const timer = ms === null ? undefined : setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
