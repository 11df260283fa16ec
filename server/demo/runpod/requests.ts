/** The record of every API request: tests assert on it, the demo shows it without secrets. */
import type { Clock } from "../../clock.ts";
import { isObject } from "./schema_check.ts";

/** A request before it is judged. */
export interface Incoming {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Aborted when the caller of an in-process request gives up. */
  readonly signal?: AbortSignal;
}

export interface RecordedRequest {
  /** Milliseconds by the clock. */
  readonly at: number;
  readonly method: string;
  /** As sent, with `/v2` and without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed if it is JSON, else the text; null without a body. */
  readonly body: unknown;
  /** What was answered; null when the connection was cut or is still open. */
  status: number | null;
}

/** The oldest records go first past this many. */
const KEPT = 10_000;

export function record(
  world: { readonly clock: Clock; readonly requests: RecordedRequest[] },
  incoming: Incoming,
): RecordedRequest {
  const entry: RecordedRequest = {
    at: world.clock.now(),
    method: incoming.method,
    path: incoming.url.pathname,
    query: Object.fromEntries(incoming.url.searchParams),
    headers: Object.fromEntries(incoming.headers),
    body: parsed(incoming.body),
    status: null,
  };
  world.requests.push(entry);
  if (world.requests.length > KEPT) world.requests.shift();
  return entry;
}

/** A record as the demo shows it: the key's last four characters, no env values. */
export function redacted(entry: RecordedRequest): RecordedRequest {
  const { authorization } = entry.headers;
  return {
    ...entry,
    headers: {
      ...entry.headers,
      ...(authorization === undefined ? {} : { authorization: `…${authorization.slice(-4)}` }),
    },
    body: withoutEnvValues(entry.body),
  };
}

function withoutEnvValues(body: unknown): unknown {
  // A body that is no JSON could hold anything, an env included.
  if (typeof body === "string") return `… (${body.length} characters that are not JSON)`;
  if (!isObject(body) || !("env" in body)) return body;
  const env = isObject(body["env"]) ? Object.fromEntries(Object.keys(body["env"]).map((name) => [name, "…"])) : "…";
  return { ...body, env };
}

function parsed(body: Uint8Array): unknown {
  if (body.length === 0) return null;
  const text = new TextDecoder().decode(body);
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
