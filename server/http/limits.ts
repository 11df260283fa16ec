import { type Clock, MINUTE } from "../clock.ts";
import { AppError } from "../errors.ts";

/** Counts tries per key in fixed windows, in memory. */
export interface Limit {
  /** Counts one try. Throws `rate_limited` with the seconds to wait when there were too many. */
  take(key: string): void;
  /** Counts one try; false when there were too many. */
  try(key: string): boolean;
}

export interface LimitRule {
  readonly tries: number;
  readonly windowMs: number;
  readonly what: string;
}

export interface Limits {
  readonly connect: Limit;
  readonly signIn: Limit;
  /** Of all addresses together: each start is a row for ten minutes. */
  readonly allSignIns: Limit;
  readonly badToken: Limit;
}

/** The limits of a real installation: a class sits behind one address, so good tokens are never counted. */
export const LIMIT_RULES: Record<keyof Limits, LimitRule> = {
  connect: { tries: 60, windowMs: MINUTE, what: "connects" },
  signIn: { tries: 300, windowMs: 10 * MINUTE, what: "sign-ins" },
  allSignIns: { tries: 10_000, windowMs: 10 * MINUTE, what: "sign-ins" },
  badToken: { tries: 30, windowMs: MINUTE, what: "bad tokens" },
};

/**
 * What a limit per address counts: an IPv4 address as it is, of an IPv6 address the first 64 bits, because whoever has one
 * has all of that network.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const host = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1);
  if (host === undefined) return address;
  const [front = "", back] = host.split("::");
  const head = front === "" ? [] : front.split(":");
  const tail = back === undefined || back === "" ? [] : back.split(":");
  const middle = back === undefined ? [] : Array(8 - head.length - tail.length).fill("0");
  return `${[...head, ...middle, ...tail].slice(0, 4).join(":")}::/64`;
}

export function createLimit(rule: LimitRule, clock: Clock): Limit {
  let windowStart = 0;
  let counts = new Map<string, number>();
  const count = (key: string): number => {
    const now = clock.now();
    if (now - windowStart >= rule.windowMs || now < windowStart) {
      windowStart = now;
      counts = new Map();
    }
    const tries = (counts.get(key) ?? 0) + 1;
    counts.set(key, tries);
    return tries;
  };
  return {
    try: (key) => count(key) <= rule.tries,
    take(key) {
      if (count(key) <= rule.tries) return;
      const retryAfter = Math.max(1, Math.ceil((windowStart + rule.windowMs - clock.now()) / 1000));
      throw new AppError("rate_limited", `Too many ${rule.what}. Try again in ${retryAfter} seconds`, { retryAfter });
    },
  };
}

export function createLimits(clock: Clock, rules: Record<keyof Limits, LimitRule> = LIMIT_RULES): Limits {
  return {
    connect: createLimit(rules.connect, clock),
    signIn: createLimit(rules.signIn, clock),
    allSignIns: createLimit(rules.allSignIns, clock),
    badToken: createLimit(rules.badToken, clock),
  };
}
