/** Two judges of the same input, our parsers and ssh-keygen, and when their verdicts go together. */
import { AppError } from "../../../server/errors.ts";

/** What a judge says of an input: accepted, with what it reads in it, or refused, with the reason. */
export type Verdict =
  | { readonly accepts: true; readonly says: string }
  | { readonly accepts: false; readonly reason: string };

export type Kind = "keys" | "certificates" | "krl" | "private_keys";

/** One kind of input, and the two judges of it. */
export interface Judges<Input> {
  readonly kind: Kind;
  /** Our verdict. Whatever our parser throws besides its own error passes through. */
  ours(input: Input): Verdict;
  /** The verdicts of ssh-keygen in the order of the inputs; `dir` is for its files. */
  theirs(dir: string, inputs: readonly Input[]): Verdict[];
}

export const accepted = (says: string): Verdict => ({ accepts: true, says });
export const refused = (reason: string): Verdict => ({ accepts: false, reason });

/** Runs a parser: its `invalid_request` is a refusal, whose reason stands after `sentence` and a colon. */
export function verdictOf(sentence: string, read: () => string): Verdict {
  try {
    return accepted(read());
  } catch (error) {
    const isRefusal = error instanceof AppError && error.code === "invalid_request";
    if (!isRefusal || !error.message.startsWith(`${sentence}: `)) throw error;
    return refused(error.message.slice(sentence.length + 2));
  }
}

/** Reasons for which we refuse what ssh-keygen accepts, each with its why; `#` stands for a number, `…` for any end. */
export type Stricter = Readonly<Record<Kind | "fields", Readonly<Record<string, string>>>>;

const table = new URL("../../vectors/openssh/stricter.json", import.meta.url);
export const stricter = JSON.parse(Deno.readTextFileSync(table)) as Stricter;

/** The row of the table that a reason falls under; undefined when it may not differ. */
export function rowOf(kind: Kind, reason: string): string | undefined {
  const numberless = reason.replace(/\b\d+\b/g, "#");
  const fields = kind === "keys" || kind === "certificates" ? Object.keys(stricter.fields) : [];
  return [...Object.keys(stricter[kind]), ...fields].find((row) =>
    row.endsWith("…") ? numberless.startsWith(row.slice(0, -1)) : numberless === row
  );
}

/** What is wrong between the two verdicts, for a person; undefined when they agree or differ on purpose. */
export function disagreement(kind: Kind, ours: Verdict, theirs: Verdict): string | undefined {
  if (ours.accepts && theirs.accepts) {
    return ours.says === theirs.says ? undefined : `we read:\n${ours.says}\nssh-keygen reads:\n${theirs.says}`;
  }
  if (ours.accepts) return `we accept, ssh-keygen refuses: ${theirs.accepts ? "" : theirs.reason}`;
  if (!theirs.accepts || rowOf(kind, ours.reason) !== undefined) return undefined;
  return `ssh-keygen accepts, we refuse without a row in the table of stricter rules: ${ours.reason}`;
}
