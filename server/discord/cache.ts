import type { Clock } from "../clock.ts";

/** Answers kept for a fixed time, with at most one question per key under way. */
export interface Cache<T> {
  /** The kept answer while it is fresh. */
  peek(key: string): T | undefined;
  /** The kept answer, else the one under way, else a new one from `ask`. A rejected one is never kept. */
  load(key: string, ask: () => Promise<T>): Promise<T>;
  /** Drops every key that matches; an answer still under way for it is not kept and not joined by new callers. */
  forget(matches: (key: string) => boolean): void;
}

export interface CacheOptions<T> {
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Most keys kept; the oldest goes first. */
  readonly max: number;
  /** Says whether an answer may be kept; all are by default. */
  readonly keep?: (value: T) => boolean;
}

/** Makes a cache. The age of an answer counts from the moment the question was asked, not from its arrival. */
export function createCache<T>(o: CacheOptions<T>): Cache<T> {
  const kept = new Map<string, { value: T; askedAt: number }>();
  const flights = new Map<string, Promise<T>>();

  function peek(key: string): T | undefined {
    const entry = kept.get(key);
    if (entry === undefined) return undefined;
    const age = o.clock.now() - entry.askedAt;
    // A negative age means the machine's clock was set back: how old the answer is cannot be told any more.
    if (age >= 0 && age < o.ttlMs) return entry.value;
    kept.delete(key);
    return undefined;
  }

  function store(key: string, value: T, askedAt: number): void {
    kept.delete(key);
    kept.set(key, { value, askedAt });
    if (kept.size <= o.max) return;
    const oldest = kept.keys().next();
    if (!oldest.done) kept.delete(oldest.value);
  }

  async function fly(key: string, ask: () => Promise<T>): Promise<T> {
    const askedAt = o.clock.now();
    const flight = ask();
    flights.set(key, flight);
    const current = () => flights.get(key) === flight;
    try {
      const value = await flight;
      if (current() && (o.keep?.(value) ?? true)) store(key, value, askedAt);
      return value;
    } finally {
      if (current()) flights.delete(key);
    }
  }

  async function load(key: string, ask: () => Promise<T>): Promise<T> {
    const fresh = peek(key);
    if (fresh !== undefined) return fresh;
    return await (flights.get(key) ?? fly(key, ask));
  }

  function forget(matches: (key: string) => boolean): void {
    for (const map of [kept, flights]) {
      for (const key of map.keys()) if (matches(key)) map.delete(key);
    }
  }

  return { peek, load, forget };
}
