import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { type Balance, readBalance } from "./balance.ts";
import { type BillingSpan, type PodBill, readBilling } from "./billing.ts";
import { type CpuType, type GpuType, parseCpus, parseGpus, STOCK_QUERY } from "./catalog.ts";
import type { CreateBody } from "./create_body.ts";
import { RunpodError } from "./errors.ts";
import { listPods } from "./list_pods.ts";
import { createPace, type Pace } from "./pace.ts";
import { createRedact } from "./redact.ts";
import {
  type Answer,
  type Call,
  type CallOptions,
  createRequest,
  LIMITS,
  type Limits,
  unreadable,
  withDeadline,
} from "./request.ts";
import { type ParsedPod, parsePod, type RunpodPod } from "./schema.ts";

export type { Balance } from "./balance.ts";
export type { BillingSpan, PodBill } from "./billing.ts";
export type { CpuType, GpuType } from "./catalog.ts";
export { createBody } from "./create_body.ts";
export type { CreateBody, CreateInput } from "./create_body.ts";
export { RunpodError, toAppError } from "./errors.ts";
export type { RunpodErrorKind } from "./errors.ts";
export { createPace } from "./pace.ts";
export type { Pace, RateWindow } from "./pace.ts";
export type { CallOptions } from "./request.ts";
export type { RunpodPod } from "./schema.ts";

/** Fields of a pod that can be changed. What is left out stays; `env` replaces the whole env of the pod. */
export interface PatchBody {
  readonly name?: string;
  readonly image?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly disk?: number;
  readonly locked?: boolean;
}

export interface GpuOptions extends CallOptions {
  /** Whose stock is told; RunPod's default is SECURE. */
  readonly cloud?: "SECURE" | "COMMUNITY";
}

/** Calls to RunPod's REST API v2. Every call throws `RunpodError` when RunPod refuses, fails or does not answer. */
export interface RunpodClient {
  /** All pods of the account, also those that were made elsewhere. The whole list or an error, never a part. */
  list(options?: CallOptions): Promise<RunpodPod[]>;
  /** One pod; `not_found` also for a pod of another account and, for some seconds, for a new one. */
  get(id: string, options?: CallOptions): Promise<RunpodPod>;
  /** Makes a pod. Sent exactly once: after an `ambiguous` error the pod may exist, and the list must be searched. */
  create(body: CreateBody, options?: CallOptions): Promise<RunpodPod>;
  patch(id: string, body: PatchBody, options?: CallOptions): Promise<RunpodPod>;
  /** The pod after the action, or null when RunPod did not send it; `conflict` when its state does not allow it. */
  act(id: string, action: "start" | "stop" | "restart", options?: CallOptions): Promise<RunpodPod | null>;
  /** Deletes the pod with its volume disk. `was_gone` proves nothing for a pod made within the last minutes. */
  terminate(id: string, options?: CallOptions): Promise<"deleted" | "was_gone">;
  gpus(options?: GpuOptions): Promise<GpuType[]>;
  cpus(options?: CallOptions): Promise<CpuType[]>;
  /** RunPod's own description of its API. */
  openapi(options?: CallOptions): Promise<unknown>;
  /** The account's balance, from the GraphQL API of the same host. */
  balance(options?: CallOptions): Promise<Balance>;
  /** What RunPod billed for each pod of the account on each of some whole days (UTC). */
  billing(span: BillingSpan, options?: CallOptions): Promise<PodBill[]>;
}

export interface RunpodClientOptions {
  /** Such as `https://api.runpod.io/v2`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Of this program, for the User-Agent. */
  readonly version: string;
  readonly clock: Clock;
  readonly fetch?: typeof fetch;
  readonly log: Log;
  /** Shared by all clients of this API key. */
  readonly pace: Pace;
  readonly limits?: Limits;
  /** Hears the time that each answer carries, and the clock's at that moment; milliseconds. */
  readonly heardTime?: (theirs: number, ours: number) => void;
}

