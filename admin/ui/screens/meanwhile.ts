import { wrap } from "../text/cells.ts";
import { type Line, line, span } from "../text/line.ts";

/** Says in a form what somebody else did to its subject while it was open; nothing for null. */
export function meanwhileLines(said: string | null, width: number): Line[] {
  return said === null ? [] : wrap(`! ${said}`, width - 2).map((text) => line(span(` ${text}`, "bad")));
}

/** The same for one value: what it was when the form was opened, and what it is now; undefined while that is not known. */
export function changedLines<T>(before: T, now: T | undefined, text: (now: T) => string, width: number): Line[] {
  const isSame = now === undefined || now === before;
  return meanwhileLines(
    isSame ? null : `Somebody changed it meanwhile, to ${text(now)}. Sending replaces that.`,
    width,
  );
}
