import { exitCodeOf, isErrorCode } from "../../server/errors.ts";

/** The server said no, or did not answer. The message is a sentence for a person. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(
    message: string,
    readonly exitCode: number,
    /** Lines to show below the sentence, such as `hint: …` or `attention_id: …`. */
    readonly notes: readonly string[] = [],
    /** The code of the server's refusal. */
    readonly code?: string,
    /** The status of the answer; undefined when none came. */
    readonly status?: number,
    /** Seconds after which the server would like to be asked again. */
    readonly retryAfterS?: number,
  ) {
    super(message);
  }
}

/** The longest sentence or note that is taken from an answer, in characters, and the most notes. */
const LONGEST = 4_000;
const MOST_NOTES = 20;
const cut = (text: string) => text.slice(0, LONGEST);

/** A refusal as the contract has it: `{"error", "code", "hint"?, …}`; anything else speaks by its status alone. */
export function refusalOf(status: number, text: string, retryAfter: string | null = null): Refusal {
  const body = objectIn(text);
  const { error, code, hint, ...extra } = body ?? {};
  const exitCode = typeof code === "string" && isErrorCode(code) ? exitCodeOf(code) : exitCodeOfStatus(status);
  if (typeof error !== "string") {
    const message = `The server answered with the status ${status} and without a reason`;
    return new Refusal(message, exitCode, [], undefined, status, secondsIn(retryAfter));
  }
  const notes = typeof hint === "string" ? [cut(`hint: ${hint}`)] : [];
  for (const [name, value] of Object.entries(extra)) {
    if (notes.length === MOST_NOTES) break;
    if (typeof value === "string" || typeof value === "number") notes.push(cut(`${name}: ${value}`));
  }
  return new Refusal(
    cut(error),
    exitCode,
    notes,
    typeof code === "string" ? code : undefined,
    status,
    secondsIn(retryAfter),
  );
}

/** The header `Retry-After` where it is a number of seconds. */
function secondsIn(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
}

/** The exit code for an answer whose code is unknown, such as one of a later version or of a proxy. */
export function exitCodeOfStatus(status: number): number {
  if (status === 401 || status === 403 || status === 407) return 4;
  if (status === 404 || status === 410) return 3;
  if (status === 409 || status === 412) return 5;
  if (status === 424 || status === 429 || (status >= 502 && status <= 504)) return 6;
  return status >= 400 && status < 500 ? 2 : 1;
}

/** The JSON object in a text, or null when it holds none. */
export function objectIn(text: string): Record<string, unknown> | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Record<string, unknown> : null;
}
