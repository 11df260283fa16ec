/**
 * Text of others as it may stand in a terminal: one line, with control, direction and other invisible characters
 * written as `\u{…}`, so that a pod's name cannot move the cursor or forge a line.
 */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);
}

/** The same for a text of several lines: line ends and tabs stay. Plain text is not changed. */
export function plainLines(text: string): string {
  return text.replace(/[^\t\n]+/g, plain);
}

/**
 * JSON as it may stand in a terminal: the same values, with control, direction and other invisible characters, which
 * JSON lets stand in strings, written as `\\uXXXX`.
 */
export function plainJson(text: string): string {
  return text.replace(
    /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}\p{Co}]/gu,
    (c) => Array.from(c.split(""), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  );
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** How many columns of a terminal a text takes. */
function widthOf(text: string): number {
  let width = 0;
  for (const char of text) {
    if (/\p{Mn}|\p{Me}/u.test(char)) continue;
    width += WIDE.test(char) || /\p{Emoji_Presentation}/u.test(char) || char.codePointAt(0)! >= 0x20000 ? 2 : 1;
  }
  return width;
}

/** What stands in a cell: `-` for nothing. */
export type Cell = string | number | null;

const cellText = (cell: Cell) => cell === null || cell === "" ? "-" : plain(String(cell));

/** Rows below their headings, in aligned columns two spaces apart. */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [headings, ...rows.map((row) => row.map(cellText))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ""))));
  return lines.map((line) =>
    line.map((cell, column) => cell + " ".repeat(widths[column]! - widthOf(cell))).join("  ").trimEnd()
  ).join("\n");
}

/** Names and values of one thing, a line each. */
export function facts(pairs: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length)) + 2;
  return pairs.map(([name, value]) => name.padEnd(width) + cellText(value)).join("\n");
}

/** A time of the API without its fractions of a second: `2026-09-01 12:00:00Z`. */
export function shortTime(iso: string | null): string | null {
  return iso === null ? null : iso.replace("T", " ").replace(/(?:\.\d+)?(?:Z|\+00:00)$/, "Z");
}
