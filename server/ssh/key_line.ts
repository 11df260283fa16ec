import { ensure } from "./format_error.ts";
import { isPrintable } from "./wire.ts";

/** Longest comment of a key, in characters. */
const MAX_COMMENT = 200;

export interface KeyLine {
  readonly type: string;
  readonly base64: string;
  readonly comment: string;
}

/**
 * Splits "<type> <base64>[ <comment>]", the line of a .pub file. Spaces, tabs and line ends around the line are
 * dropped, and no other blank characters, which OpenSSH would take for a part of the line; within it the parts are separated by exactly one space. `max` is in characters. Throws a FormatError.
 */
export function splitKeyLine(text: string, max: number): KeyLine {
  ensure(!/^\s*(?:-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----|PuTTY-User-Key-File)/.test(text), "it is a private key");
  ensure(text.length <= max, `it is longer than ${max} characters`);
  const line = text.replace(/^(?:[ \t]|\r?\n)+|[ \t\r\n]+$/g, "");
  ensure(line !== "", "it is empty");
  ensure(!line.startsWith("----"), "it is not in OpenSSH's format of one line");
  ensure(!/[\r\n]/.test(line), "it has more than one line");
  const [type = "", base64 = "", ...rest] = line.split(" ");
  const comment = rest.join(" ");
  ensure(base64 !== "" || rest.length > 0 || type.includes("\t"), "there is no base64 after its type");
  const singleSpaces = base64 !== "" && !comment.startsWith(" ") && rest[0] !== "" && !/\t/.test(type + base64);
  ensure(singleSpaces, "its parts are not separated by single spaces");
  checkComment(comment);
  return { type, base64, comment };
}

/** Throws a FormatError unless the comment is printable ASCII of at most 200 characters. */
export function checkComment(comment: string): void {
  ensure(comment.length <= MAX_COMMENT, `its comment is longer than ${MAX_COMMENT} characters`);
  ensure(isPrintable(comment), "its comment has characters other than printable ASCII");
}
