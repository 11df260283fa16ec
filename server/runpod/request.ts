import type { Clock } from "../clock.ts";
import { SECOND } from "../clock.ts";
import type { Log } from "../log.ts";
import { pause, startTimeLimit, type TimeLimit } from "./deadline.ts";
import { RunpodError } from "./errors.ts";
import type { Pace } from "./pace.ts";
import { isJsonType, kindOf, parseJson, readProblem } from "./problem.ts";
import { type BodyText, isConnectionError, readBody } from "./read_body.ts";
import { createRedact, plain, type Redact } from "./redact.ts";

export interface CallOptions {
  /** Time for the whole call in milliseconds: waiting, repeats, all pages and reading the bodies. Default 20 000. */
  readonly timeoutMs?: number;
  /** Gives the call up. */
  readonly signal?: AbortSignal;
}

export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Under the base URL; encoded, with its query. */
  readonly path: string;
  readonly body?: unknown;
  /** True only when doing it twice is the same as doing it once. */
  readonly repeatable: boolean;
  /** Values of the body that must not show in any error (env values). */
  readonly secrets?: readonly string[];
}

/** A success. `json` is undefined when there was no body. */
export interface Answer {
  readonly status: number;
  readonly json: unknown;
}

/** The time of one whole call, which may be several requests. */
export interface Deadline {
  readonly limit: TimeLimit;
  readonly limitMs: number;
  remainingMs(): number;
}

/** How long and how often; tests make them small. */
export interface Limits {
  /** Requests of one repeatable call. */
  readonly attempts: number;
  /** Time for a request that can still be repeated. */
  readonly attemptMs: number;
  /** Pause before the first repeat; three times longer before the next. */
  readonly firstWaitMs: number;
  /** A longer wait than this is the caller's to plan. */
  readonly maxWaitMs: number;
  /** A repeat is begun only with this much of the call's time left. */
  readonly leastMs: number;
  /** Time for a whole call that names none. */
  readonly callMs: number;
}

export const LIMITS: Limits = {
  attempts: 3,
  attemptMs: 12 * SECOND,
  firstWaitMs: SECOND / 2,
  maxWaitMs: 10 * SECOND,
  leastMs: SECOND,
  callMs: 20 * SECOND,
};

const SUCCESS_LIMIT = 2 * 1024 * 1024;
const ERROR_LIMIT = 64 * 1024;
/** Timers and the clock may differ by a little. */
const SLACK = 25;

export interface RequestDeps {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly version: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly log: Log;
  readonly pace: Pace;
  readonly limits: Limits;
  /** Hears the time that each answer carries, and the clock's at that moment; milliseconds. */
  readonly heardTime?: (theirs: number, ours: number) => void;
}

export type Request = (call: Call, deadline: Deadline) => Promise<Answer>;

/** Runs `work` under one time limit. A signal that is aborted already means that nothing is sent. */
export async function withDeadline<T>(
  clock: Clock,
  options: CallOptions,
  work: (deadline: Deadline) => Promise<T>,
  limits: Limits = LIMITS,
): Promise<T> {
  if (options.signal?.aborted) throw givenUp(false);
  const limitMs = options.timeoutMs ?? limits.callMs;
  const limit = startTimeLimit(limitMs, options.signal);
  const endsAt = clock.now() + limitMs;
  try {
    return await work({ limit, limitMs, remainingMs: () => endsAt - clock.now() });
  } finally {
    limit.stop();
  }
}

/**
 * The one function through which every request to RunPod goes. It throws only `RunpodError` for what RunPod or the
 * network did. Repeatable calls are made again after `network`, `timeout`, 5xx and 429, as far as the call's own time
 * limit allows; any other call is sent exactly once, and not at all while the account's rate limit is used up.
 */
export function createRequest(deps: RequestDeps): Request {
  const { limits, pace } = deps;
  return async (call, deadline) => {
    // Neither a header nor an error of the header's parser may carry a mangled key.
    if (!/^[\x21-\x7e]+$/.test(deps.apiKey)) {
      throw new RunpodError({ kind: "auth", detail: "The RunPod API key holds characters that no key has" });
    }
    await waitForTurn(call, deadline, deps);
    for (let tries = 1;; tries++) {
      const last = !call.repeatable || tries >= limits.attempts;
      try {
        return await send(call, deadline, deps, last);
      } catch (error) {
        if (last || !(error instanceof RunpodError) || !isWorthRepeating(error)) throw error;
        const wait = Math.max(limits.firstWaitMs * 3 ** (tries - 1), pace.waitMs());
        if (!fits(wait, deadline, limits)) throw error;
        deps.log.warn("A call to RunPod failed and is made again", {
          method: call.method,
          path: call.path,
          kind: error.kind,
          status: error.status,
          detail: error.detail,
        });
        if (!await pause(wait + SLACK, deadline.limit.signal) || pace.waitMs() > 0) throw error;
      }
    }
  };
}

function fits(wait: number, deadline: Deadline, limits: Limits): boolean {
  return wait <= limits.maxWaitMs && wait + limits.leastMs <= deadline.remainingMs();
}

function isWorthRepeating(error: RunpodError): boolean {
  if (error.kind === "upstream") return error.status !== null && error.status >= 500 && error.status !== 501;
  return error.kind === "network" || error.kind === "timeout" || error.kind === "rate_limited";
}

