import { type Line, textOf } from "../text/line.ts";
import type { Streams } from "./streams.ts";

export const ENTER_ALTERNATE = "\x1b[?1049h";
const HIDE_CURSOR = "\x1b[?25l";
const LEAVE = "\x1b[?25h\x1b[?1049l";
/** To the top left, and everything from there on erased. */
export const EMPTY_SCREEN = "\x1b[H\x1b[J";

/** The alternate screen, drawn with text alone. */
export interface PlainScreen {
  /** Draws the lines that changed. */
  draw(frame: readonly Line[]): void;
  /** The window has another size: nothing of what stands there is known any more. */
  resize(): void;
  /** Gives the terminal back. */
  close(): void;
}

/**
 * Enters the alternate screen and draws on it without the drawing library, which takes as long to load as everything else
 * together: with it, one would look at an empty terminal for twice the time. Every line of a frame is as wide as the window,
 * so a line that changed is written over.
 */
export function openPlainScreen(output: Streams["stdout"]): PlainScreen {
  let drawn: readonly string[] = [];
  output.write(ENTER_ALTERNATE + HIDE_CURSOR + EMPTY_SCREEN);
  return {
    draw(frame) {
      const rows = frame.map(textOf);
      const changed = rows.flatMap((text, row) => text === drawn[row] ? [] : [`\x1b[${row + 1};1H${text}`]);
      if (changed.length > 0) output.write(changed.join(""));
      drawn = rows;
    },
    resize() {
      drawn = [];
      output.write(EMPTY_SCREEN);
    },
    close: () => void output.write(LEAVE),
  };
}
