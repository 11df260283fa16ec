import { createHash } from "node:crypto";
import { type Clock, SECOND } from "../../clock.ts";
import type { RouteMatch } from "./route_table.ts";

const LIMIT = 50;
const WINDOW = SECOND;

/** What the headers of one answer tell, and what a 429 needs. */
export interface Bucket {
  readonly headers: Record<string, string>;
  /** Milliseconds until the bucket is full again. */
  readonly resetAfter: number;
  /** True when the request is one too many. */
  readonly over: boolean;
}

/**
 * Counts requests per route and guild, as Discord's buckets do: 50 a second. Unless `enforce` is set, a request too
 * many just opens the next window, so that a test with a standing clock is not held up.
 */
export function createRateLimits(clock: Clock) {
  const windows = new Map<string, { start: number; used: number }>();

  return function count(match: RouteMatch, enforce: boolean): Bucket {
    const key = `${match.method} ${match.route.path} ${match.params["guild_id"] ?? ""}`;
    const now = clock.now();
    let window = windows.get(key);
    const full = window !== undefined && window.used >= LIMIT;
    if (!window || now >= window.start + WINDOW || now < window.start || (full && !enforce)) {
      window = { start: now, used: 0 };
      if (windows.size >= 1_000) windows.clear();
      windows.set(key, window);
    }
    const over = window.used >= LIMIT;
    if (!over) window.used += 1;
    const resetAfter = window.start + WINDOW - now;
    return {
      over,
      resetAfter,
      headers: bucketHeaders(match.route.path, now, resetAfter, LIMIT - window.used),
    };
  };
}

/** The five headers of a bucket; times are seconds with three decimals. */
export function bucketHeaders(path: string, now: number, resetAfter: number, remaining: number) {
  return {
    "X-RateLimit-Limit": String(LIMIT),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": ((now + resetAfter) / SECOND).toFixed(3),
    "X-RateLimit-Reset-After": (resetAfter / SECOND).toFixed(3),
    "X-RateLimit-Bucket": createHash("sha256").update(path).digest("hex").slice(0, 32),
  };
}
