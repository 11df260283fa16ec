/** Multipart bodies (RFC 7578) as they come in: one part at a time, none of them held in memory. */
import { Buffer } from "node:buffer";
import { AppError } from "../errors.ts";

export interface Part {
  /** The form field. */
  readonly name: string;
  /** The bytes of a file's name; null for a plain field. */
  readonly filename: Uint8Array | null;
  /** Must be read or cancelled before the next part; what is left of it is skipped then. */
  readonly content: ReadableStream<Uint8Array>;
}

const MAX_HEADERS = 16 * 1024;
const MAX_PARTS = 100;
const CRLF = Buffer.from("\r\n");
const BLANK_LINE = Buffer.from("\r\n\r\n");

/** The boundary of a `multipart/form-data` content type, or null for anything else. */
export function boundaryOf(contentType: string | undefined): string | null {
  const found = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;",]{1,70})(?=[\s;]|$))/i.exec(
    contentType ?? "",
  );
  return found?.[1] ?? found?.[2] ?? null;
}

/**
 * The parts of a body. Throws `invalid_request` for one that is broken or ends early, also out of a part's content. Errors
 * of the body come through as they are.
 */
export async function* multipartParts(body: ReadableStream<Uint8Array>, boundary: string): AsyncGenerator<Part> {
  const source = bytesFrom(body);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  try {
    // What stands before the first delimiter is of no meaning.
    for await (const _ of source.until(delimiter));
    for (let count = 0; !await source.isLast(); count++) {
      if (count === MAX_PARTS) throw broken(`it has more than ${MAX_PARTS} parts`);
      const { name, filename } = disposition(await source.headers());
      const content = source.until(delimiter);
      yield { name, filename, content: streamOf(content) };
      for await (const _ of content);
    }
  } finally {
    await source.end();
  }
}

function broken(fault: string): AppError {
  return new AppError("invalid_request", `The multipart body is broken: ${fault}`);
}

/** A cursor over the bytes of a body, holding one chunk and what may be the beginning of a delimiter. */
function bytesFrom(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader();
  // The first delimiter may be the very beginning; all others stand on a line of their own.
  let held: Buffer = CRLF;

  const more = async () => {
    const { value, done } = await reader.read();
    if (done) throw broken("it ends before its last boundary");
    held = held.length === 0 ? Buffer.from(value.buffer, value.byteOffset, value.length) : Buffer.concat([held, value]);
  };
  const take = (length: number): Buffer => {
    const taken = held.subarray(0, length);
    held = held.subarray(length);
    return taken;
  };

  return {
    /** The bytes before the next delimiter, which is taken too. */
    async *until(delimiter: Buffer): AsyncGenerator<Uint8Array> {
      for (;;) {
        const at = held.indexOf(delimiter);
        const length = at >= 0 ? at : Math.max(0, held.length - delimiter.length + 1);
        if (length > 0) yield take(length);
        if (at >= 0) {
          take(delimiter.length);
          return;
        }
        await more();
      }
    },
    /** After a delimiter: true when it was the last one. */
    async isLast(): Promise<boolean> {
      while (held.length < 2) await more();
      if (held.subarray(0, 2).equals(Buffer.from("--"))) return true;
      // Spaces may follow a delimiter; what else follows belongs to no line of ours.
      let end = held.indexOf(CRLF);
      while (end < 0 && held.length < 100) {
        await more();
        end = held.indexOf(CRLF);
      }
      if (end < 0 || !/^[ \t]*$/.test(held.toString("latin1", 0, end))) throw broken("a boundary is not a whole line");
      take(end);
      return false;
    },
    /** The header lines of a part, as latin-1. */
    async headers(): Promise<string> {
      for (;;) {
        const end = held.indexOf(BLANK_LINE);
        if (end > MAX_HEADERS || (end < 0 && held.length > MAX_HEADERS)) {
          throw broken("the headers of a part are too long");
        }
        if (end >= 0) return take(end + BLANK_LINE.length).toString("latin1");
        await more();
      }
    },
    /** Gives up what was not read. The body may have failed, which whoever read it has heard. */
    async end(): Promise<void> {
      await reader.cancel().catch(() => {});
    },
  };
}

function streamOf(content: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await content.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  }, { highWaterMark: 0 });
}

/** What a part is: the names of its field and its file. Browsers escape three characters, others use a backslash. */
function disposition(headers: string): { name: string; filename: Uint8Array | null } {
  const line = /^content-disposition:\s*form-data\s*(;.*)$/im.exec(headers)?.[1];
  const parameters = new Map<string, string>();
  for (
    const [, name = "", quoted, bare = ""] of (line ?? "").matchAll(/;\s*(\w+)=(?:"((?:\\.|[^"\\])*)"|([^;\s]*))/g)
  ) {
    parameters.set(name.toLowerCase(), quoted === undefined ? bare : unescaped(quoted));
  }
  const name = parameters.get("name");
  if (name === undefined) throw broken("a part has no name");
  const filename = parameters.get("filename");
  return {
    name: Buffer.from(name, "latin1").toString("utf8"),
    filename: filename === undefined ? null : Uint8Array.from(Buffer.from(filename, "latin1")),
  };
}

function unescaped(text: string): string {
  return text.replace(/\\(["\\])/g, "$1").replace(/%22/g, '"').replace(/%0D/gi, "\r").replace(/%0A/gi, "\n");
}