/** Returns when the rate limit lets the call go. A call that is made only once keeps its time for that: no waiting. */
async function waitForTurn(call: Call, deadline: Deadline, { pace, limits }: RequestDeps): Promise<void> {
  const wait = pace.waitMs();
  if (wait === 0) return;
  if (call.repeatable && fits(wait, deadline, limits)) {
    if (await pause(wait + SLACK, deadline.limit.signal) && pace.waitMs() === 0) return;
  }
  const retryAfter = Math.max(1, Math.ceil(pace.waitMs() / SECOND));
  throw new RunpodError({
    kind: "rate_limited",
    detail: `RunPod's rate limit for this account is used up. Try again in ${retryAfter} s`,
    retryAfter,
  });
}

/** What came back, before it is judged. */
interface Received {
  readonly status: number;
  readonly contentType: string | null;
  readonly retryAfter: number | null;
  readonly body: BodyText;
}

/** One request and its answer. */
async function send(call: Call, deadline: Deadline, deps: RequestDeps, last: boolean): Promise<Answer> {
  const redact = createRedact([deps.apiKey, ...(call.secrets ?? [])]);
  const received = await exchange(call, deadline, deps, last, redact);
  const { status } = received;
  if (status === 204) return { status, json: undefined };
  if (status >= 200 && status < 300) return readSuccess(received);
  throw refusal(received, redact);
}

/** Sends the request and reads the whole body, all within the time limit. */
async function exchange(
  call: Call,
  deadline: Deadline,
  deps: RequestDeps,
  last: boolean,
  redact: Redact,
): Promise<Received> {
  const { attemptMs, leastMs } = deps.limits;
  // An attempt is cut short only where there is time to make another one.
  const attempt = !last && deadline.remainingMs() >= attemptMs + leastMs
    ? startTimeLimit(attemptMs, deadline.limit.signal)
    : null;
  const { signal } = attempt ?? deadline.limit;
  let status: number | null = null;
  try {
    const response = await deps.fetch(deps.baseUrl + call.path, requestInit(call, deps, signal));
    status = response.status;
    const retryAfter = deps.pace.observe(status, response.headers);
    const theirs = Date.parse(response.headers.get("date") ?? "");
    if (!Number.isNaN(theirs)) deps.heardTime?.(theirs, deps.clock.now());
    const contentType = response.headers.get("content-type");
    const body = response.ok
      ? await readBody(response, SUCCESS_LIMIT)
      // The status of a refusal is known, so a body that breaks off does not turn it into something else.
      : await readBody(response, ERROR_LIMIT, true);
    return { status, contentType, retryAfter, body };
  } catch (error) {
    if (!isConnectionError(error)) throw error;
    if (attempt?.timedOut()) throw tooLate(attemptMs, status);
    if (deadline.limit.timedOut()) throw tooLate(deadline.limitMs, status);
    throw signal.aborted ? givenUp(true) : noAnswer(error, status, redact);
  } finally {
    attempt?.stop();
  }
}

function requestInit(call: Call, { apiKey, version }: RequestDeps, signal: AbortSignal): RequestInit {
  const headers: Record<string, string> = {
    authorization: `Bearer ${apiKey}`,
    // RunPod's edge refuses some default agents with 403, code 1010.
    "user-agent": `orgpods/${version}`,
    accept: "application/json, application/problem+json",
  };
  if (call.body !== undefined) headers["content-type"] = "application/json";
  return {
    method: call.method,
    headers,
    signal,
    // The key must not follow a redirect to another host.
    redirect: "manual",
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  };
}

function readSuccess({ status, contentType, body }: Received): Answer {
  if (!body.whole) throw unreadable(status, "RunPod sent a response that is too large");
  if (body.text.trim() === "") return { status, json: undefined };
  const json = isJsonType(contentType) ? parseJson(body.text) : undefined;
  if (json === undefined) throw unreadable(status, "RunPod sent a response that is not JSON");
  return { status, json };
}

/** A success that cannot be read: RunPod did what was asked, as far as anyone can tell. The body is not quoted. */
export function unreadable(status: number, sentence: string): RunpodError {
  return new RunpodError({ kind: "upstream", status, detail: sentence, ambiguous: true });
}

function refusal({ status, contentType, retryAfter, body }: Received, redact: Redact): RunpodError {
  const problem = readProblem(status, contentType, body.text, redact);
  const isRedirect = status >= 300 && status < 400;
  return new RunpodError({
    kind: kindOf(status, problem),
    status,
    detail: isRedirect ? "a redirect, which is not followed" : problem.detail,
    errors: problem.errors,
    retryAfter,
    // 501 says that the call is not known there at all; 408 may have come after the work was begun.
    ambiguous: (status >= 500 && status !== 501) || status === 408,
  });
}

function tooLate(limitMs: number, status: number | null): RunpodError {
  const detail = `RunPod did not answer within ${limitMs / SECOND} s`;
  return new RunpodError({ kind: "timeout", status, detail, ambiguous: true });
}

function givenUp(sent: boolean): RunpodError {
  return new RunpodError({ kind: "timeout", detail: "The call to RunPod was given up", ambiguous: sent });
}

function noAnswer(error: Error, status: number | null, redact: Redact): RunpodError {
  const messages: string[] = [];
  for (let at: unknown = error; at instanceof Error && messages.length < 5; at = at.cause) messages.push(at.message);
  const reason = messages.at(-1) ?? "";
  return new RunpodError({
    kind: "network",
    status,
    detail: plain(redact(`The connection to RunPod failed: ${reason}`)),
    // Deno's word for a name, TCP or TLS failure, before any byte of the request is sent.
    ambiguous: !messages.some((message) => message.includes("client error (Connect)")),
  });
}