export function createRunpodClient(o: RunpodClientOptions): RunpodClient {
  const deps = {
    baseUrl: o.baseUrl.replace(/\/+$/, ""),
    apiKey: o.apiKey,
    version: o.version,
    clock: o.clock,
    fetch: o.fetch ?? fetch,
    log: o.log,
    pace: o.pace,
    limits: o.limits ?? LIMITS,
    ...(o.heardTime === undefined ? {} : { heardTime: o.heardTime }),
  };
  const request = createRequest(deps);
  // GraphQL has limits of its own: using them up must not keep a stop from being sent.
  const graphql = createRequest({ ...deps, baseUrl: new URL(o.baseUrl).origin, pace: createPace(o.clock) });
  const call = (what: Call, options: CallOptions = {}): Promise<Answer> =>
    withDeadline(o.clock, options, (deadline) => request(what, deadline), deps.limits);
  const read = (path: string, options?: CallOptions) => call({ method: "GET", path, repeatable: true }, options);
  const taken = createOddityLog(o.log);

  return {
    list: (options = {}) =>
      withDeadline(o.clock, options, async (deadline) => (await listPods(request, deadline)).map(taken)),

    get: async (id, options) => {
      const { status, json } = await read(podPath(id), options);
      return taken(expectPod(status, json, id));
    },

    create: async (body, options) => {
      const secrets = Object.values(body.env);
      const { status, json } = await call({ method: "POST", path: "/pods", body, repeatable: false, secrets }, options);
      const parsed = parsePod(json);
      if (parsed === null) throw unreadable(status, "RunPod did not return a pod id");
      return taken(parsed);
    },

    patch: async (id, body, options) => {
      const secrets = Object.values(body.env ?? {});
      const what: Call = { method: "PATCH", path: podPath(id), body, repeatable: false, secrets };
      const { status, json } = await call(what, options);
      return taken(expectPod(status, json, id));
    },

    act: async (id, action, options) => {
      const path = `${podPath(id)}/action`;
      const { json } = await call({ method: "POST", path, body: { action }, repeatable: action === "stop" }, options);
      const parsed = parsePod(json);
      return parsed === null || parsed.pod.id !== id ? null : taken(parsed);
    },

    terminate: async (id, options) => {
      const path = podPath(id);
      try {
        await call({ method: "DELETE", path, repeatable: true }, options);
        return "deleted";
      } catch (error) {
        if (error instanceof RunpodError && error.kind === "not_found") return "was_gone";
        throw error;
      }
    },

    gpus: async (options = {}) => {
      const query = new URLSearchParams({ ...STOCK_QUERY, ...(options.cloud ? { cloud: options.cloud } : {}) });
      const { status, json } = await read(`/catalog/gpus?${query}`, options);
      return parseGpus(json) ?? noCatalog(status);
    },

    cpus: async (options) => {
      const { status, json } = await read(`/catalog/cpus?${new URLSearchParams(STOCK_QUERY)}`, options);
      return parseCpus(json) ?? noCatalog(status);
    },

    openapi: async (options) => {
      const { status, json } = await read("/openapi.json", options);
      if (json === undefined) throw unreadable(status, "RunPod sent an empty description of its API");
      return json;
    },

    balance: (options = {}) =>
      withDeadline(o.clock, options, (deadline) => readBalance(graphql, deadline, createRedact([o.apiKey]))),

    billing: (span, options = {}) => withDeadline(o.clock, options, (deadline) => readBilling(request, deadline, span)),
  };
}

/** The path of a pod. An id that would change the path (`..`, nothing) is no pod's. */
function podPath(id: string): string {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) {
    throw new RunpodError({ kind: "not_found", detail: "RunPod has no pod with this id" });
  }
  return `/pods/${encodeURIComponent(id)}`;
}

function expectPod(status: number, json: unknown, id: string): ParsedPod {
  const parsed = parsePod(json);
  if (parsed === null || parsed.pod.id !== id) throw unreadable(status, "RunPod sent a response that is not this pod");
  return parsed;
}

function noCatalog(status: number): never {
  throw unreadable(status, "RunPod sent a response that is not a catalog");
}

/** Passes a pod on, and logs once per pod which of its fields could not be read: names only. */
function createOddityLog(log: Log): (parsed: ParsedPod) => RunpodPod {
  const told = new Set<string>();
  return ({ pod, odd }) => {
    const key = `${pod.id} ${odd.join(" ")}`;
    if (odd.length > 0 && !told.has(key) && told.size < 1_000) {
      told.add(key);
      log.warn("RunPod sent a pod with fields that cannot be read", { pod: pod.id, fields: odd });
    }
    return pod;
  };
}
