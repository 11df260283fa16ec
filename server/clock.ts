/** Time as a dependency: every rule about time takes `now` from here, so tests can set it. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A stored time as the API writes it: ISO 8601 with `+00:00`, whole seconds unless there are milliseconds. */
export function isoTime(ms: number): string {
  const text = new Date(ms).toISOString();
  return `${text.slice(0, ms % SECOND === 0 ? -5 : -1)}+00:00`;
}
