/**
 * Discord's rate limits as its answers state them: per bucket (a route and a server) and global. Nothing is
 * hard-coded. Waits come as durations (`X-RateLimit-Reset-After`, `retry_after`), so the two clocks need not agree.
 */
import { type Clock, HOUR, SECOND } from "../clock.ts";
import type { Answer } from "./request.ts";
import { rateLimitSchema } from "./schema.ts";

/** Which limit a call falls under: the route's name, and the server it is about. */
export interface Bucket {
  readonly route: string;
  readonly guildId: string | null;
}

export interface Limits {
  /** The moment (ms) from which the next call may be sent; 0 when it may go now. */
  openAt(bucket: Bucket): number;
  /** Notes that `until` was waited out, so that it holds nobody back any longer. */
  waited(bucket: Bucket, until: number): void;
  /** Takes one call from what the bucket has left. */
  spend(bucket: Bucket): void;
  /** Learns from an answer's headers and, on a 429, its body. */
  learn(bucket: Bucket, answer: Answer): void;
}

/** A longer wait than this is not believed: a broken number must not silence the bot for good. */
const LONGEST = HOUR;
const MAX_BUCKETS = 500;

function seconds(text: string | null): number | null {
  if (text === null || !/^\d{1,9}(?:\.\d+)?$/.test(text.trim())) return null;
  return Math.min(Math.ceil(Number(text) * SECOND), LONGEST);
}

/** How long a 429 asks to wait, in ms; null when it does not say (a Cloudflare page may not). */
export function retryAfter(answer: Answer): number | null {
  if (answer.kind !== "json" && answer.kind !== "bare") return null;
  const body = answer.kind === "json" ? rateLimitSchema.safeParse(answer.body) : null;
  if (body?.success && body.data.retry_after >= 0) {
    return Math.min(Math.ceil(body.data.retry_after * SECOND), LONGEST);
  }
  return seconds(answer.headers.get("retry-after"));
}

function isGlobal(answer: Answer & { headers: Headers }): boolean {
  if (answer.headers.get("x-ratelimit-global") === "true") return true;
  if (answer.headers.get("x-ratelimit-scope") === "global") return true;
  const body = answer.kind === "json" ? rateLimitSchema.safeParse(answer.body) : null;
  return body?.success === true && body.data.global === true;
}

/** The memory of the limits of one bot token. */
export function createLimits(clock: Clock): Limits {
  const names = new Map<string, string>();
  const states = new Map<string, { left: number; resetAt: number }>();
  let globalUntil = 0;

  const key = (b: Bucket) => `${names.get(b.route) ?? b.route}/${b.guildId ?? ""}`;

  function live(bucket: Bucket) {
    const state = states.get(key(bucket));
    return state !== undefined && state.resetAt > clock.now() ? state : undefined;
  }

  function set(bucket: Bucket, left: number, resetAt: number): void {
    if (states.size >= MAX_BUCKETS) {
      for (const [name, state] of states) if (state.resetAt <= clock.now()) states.delete(name);
    }
    states.set(key(bucket), { left, resetAt });
  }

  function learnHeaders(bucket: Bucket, headers: Headers): void {
    const name = headers.get("x-ratelimit-bucket");
    if (name !== null) names.set(bucket.route, name);
    const left = headers.get("x-ratelimit-remaining");
    const resetAfter = seconds(headers.get("x-ratelimit-reset-after"));
    if (left === null || !/^\d{1,9}$/.test(left) || resetAfter === null) return;
    // Calls that are still under way are counted here but not yet there, so the smaller number is the safe one.
    const known = live(bucket);
    set(bucket, known ? Math.min(known.left, Number(left)) : Number(left), clock.now() + resetAfter);
  }

  return {
    openAt(bucket) {
      const state = live(bucket);
      const bucketAt = state !== undefined && state.left <= 0 ? state.resetAt : 0;
      return Math.max(bucketAt, globalUntil > clock.now() ? globalUntil : 0);
    },
    waited(bucket, until) {
      const state = states.get(key(bucket));
      if (state !== undefined && state.resetAt <= until) states.delete(key(bucket));
      if (globalUntil <= until) globalUntil = 0;
    },
    spend(bucket) {
      const state = live(bucket);
      if (state !== undefined) state.left -= 1;
    },
    learn(bucket, answer) {
      if (answer.kind !== "json" && answer.kind !== "bare") return;
      learnHeaders(bucket, answer.headers);
      if (answer.status !== 429) return;
      const wait = retryAfter(answer);
      if (wait === null) return;
      const until = clock.now() + wait;
      if (isGlobal(answer)) globalUntil = Math.max(globalUntil, until);
      else set(bucket, 0, Math.max(until, live(bucket)?.resetAt ?? 0));
    },
  };
}
