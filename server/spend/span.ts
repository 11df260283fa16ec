import { z } from "zod";
import { DAY } from "../clock.ts";
import { AppError, shown } from "../errors.ts";
import { readIsoTime } from "../schedule/iso_time.ts";
import { monthOf } from "./months.ts";

/** What spend is grouped by. */
export const GROUPS = ["pod", "month", "session", "org"] as const;
export type Group = (typeof GROUPS)[number];

const MOST_DAYS = 400;

/** The query of `GET /spend`; the times are read by `spanOf`. */
export const spendQuery = z.looseObject({
  from: z.string().optional(),
  to: z.string().optional(),
  group: z.enum(GROUPS, `group must be one of ${GROUPS.join(", ")}`).default("pod"),
});

export interface Span {
  readonly from: number;
  /** The first moment after it. */
  readonly to: number;
}

/**
 * The span that a query names: times with an offset, days (`2026-11-05`) or months (`2026-11`) in UTC. `to` is the first
 * moment after the span; without it the span ends now, without `from` it begins with the month of its end, without both
 * it is the current month. At most 400 days. Throws `invalid_request`.
 */
export function spanOf(
  query: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): Span {
  const from = query.from === undefined ? null : readTime("from", query.from);
  const to = query.to === undefined ? null : readTime("to", query.to);
  if (from === null && to === null) {
    const month = monthOf(now);
    return { from: month.from, to: month.to };
  }
  const end = to ?? now;
  const span = { from: from ?? monthOf(end - 1).from, to: end };
  if (span.to <= span.from) {
    const sentence = to === null ? "from must be in the past when there is no to" : "to must be after from";
    throw new AppError("invalid_request", sentence);
  }
  if (span.to - span.from > MOST_DAYS * DAY) {
    throw new AppError("invalid_request", `from and to can be at most ${MOST_DAYS} days apart`);
  }
  return span;
}

function readTime(name: string, text: string): number {
  // A `+` that was not encoded arrives as a space.
  const value = text.replace(/ (\d\d:?\d\d)$/, "+$1");
  const whole = /^\d{4}-\d\d$/.test(value)
    ? `${value}-01T00:00Z`
    : /^\d{4}-\d\d-\d\d$/.test(value)
    ? `${value}T00:00Z`
    : value;
  const read = readIsoTime(whole);
  if (read.kind === "time") return read.ms;
  if (read.kind === "no_zone") throw new AppError("invalid_request", `${name} needs a timezone, such as -07:00 or Z`);
  throw new AppError(
    "invalid_request",
    `${name} must be an ISO 8601 time with a timezone, a day such as 2026-11-05 or a month such as 2026-11: ${
      shown(text)
    }`,
  );
}
