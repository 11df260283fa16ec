import { AppError, statusOf } from "../../../server/errors.ts";
import { Refusal } from "../../client/refusal.ts";

/**
 * What kept a call from succeeding:
 * - `refused`: the server said no; its sentence is shown as it is
 * - `signed_out`: the token does not work any more
 * - `busy`: the server wants to be asked later (429)
 * - `away`: no answer, or one of a proxy: what came of the call is not known
 * - `late`: no answer within the deadline, which is as unknown
 * - `stopped`: the person here gave it up
 */
export type ProblemKind = "refused" | "signed_out" | "busy" | "away" | "late" | "stopped";

export class Problem extends Error {
  override readonly name = "Problem";
  constructor(
    readonly kind: ProblemKind,
    /** For a person, with its full stop where the server set one. */
    readonly sentence: string,
    readonly facts: {
      /** The server's code, such as `runpod_key_missing`. */
      readonly code?: string | undefined;
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
      /** Lines beside the sentence, such as `hint: …` or `attention_id: …`. */
      readonly notes?: readonly string[] | undefined;
    } = {},
  ) {
    super(sentence);
  }

  get code(): string | undefined {
    return this.facts.code;
  }

  get notes(): readonly string[] {
    return this.facts.notes ?? [];
  }
}

/** What was thrown by a call, as a problem; null for anything that is a mistake in the program. */
export function problemOf(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (error instanceof AppError) {
    const notes = error.details.hint === undefined ? [] : [`hint: ${error.details.hint}`];
    return new Problem("refused", error.message, { code: error.code, status: statusOf(error.code), notes });
  }
  if (!(error instanceof Refusal)) return null;
  const { status, code, notes, retryAfterS } = error;
  const facts = { code, status, notes, retryAfterMs: retryAfterS === undefined ? undefined : retryAfterS * 1_000 };
  return new Problem(kindOf(status, code), error.message, facts);
}

function kindOf(status: number | undefined, code: string | undefined): ProblemKind {
  if (status === 401) return "signed_out";
  if (status === 429) return "busy";
  // The server names a code in every answer of its own; without one it was somebody between.
  if (status === undefined || (status >= 500 && code === undefined)) return "away";
  return "refused";
}
