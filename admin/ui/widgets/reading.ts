import type { Reading } from "../core/cache.ts";
import { wrap } from "../text/cells.ts";
import { type Line, line, span } from "../text/line.ts";

/**
 * What is drawn of something of the server: its value as `draw` does, else that it is loading, or the reason why it could
 * not be loaded, in the server's own words. A value whose refresh failed is drawn below that reason.
 */
export function drawReading<T>(
  reading: Reading<T>,
  width: number,
  height: number,
  draw: (value: T, height: number) => readonly Line[],
): Line[] {
  const { value, problem } = reading;
  if (value === undefined) {
    return problem === null ? [line(span("  Loading …", "dim"))] : problemLines(problem, width);
  }
  if (problem === null) return [...draw(value, height)];
  const reason = problemLines(problem, width).slice(0, Math.min(3, Math.max(1, height - 4)));
  return [...reason, ...draw(value, height - reason.length)];
}

/** A refusal as the server wrote it, with its notes. */
export function problemLines(
  problem: { readonly sentence: string; readonly notes: readonly string[] },
  width: number,
): Line[] {
  const [first = "", ...rest] = [problem.sentence, ...problem.notes].flatMap((text) =>
    wrap(text, Math.max(10, width - 4))
  );
  return [line(span(`  ! ${first}`, "bad")), ...rest.map((text) => line(span(`    ${text}`, "bad")))];
}
