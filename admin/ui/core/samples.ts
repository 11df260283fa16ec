/** How far something is, and how fast: amounts over the last seconds. */
import { SECOND } from "../../../server/clock.ts";

/** How far something is, in bytes; `total` is null while nobody knows. */
export interface Amount {
  readonly done: number;
  readonly total: number | null;
}

/** An amount at a time, for the speed. */
export interface Sample extends Amount {
  readonly at: number;
}

const WINDOW_MS = 5 * SECOND;

/** Bytes per second over the samples; null while there is too little to tell. */
export function speedOf(samples: readonly Sample[]): number | null {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.at - first.at < SECOND / 2) return null;
  return (last.done - first.done) * SECOND / (last.at - first.at);
}

/** Milliseconds until the rest is there at this speed; null while that cannot be told. */
export function amountLeftMs(samples: readonly Sample[]): number | null {
  const last = samples.at(-1);
  const pace = speedOf(samples);
  return last === undefined || last.total === null || pace === null || pace <= 0
    ? null
    : (last.total - last.done) * SECOND / pace;
}

/** The samples with one more, of which those older than the window are dropped. */
export function withSample(samples: readonly Sample[], sample: Sample): Sample[] {
  return [...samples.filter(({ at }) => at > sample.at - WINDOW_MS), sample].slice(-100);
}
