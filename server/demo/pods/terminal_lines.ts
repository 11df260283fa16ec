/**
 * What a terminal driver does for a shell that has none: echo, line editing, Ctrl-C, Ctrl-D. A client that asked for a
 * terminal sends raw keys and expects this from the other side.
 */
import { Buffer } from "node:buffer";

export interface TerminalTarget {
  /** Shows text to the user. */
  echo(text: string): void;
  /** One finished line with its newline, for the shell. */
  line(text: string): void;
  /** Ctrl-C. */
  interrupt(): void;
  /** Ctrl-D on an empty line. */
  end(): void;
}

/** Returns a function that takes what the user types. */
export function createTerminalLines(target: TerminalTarget): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let line: string[] = [];
  let inEscape = false;

  const flush = (end: string) => {
    target.line(line.join("") + end);
    line = [];
  };
  const keys: Readonly<Record<string, () => void>> = {
    "\r": () => {
      target.echo("\r\n");
      flush("\n");
    },
    "\u0003": () => {
      target.echo("^C\r\n");
      line = [];
      target.interrupt();
    },
    "\u0004": () => line.length === 0 ? target.end() : flush(""),
    "\u0015": () => {
      target.echo("\b \b".repeat(line.length));
      line = [];
    },
    "\u007f": () => {
      if (line.pop() !== undefined) target.echo("\b \b");
    },
    "\u001b": () => {
      inEscape = true;
    },
  };
  const alias: Readonly<Record<string, string>> = { "\n": "\r", "\b": "\u007f" };

  return (bytes) => {
    for (const character of decoder.decode(bytes, { stream: true })) {
      if (inEscape) {
        // Arrow keys and the like: ESC [ parameters, ended by a letter or a tilde.
        inEscape = !/[A-Za-z~]/.test(character);
        continue;
      }
      const key = keys[alias[character] ?? character];
      if (key) key();
      else if (character >= " " || character === "\t") {
        line.push(character);
        target.echo(character);
      }
    }
  };
}

/** Output as a terminal shows it: each newline also returns to the left edge. */
export function withCarriageReturns(bytes: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(bytes).toString("latin1").replaceAll("\n", "\r\n"), "latin1");
}
