import { type Clock, MINUTE, SECOND } from "../clock.ts";

/** One rate window of the account (`minute`, `hour`, `day`), as RunPod last told it. */
export interface RateWindow {
  readonly name: string;
  /** Calls per window; null when RunPod did not tell. */
  readonly quota: number | null;
  readonly remaining: number;
  /** Milliseconds UTC. */
  readonly resetsAt: number;
}

/**
 * What is known of the rate limits of one RunPod account. All clients of one API key share one, because RunPod counts
 * per account: when a call is told to wait, they all wait.
 */
export interface Pace {
  /** Milliseconds until the next call may be sent; 0 when it may go now. */
  waitMs(): number;
  /** Takes in the headers of an answer. Returns the seconds to wait that a 429 asks for; null for any other answer. */
  observe(status: number, headers: Headers): number | null;
  /** The fewest calls left in any live window; null when RunPod tells none. For pollers, which should leave some. */
  remaining(): number | null;
  windows(): RateWindow[];
}

/** What a 429 without any header is taken to ask for. */
const WAIT_UNTOLD = 5 * SECOND;
/** After this long one call is let through even if a day's window is used up: a stop that saves money must be tried. */
const LONGEST_BLOCK = 5 * MINUTE;
/** Nothing longer than a day is believed. */
const LONGEST_TOLD = 86_400;
const MAX_WINDOWS = 10;

export function createPace(clock: Clock): Pace {
  const live = new Map<string, RateWindow>();
  let blockedUntil = 0;

  const windows = (): RateWindow[] => {
    const now = clock.now();
    return [...live.values()].filter((window) => window.resetsAt > now);
  };

  const observe = (status: number, headers: Headers): number | null => {
    const now = clock.now();
    for (const [name, window] of live) if (window.resetsAt <= now) live.delete(name);
    const policy = parsePolicy(headers.get("ratelimit-policy"));
    for (const { name, r, t } of parseRateLimit(headers.get("ratelimit"))) {
      const rule = policy.get(name);
      const seconds = t ?? rule?.w;
      if (seconds === undefined) continue;
      const resetsAt = now + Math.min(seconds, LONGEST_TOLD) * SECOND;
      const old = live.get(name);
      // Answers overtake each other: within one window the lowest count is the newest.
      const sameWindow = old !== undefined && Math.abs(old.resetsAt - resetsAt) < 2 * SECOND;
      const remaining = sameWindow ? Math.min(old.remaining, r) : r;
      if (live.has(name) || live.size < MAX_WINDOWS) {
        live.set(name, { name, quota: rule?.q ?? null, remaining, resetsAt });
      }
    }
    const exhausted = windows().filter((window) => window.remaining === 0).map((window) => window.resetsAt - now);
    const told = parseRetryAfter(headers.get("retry-after"), now);
    const asked = Math.max(0, ...exhausted, ...(status === 429 && told !== null ? [told] : []));
    const wait = asked === 0 && status === 429 ? WAIT_UNTOLD : asked;
    if (wait > 0) blockedUntil = Math.max(blockedUntil, now + Math.min(wait, LONGEST_BLOCK));
    return status === 429 ? Math.ceil(wait / SECOND) : null;
  };

  return {
    waitMs: () => Math.max(0, blockedUntil - clock.now()),
    observe,
    remaining: () => {
      if (blockedUntil > clock.now()) return 0;
      const counts = windows().map((window) => window.remaining);
      return counts.length === 0 ? null : Math.min(...counts);
    },
    windows,
  };
}

/** `"minute";r=0;t=12, "hour";r=2800;t=1812`: remaining calls and seconds to the reset of each window. */
function parseRateLimit(header: string | null): { name: string; r: number; t: number | undefined }[] {
  return parseItems(header).flatMap(({ name, params }) => {
    const r = params.get("r");
    return r === undefined ? [] : [{ name, r, t: params.get("t") }];
  });
}

/** `"minute";q=60;w=60, "hour";q=3000;w=3600`: quota and length in seconds of each window. */
function parsePolicy(header: string | null): Map<string, { q: number | undefined; w: number | undefined }> {
  return new Map(parseItems(header).map(({ name, params }) => [name, { q: params.get("q"), w: params.get("w") }]));
}

/** The part of structured-field lists (RFC 9651) that these two headers use; what does not fit is left out. */
function parseItems(header: string | null): { name: string; params: Map<string, number> }[] {
  if (header === null || header.length > 2_000) return [];
  return header.split(",").flatMap((item) => {
    const [first = "", ...rest] = item.split(";").map((part) => part.trim());
    const name = /^"?([A-Za-z0-9_.:-]{1,40})"?$/.exec(first)?.[1];
    if (name === undefined) return [];
    const params = new Map<string, number>();
    for (const part of rest) {
      const [, key, value] = /^([a-z]+)=(\d{1,9})$/.exec(part) ?? [];
      if (key !== undefined && value !== undefined) params.set(key, Number(value));
    }
    return [{ name, params }];
  });
}

/** `Retry-After` in milliseconds: whole seconds, or an HTTP date. Null when it is missing or neither. */
function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text), LONGEST_TOLD) * SECOND;
  const at = /GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : Math.min(Math.max(0, at - now), LONGEST_TOLD * SECOND);
}
