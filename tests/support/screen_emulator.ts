/**
 * A small terminal emulator: what a program writes becomes a grid of characters. It knows the sequences that the admin
 * uses, throws at others, and notes what must never happen: a line that runs over the right edge, and a frame that
 * scrolls.
 */
import { widthOf } from "../../admin/ui/text/cells.ts";

interface Cell {
  readonly char: string;
  readonly isInverse: boolean;
}

const EMPTY: Cell = { char: " ", isInverse: false };
/** The second column of a wide character. */
const TAIL: Cell = { char: "", isInverse: false };

export interface Emulator {
  write(data: string): void;
  resize(columns: number, rows: number): void;
  /** The screen as text, without the spaces at the ends of lines. */
  text(): string;
  /** Each row, whole. */
  rows(): string[];
  /** Rows with something drawn in reverse. */
  inverseRows(): number[];
  readonly isAlternate: boolean;
  readonly isCursorShown: boolean;
  readonly isPasteOn: boolean;
  /** What must not happen, in words. */
  readonly faults: readonly string[];
  readonly bytes: number;
}

export function createEmulator(columns: number, rows: number): Emulator {
  const blank = () => Array.from({ length: rows }, () => Array.from({ length: columns }, () => EMPTY));
  let grid: Cell[][] = blank();
  let x = 0;
  let y = 0;
  let isInverse = false;
  let isAlternate = false;
  let isCursorShown = true;
  let isPasteOn = false;
  let bytes = 0;
  let rest = "";
  const faults: string[] = [];
  const encoder = new TextEncoder();

  const put = (char: string) => {
    const width = widthOf(char);
    if (width === 0) {
      const cell = grid[y]![Math.max(0, x - 1)]!;
      grid[y]![Math.max(0, x - 1)] = { ...cell, char: cell.char + char };
      return;
    }
    if (x + width > columns) {
      faults.push(`"${char}" runs over the right edge of row ${y}: ${rowText(y)}`);
      return;
    }
    grid[y]![x] = { char, isInverse };
    if (width === 2) grid[y]![x + 1] = TAIL;
    x += width;
  };
  const rowText = (row: number) => grid[row]!.map(({ char }) => char).join("");
  const lineFeed = () => {
    if (y < rows - 1) y++;
    else {
      faults.push(`the frame scrolls: ${rowText(0)}`);
      grid.shift();
      grid.push(Array.from({ length: columns }, () => EMPTY));
    }
  };
  const erase = (row: number, from: number, to: number) => {
    for (let at = from; at < to; at++) grid[row]![at] = EMPTY;
  };
  const csi = (parameters: string, final: string) => {
    const numbers = parameters.replace(/^\?/, "").split(";").map(Number);
    const count = Math.max(1, numbers[0] ?? 1);
    switch (final) {
      case "A":
        return void (y = Math.max(0, y - count));
      case "B":
        return void (y = Math.min(rows - 1, y + count));
      case "C":
        return void (x = Math.min(columns - 1, x + count));
      case "D":
        return void (x = Math.max(0, x - count));
      case "E":
        x = 0;
        return void (y = Math.min(rows - 1, y + count));
      case "G":
        return void (x = Math.min(columns - 1, count - 1));
      case "H":
        y = Math.min(rows - 1, Math.max(1, numbers[0] || 1) - 1);
        return void (x = Math.min(columns - 1, Math.max(1, numbers[1] || 1) - 1));
      case "J":
        if (numbers[0] === 2) return void (grid = blank());
        erase(y, x, columns);
        for (let row = y + 1; row < rows; row++) erase(row, 0, columns);
        return;
      case "K":
        return erase(y, numbers[0] === 1 || numbers[0] === 2 ? 0 : x, numbers[0] === 1 ? x + 1 : columns);
      case "m":
        for (const number of numbers) {
          if (number === 7) isInverse = true;
          if (number === 27 || number === 0) isInverse = false;
        }
        return;
      case "h":
      case "l": {
        const isOn = final === "h";
        if (parameters === "?1049") {
          isAlternate = isOn;
          grid = blank();
          x = y = 0;
        } else if (parameters === "?25") isCursorShown = isOn;
        else if (parameters === "?2004") isPasteOn = isOn;
        else if (parameters !== "?2026") throw new Error(`The emulator does not know the mode ${parameters}`);
        return;
      }
      default:
        throw new Error(`The emulator does not know ESC[${parameters}${final}`);
    }
  };

  return {
    write(data) {
      bytes += encoder.encode(data).length;
      const text = rest + data;
      rest = "";
      for (let at = 0; at < text.length;) {
        const char = text[at]!;
        if (char === "\x1b") {
          // deno-lint-ignore no-control-regex
          const found = /^\x1b\[([0-?]*)([@-~])/.exec(text.slice(at, at + 32));
          if (found === null) {
            if (text.length - at >= 32) throw new Error(`Not a sequence: ${JSON.stringify(text.slice(at, at + 32))}`);
            rest = text.slice(at);
            return;
          }
          csi(found[1]!, found[2]!);
          at += found[0].length;
        } else if (char === "\n") {
          // The terminal's own translation makes a new line of it, as in every program's output.
          x = 0;
          lineFeed();
          at++;
        } else if (char === "\r") {
          x = 0;
          at++;
        } else {
          const letter = String.fromCodePoint(text.codePointAt(at)!);
          if (letter < " " || letter === "\x7f") {
            throw new Error(`A control character was drawn: ${JSON.stringify(letter)}`);
          }
          put(letter);
          at += letter.length;
        }
      }
    },
    resize(nextColumns, nextRows) {
      columns = nextColumns;
      rows = nextRows;
      grid = Array.from(
        { length: rows },
        (_, row) => Array.from({ length: columns }, (_, column) => grid[row]?.[column] ?? EMPTY),
      );
      x = Math.min(x, columns - 1);
      y = Math.min(y, rows - 1);
    },
    text: () => grid.map((_, row) => rowText(row).trimEnd()).join("\n"),
    rows: () => grid.map((_, row) => rowText(row)),
    inverseRows: () => grid.flatMap((row, at) => row.some(({ isInverse }) => isInverse) ? [at] : []),
    get isAlternate() {
      return isAlternate;
    },
    get isCursorShown() {
      return isCursorShown;
    },
    get isPasteOn() {
      return isPasteOn;
    },
    faults,
    get bytes() {
      return bytes;
    },
  };
}
