import { EventEmitter } from "node:events";
import type { RenderOptions } from "ink";
import { EMPTY_SCREEN, ENTER_ALTERNATE } from "./plain_screen.ts";

type Output = NonNullable<RenderOptions["stdout"]>;

/** What the drawing library gets in place of the terminal's output: writes pass through unless they are muted. */
export interface InkStdout {
  readonly stream: Output;
  /** Drops what is written while `work` runs. */
  muted(work: () => void): void;
  /** Says that the window has another size now. */
  resize(columns: number, rows: number): void;
}

// deno-lint-ignore no-control-regex
const SEQUENCE = /\x1b\[[0-?]*[@-~]/g;

/**
 * A window that changes its size moves and cuts what is on it, so nothing that the library believes of the screen is true
 * then. It learns of a new size only through here, after its memory of the screen and the screen itself were emptied.
 *
 * The alternate screen is on already, with the last plain frame on it. It stays there until the library's first frame, which
 * comes a moment after its start: in between one would see an empty screen.
 *
 * `onWritten` is called whenever something was sent to the terminal.
 */
export function createInkStdout(
  output: Output,
  size: { readonly columns: number; readonly rows: number },
  onWritten: () => void = () => {},
): InkStdout {
  let isMuted = false;
  let isFirst = true;
  const withFirst = (chunk: string): string => {
    const text = chunk.replaceAll(ENTER_ALTERNATE, "");
    if (text.replace(SEQUENCE, "") === "") return text;
    isFirst = false;
    return EMPTY_SCREEN + text;
  };
  const stream = Object.assign(new EventEmitter(), {
    ...size,
    isTTY: true,
    writable: true,
    write(chunk: string, ...rest: unknown[]): boolean {
      const done = rest.find((one) => typeof one === "function") as (() => void) | undefined;
      if (isMuted) {
        done?.();
        return true;
      }
      const isTaken = output.write(isFirst ? withFirst(chunk) : chunk, done);
      onWritten();
      return isTaken;
    },
  });
  return {
    stream: stream as unknown as Output,
    muted(work) {
      isMuted = true;
      try {
        work();
      } finally {
        isMuted = false;
      }
    },
    resize(columns, rows) {
      stream.columns = columns;
      stream.rows = rows;
      stream.emit("resize");
    },
  };
}
