import { wrap } from "../text/cells.ts";
import { type Line, line, type Span, span } from "../text/line.ts";

/** A name and what is known of it; null is left out. */
export type Fact = readonly [label: string, value: string | Span | null];

/** Names and values of one thing, the values wrapped beside their names. */
export function factLines(facts: readonly Fact[], width: number): Line[] {
  const known = facts.filter((fact): fact is [string, string | Span] => fact[1] !== null && fact[1] !== "");
  const indent = Math.min(16, Math.max(6, ...known.map(([label]) => label.length)) + 2);
  return known.flatMap(([label, value]) => {
    const shown = typeof value === "string" ? { text: value } : value;
    return wrap(shown.text, Math.max(8, width - indent)).map((text, row) =>
      line(span((row === 0 ? label : "").padEnd(indent), "dim"), { ...shown, text })
    );
  });
}
