import { AppError, type ErrorCode } from "../errors.ts";

/**
 * Bytes or text that break a format. The message is the reason alone, a clause for a person ("it is cut off"). It never
 * holds any of the refused text, which may be a private key sent by mistake. Leaves this folder only as an AppError.
 */
export class FormatError extends Error {
  override readonly name = "FormatError";
}

/** Throws a FormatError with `reason` unless `condition` holds. */
export function ensure(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new FormatError(reason);
}

/**
 * Runs a parser and turns its FormatError into an AppError that reads "<sentence>: <reason>". Any other error is a fault
 * of the program and passes through.
 */
export function asAppError<T>(code: ErrorCode, sentence: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof FormatError) throw new AppError(code, `${sentence}: ${error.message}`);
    throw error;
  }
}
