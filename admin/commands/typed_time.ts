/** Times as people type them, read at once. It loads the rules of the world's clocks: import it only where one is typed. */
import { instantOf, readLocalTime, skipped } from "../../server/schedule/local_time.ts";
import { notATime, timeWithOffset } from "./time_with_offset.ts";

/** A time as the API takes it, and what became of a wall time that the clocks skip. */
export interface TypedTime {
  readonly iso: string;
  readonly warning: string | null;
}

/**
 * Reads a time with an offset as it is, one without as the wall time of `zone`. `name` is what a refusal calls it. Throws
 * `AppError("usage")`.
 */
export function typedTime(name: string, text: string, zone: string): TypedTime {
  const iso = timeWithOffset(text);
  if (iso !== null) return { iso, warning: null };
  const local = readLocalTime(text);
  if (local === null) throw notATime(name, text);
  return { iso: new Date(instantOf(local, zone)).toISOString(), warning: skipped(local, zone) };
}
