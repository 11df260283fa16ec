import { AppError, shown } from "../../server/errors.ts";
import { readIsoTime } from "../../server/schedule/iso_time.ts";

/** A time that has an offset, as the API takes it; null for any other text. */
export function timeWithOffset(text: string): string | null {
  const read = readIsoTime(text.replace(" ", "T"));
  return read.kind === "time" ? new Date(read.ms).toISOString() : null;
}

/** Says why a text is no time. */
export function notATime(name: string, text: string): AppError {
  const day = /^(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d/.exec(text)?.[1];
  return new AppError(
    "usage",
    day !== undefined && readIsoTime(`${day}T00:00Z`).kind === "not_a_time"
      ? `${name}: There is no such day: ${day}`
      : `${name} must be a time such as 18:00, "tomorrow 18:00", "2026-09-03 18:00" or 2026-09-03T18:00-07:00: ${
        shown(text)
      }`,
  );
}
