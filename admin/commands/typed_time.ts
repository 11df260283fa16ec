/** Times as people type them, read at once. It loads the rules of the world's clocks: import it only where one is typed. */
import { instantOf, localTimeAt, readLocalTime, skipped } from "../../server/schedule/local_time.ts";
import { notATime, timeWithOffset } from "./time_with_offset.ts";

/** A time as the API takes it, and what became of a wall time that the clocks skip. */
export interface TypedTime {
  readonly iso: string;
  readonly warning: string | null;
}

/** What a time without a day is counted from, in milliseconds UTC: `today` from `now`, a clock time alone from `after`. */
export interface CountedFrom {
  readonly now: number;
  readonly after: number;
}

/** Is it a clock time alone, such as `18:00`? */
export const isClockTime = (text: string): boolean => /^\d\d?:\d\d$/.test(text);

/**
 * The one reader of times for the shell and the forms: with an offset as it is; else on the wall of `zone`, with its day,
 * `today 18:00`, `tomorrow 18:00`, or `18:00` alone for the first time after `after` that the clocks show it. `name` is
 * what a refusal calls it. Throws `AppError("usage")`.
 */
export function typedTime(name: string, text: string, zone: string, from: CountedFrom): TypedTime {
  const iso = timeWithOffset(text);
  if (iso !== null) return { iso, warning: null };
  const local = readLocalTime(withDay(text, zone, from));
  if (local === null) throw notATime(name, text);
  return { iso: new Date(instantOf(local, zone)).toISOString(), warning: skipped(local, zone) };
}

function withDay(text: string, zone: string, { now, after }: CountedFrom): string {
  const [, word = "", time] = /^(?:(today|tomorrow)\s+)?(\d\d?:\d\d)$/i.exec(text) ?? [];
  if (time === undefined) return text;
  const clock = time.padStart(5, "0");
  const base = localTimeAt(word === "" ? after : now, zone);
  const isNextDay = word === ""
    ? clock <= base.toPlainTime().toString({ smallestUnit: "minute" })
    : word.toLowerCase() === "tomorrow";
  return `${base.toPlainDate().add({ days: isNextDay ? 1 : 0 })} ${clock}`;
}
