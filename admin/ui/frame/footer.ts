import { type Offer } from "../core/offers.ts";
import { widthOf } from "../text/cells.ts";
import { type Line, type Span, span } from "../text/line.ts";

const GAP = "  ";

/** A key and what it does, as the footer shows them. */
export type Hint = readonly [key: string, label: string];

export function hintsOf(offers: readonly Offer[]): Hint[] {
  return offers.flatMap(({ isOffered, isMinor, keys, shown, label }): Hint[] =>
    isOffered && !isMinor && keys.length > 0 && shown !== null ? [[shown, label]] : []
  );
}

/**
 * The keys that work now, in so many lines. What has no room any more is behind `? more`, which then is the last one;
 * `more` is its key, or null where there is no help.
 */
export function footerLines(hints: readonly Hint[], width: number, rows: number, more: string | null): Line[] {
  const whole = laidOut(hints, width, rows);
  if (whole.rest === 0 || more === null) return whole.lines;
  const last: Hint = [more, "more"];
  const others = hints.filter(([key]) => key !== more);
  for (let count = others.length; count > 0; count--) {
    const tried = laidOut([...others.slice(0, count), last], width, rows);
    if (tried.rest === 0) return tried.lines;
  }
  return laidOut([last], width, rows).lines;
}

function laidOut(hints: readonly Hint[], width: number, rows: number): { lines: Line[]; rest: number } {
  const lines: Span[][] = [[]];
  let used = 0;
  for (const [index, [key, label]] of hints.entries()) {
    const gap = used === 0 ? "" : GAP;
    const room = widthOf(gap) + widthOf(key) + 1 + widthOf(label);
    if (used > 0 && used + room > width) {
      if (lines.length === rows) return { lines, rest: hints.length - index };
      lines.push([span(key, "strong"), span(` ${label}`)]);
      used = room - GAP.length;
    } else {
      lines.at(-1)!.push(span(gap), span(key, "strong"), span(` ${label}`));
      used += room;
    }
  }
  return { lines, rest: 0 };
}
