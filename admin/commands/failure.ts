import { AppError, exitCodeOf } from "../../server/errors.ts";
import { Refusal } from "../client/refusal.ts";
import { flagWords } from "./flag_words.ts";
import { plain, plainLines } from "./text.ts";

export interface Failure {
  readonly exitCode: number;
  /** For standard error: the sentence, then what is known beside it. */
  readonly lines: readonly string[];
}

/** What the user gets to see of something that was thrown. The stack of an unforeseen error only with `debug`. */
export function failureOf(error: unknown, debug: boolean): Failure {
  if (error instanceof AppError) {
    const { hint } = error.details;
    const notes = hint === undefined ? [] : [`hint: ${plain(hint)}`];
    return { exitCode: exitCodeOf(error.code), lines: [`error: ${plain(error.message)}`, ...notes] };
  }
  if (error instanceof Refusal) {
    return {
      exitCode: error.exitCode,
      lines: [error.message, ...error.notes].map((line, n) => (n === 0 ? "error: " : "") + plain(flagWords(line))),
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  const more = debug ? [plainLines(String(error instanceof Error ? error.stack : error))] : [];
  return { exitCode: 1, lines: [`error: Something went wrong inside orgpods: ${plain(message)}`, ...more] };
}
