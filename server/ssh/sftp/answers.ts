/**
 * Answers of the server, checked to the last byte. Each function throws an `SftpError` for a status that is the server's
 * refusal of the call, and a FormatError for what breaks the protocol.
 */
import { ensure, FormatError } from "../format_error.ts";
import { Reader } from "../wire.ts";
import { readAttributes, wholeNumber } from "./attributes.ts";
import { statusError } from "./error.ts";
import type { Attributes, DirectoryEntry, FileSystemState } from "./interface.ts";
import { checkEntryName, isDots } from "./paths.ts";
import * as protocol from "./protocol.ts";

/** An answer without its type and id. */
export interface Answer {
  readonly type: number;
  readonly reader: Reader;
}

const READ_ONLY = 1n;

/** The status code, when it is one of those that are no refusal. */
function status({ reader }: Answer): number {
  const code = reader.u32();
  // Older servers leave out the message or its language.
  const text = reader.atEnd ? new Uint8Array() : reader.string();
  if (!reader.atEnd) reader.string();
  reader.end("a status answer");
  if (code !== protocol.OK && code !== protocol.END_OF_FILE) throw statusError(code, text);
  return code;
}

/** The reader of an answer that must have the type; undefined for the end of a file where that is an answer. */
function content(answer: Answer, type: number, mayEnd = false): Reader | undefined {
  if (answer.type === type) return answer.reader;
  ensure(answer.type === protocol.STATUS, `an answer has the type ${answer.type} instead of ${type}`);
  const code = status(answer);
  if (code !== protocol.END_OF_FILE) throw new FormatError("it says OK and leaves out what was asked for");
  if (!mayEnd) throw statusError(code, new TextEncoder().encode("End of file"));
  return undefined;
}

export function done(answer: Answer): void {
  ensure(answer.type === protocol.STATUS, `an answer has the type ${answer.type} instead of a status`);
  const code = status(answer);
  if (code !== protocol.OK) throw statusError(code, new TextEncoder().encode("End of file"));
}

export function handle(answer: Answer): Uint8Array {
  const reader = content(answer, protocol.HANDLE)!;
  const bytes = Uint8Array.from(reader.string());
  ensure(bytes.length <= protocol.MAX_HANDLE, `a handle has more than ${protocol.MAX_HANDLE} bytes`);
  reader.end("a handle");
  return bytes;
}

export function attributes(answer: Answer): Attributes {
  const reader = content(answer, protocol.ATTRIBUTES)!;
  const read = readAttributes(reader);
  reader.end("attributes");
  return read;
}

/** One to `asked` bytes, or undefined at the end of the file. */
export function data(answer: Answer, asked: number): Uint8Array | undefined {
  const reader = content(answer, protocol.DATA, true);
  if (!reader) return undefined;
  const bytes = reader.string();
  ensure(bytes.length > 0 && bytes.length <= asked, `${bytes.length} bytes came where ${asked} were asked for`);
  reader.end("file content");
  return bytes;
}

/** The one path that REALPATH and READLINK answer with. */
export function path(answer: Answer): Uint8Array {
  const reader = content(answer, protocol.NAME)!;
  const count = reader.u32();
  ensure(count === 1, `${count} names came where one was asked for`);
  const name = Uint8Array.from(reader.string());
  ensure(name.length > 0 && name.length <= protocol.MAX_PATH && !name.includes(0), "a path cannot be one");
  reader.string();
  readAttributes(reader);
  reader.end("a path");
  return name;
}

/** A page of a listing without `.` and `..`, or undefined at its end. */
export function entries(answer: Answer): DirectoryEntry[] | undefined {
  const reader = content(answer, protocol.NAME, true);
  if (!reader) return undefined;
  const count = reader.u32();
  ensure(count > 0, "a page of a listing is empty");
  const page: { name: Uint8Array; readonly attributes: Attributes }[] = [];
  let length = 0;
  for (let left = count; left > 0; left--) {
    const name = reader.string();
    // The line as `ls -l` prints it: for people, and not to be parsed.
    reader.skipString();
    const attributes = readAttributes(reader);
    if (isDots(name)) continue;
    checkEntryName(name);
    length += name.length;
    page.push({ name, attributes });
  }
  reader.end("a listing");
  // One buffer for all names of the page: one for each of many thousands takes far more memory.
  const names = new Uint8Array(length);
  let at = 0;
  for (const entry of page) {
    names.set(entry.name, at);
    entry.name = names.subarray(at, at += entry.name.length);
  }
  return page;
}

/** statvfs@openssh.com: eleven u64. */
export function fileSystem(answer: Answer): FileSystemState {
  const reader = content(answer, protocol.EXTENDED_REPLY)!;
  const [, fragment, blocks, free, available, inodes, freeInodes, , id, flags] = Array.from(
    { length: 11 },
    () => reader.u64(),
  ) as bigint[];
  reader.end("the state of a file system");
  return {
    blockSize: wholeNumber(fragment!),
    size: wholeNumber(blocks! * fragment!),
    free: wholeNumber(free! * fragment!),
    available: wholeNumber(available! * fragment!),
    inodes: wholeNumber(inodes!),
    freeInodes: wholeNumber(freeInodes!),
    readOnly: (flags! & READ_ONLY) !== 0n,
    id: id!,
  };
}

/** limits@openssh.com: largest packet, read and write, most open handles; 0 stands for "not told". */
export function blockLimits(answer: Answer): { readonly read: number; readonly write: number } {
  const reader = content(answer, protocol.EXTENDED_REPLY)!;
  const [, read, write] = Array.from({ length: 4 }, () => wholeNumber(reader.u64()));
  reader.end("the limits");
  const limit = (told: number) => Math.min(told === 0 ? protocol.SAFE_BLOCK : told, protocol.MAX_BLOCK);
  return { read: limit(read!), write: limit(write!) };
}
