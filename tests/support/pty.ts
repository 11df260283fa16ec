/** Programs on a terminal: what they show, and what a person types into them. Needs python3 (its `pty` module). */
import { fileURLToPath } from "node:url";
import { run } from "../demo/pods_support.ts";

/** One exchange: when `expect` (a Python regular expression) is to be read, `send` is typed. */
export interface Step {
  readonly expect: string;
  /** Enter is `\r`. */
  readonly send: string;
  /** Types only once the program has switched the terminal's echo off. */
  readonly hidden?: boolean;
}

export interface TerminalWish {
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly steps?: readonly Step[];
}

export interface Played {
  /** Negative for the number of a signal. */
  readonly code: number;
  /** Everything that was to be read, without control sequences, lines ended by `\n`. */
  readonly text: string;
}

const PLAYER = fileURLToPath(new URL("play_terminal.py", import.meta.url));
/** Far above what anything here takes: a machine may be very busy. */
const DEADLINE_S = 90;
/** Wide enough that tables and sentences are not broken into lines. */
const COLUMNS = 200;

/** Runs a program on a terminal of its own to its end. Fails with what was shown when a step does not come. */
export async function playOnTerminal(argv: readonly string[], wish: TerminalWish): Promise<Played> {
  const task = { argv, rows: 50, columns: COLUMNS, deadline: DEADLINE_S, steps: [], ...wish };
  const player = await run("python3", [PLAYER], JSON.stringify(task));
  if (player.code !== 0) throw new Error(`The terminal could not be played: ${player.err}`);
  const { code, text, failed } = JSON.parse(player.out) as Played & { readonly failed: string | null };
  if (failed !== null) throw new Error(`${argv.join(" ")} never showed ${failed}, but:\n${text}`);
  return { code, text: text.replaceAll("\r\n", "\n") };
}
