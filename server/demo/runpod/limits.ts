/** The rate limit of an account: counted over three windows, told in two headers on every authenticated answer. */
import { type Answer, problem } from "./answers.ts";
import type { ActiveFault } from "./faults.ts";
import { accountOf, type Quotas, type World } from "./state.ts";

const WINDOWS = [["minute", 60], ["hour", 3_600], ["day", 86_400]] as const;
type WindowName = keyof Quotas;

interface WindowState {
  readonly name: WindowName;
  readonly seconds: number;
  readonly quota: number;
  readonly remaining: number;
  readonly resetIn: number;
}

/** Counts one request; the windows as they stand after it, and the first window that is exceeded, if any. */
export function countRequest(world: World, account: string): { windows: WindowState[]; exceeded: WindowState | null } {
  const counted = accountOf(world, account).windows;
  const now = world.clock.now();
  let exceeded: WindowState | null = null;
  const windows = WINDOWS.map(([name, seconds]): WindowState => {
    const known = counted.get(name);
    const current = known && now < known.start + seconds * 1000 ? known : { start: now, used: 0 };
    current.used++;
    counted.set(name, current);
    const quota = world.quotas[name];
    const state = {
      name,
      seconds,
      quota,
      remaining: Math.max(0, quota - current.used),
      resetIn: Math.max(1, Math.ceil((current.start + seconds * 1000 - now) / 1000)),
    };
    if (current.used > quota) exceeded ??= state;
    return state;
  });
  return { windows, exceeded };
}

/** The two headers in their exact form, which are structured field lists. */
export function limitHeaders(windows: readonly WindowState[]): Record<string, string> {
  return {
    "ratelimit-policy": windows.map((one) => `"${one.name}";q=${one.quota};w=${one.seconds}`).join(", "),
    ratelimit: windows.map((one) => `"${one.name}";r=${one.remaining};t=${one.resetIn}`).join(", "),
  };
}

/** 429 of a window that is really used up. */
export function exceededAnswer(window: WindowState): Answer {
  return tooMany(window.name, String(window.resetIn));
}

/**
 * 429 by fault F31. `minute`: the minute is used up, and a longer `t` of a window with room left must not be waited
 * for. `hour`: the hour is used up too and needs the longer wait. The other two say less.
 */
export function limitedAnswer(fault: ActiveFault, windows: readonly WindowState[]): Answer {
  const wait = Math.max(1, Math.ceil((fault.ms ?? 12_000) / 1000));
  if (fault.variant === "bare") {
    return { ...tooMany("minute"), headers: { "content-type": "application/problem+json" } };
  }
  if (fault.variant === "retry-after-only") return tooMany("minute", String(wait));
  const shown = windows.map((one) => {
    if (one.name === "minute") return { ...one, remaining: 0, resetIn: fault.variant === "hour" ? 1 : wait };
    const empty = fault.variant === "hour" && one.name === "hour";
    return empty ? { ...one, remaining: 0, resetIn: wait } : { ...one, resetIn: Math.max(one.resetIn, wait * 10) };
  });
  const answer = tooMany("minute", fault.variant === "hour" ? "1" : String(wait));
  return { ...answer, headers: { ...answer.headers, ...limitHeaders(shown) } };
}

function tooMany(window: WindowName, retryAfter?: string): Answer {
  return problem(429, `rate limit exceeded for the ${window} window`, {
    headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
  });
}
