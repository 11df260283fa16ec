import { clean, head, widthOf } from "./cells.ts";

/** What a piece of text is; colours only underline what words and marks say already. */
export type Tone = "dim" | "strong" | "good" | "warn" | "bad" | "accent";

export interface Span {
  readonly text: string;
  readonly tone?: Tone;
  /** Drawn in reverse: the selected row, the cursor, the header. */
  readonly inverse?: boolean;
}

/** One line of the screen, from left to right. */
export type Line = readonly Span[];

export const BLANK: Line = [];

/** A piece of text with a tone. */
export function span(text: string, tone?: Tone): Span {
  return tone === undefined ? { text } : { text, tone };
}

/** A line of plain texts and spans. */
export function line(...parts: readonly (string | Span)[]): Line {
  return parts.map((part) => typeof part === "string" ? { text: part } : part);
}

/** The columns that a line takes once it is clean. */
export function lineWidth(parts: Line): number {
  return parts.reduce((sum, part) => sum + widthOf(clean(part.text)), 0);
}

/** A line of exactly `width` columns: cleaned, cut with `…`, filled with spaces. Every line drawn goes through this. */
export function fit(parts: Line, width: number): Line {
  const fitted: Span[] = [];
  const isCut = lineWidth(parts) > width;
  let left = width - (isCut ? 1 : 0);
  for (const part of parts) {
    const text = clean(part.text);
    const shown = head(text, left);
    if (shown !== "") fitted.push(shown === part.text ? part : { ...part, text: shown });
    left -= widthOf(shown);
    if (shown !== text) break;
  }
  const style = parts.at(-1)?.inverse ? { inverse: true } : {};
  if (isCut && width > 0) fitted.push({ text: `…${" ".repeat(Math.max(0, left))}`, ...style });
  else if (left > 0) fitted.push({ text: " ".repeat(left), ...style });
  return fitted;
}

/** The text of a line without its tones. */
export function textOf(parts: Line): string {
  return parts.map(({ text }) => text).join("");
}

/** The same line in reverse, as the selected row is drawn: without tones, which would be blocks of colour there. */
export function reversed(parts: Line): Line {
  return parts.map(({ text }) => ({ text, inverse: true }));
}
