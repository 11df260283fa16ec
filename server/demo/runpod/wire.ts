/** Reads HTTP/1.1 requests from a socket and writes answers, byte by byte, so that an answer can be cut anywhere. */
import { STATUS_CODES } from "node:http";
import type { Answer } from "./answers.ts";

export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly keepAlive: boolean;
}

/** What the client sent is not HTTP as the stand-in reads it. */
export class WireError extends Error {
  override readonly name = "WireError";
}

const MOST_HEAD = 64 * 1024;
const MOST_BODY = 4 * 1024 * 1024;

/** Bytes of a connection, read as far as somebody asks. */
export class ByteReader {
  #buffer = new Uint8Array(0);
  constructor(private readonly conn: Deno.Conn) {}

  /** Everything up to and without `end`; null when the connection ended before its first byte. */
  async until(end: string, most: number): Promise<string | null> {
    for (;;) {
      const text = latin1(this.#buffer);
      const at = text.indexOf(end);
      if (at >= 0) {
        this.#buffer = this.#buffer.slice(at + end.length);
        return text.slice(0, at);
      }
      if (text.length > most) throw new WireError("The request head is too large");
      const empty = this.#buffer.length === 0;
      if (!await this.#more()) {
        if (empty) return null;
        throw new WireError("The connection ended inside a request");
      }
    }
  }

  async exactly(length: number): Promise<Uint8Array> {
    while (this.#buffer.length < length) {
      if (!await this.#more()) throw new WireError("The connection ended inside a body");
    }
    const bytes = this.#buffer.slice(0, length);
    this.#buffer = this.#buffer.slice(length);
    return bytes;
  }

  /** Resolves when the other side has closed; what it sends until then is thrown away. */
  async closed(): Promise<void> {
    while (await this.#more()) this.#buffer = new Uint8Array(0);
  }

  async #more(): Promise<boolean> {
    const chunk = new Uint8Array(16 * 1024);
    const count = await this.conn.read(chunk);
    if (count === null) return false;
    const joined = new Uint8Array(this.#buffer.length + count);
    joined.set(this.#buffer);
    joined.set(chunk.subarray(0, count), this.#buffer.length);
    this.#buffer = joined;
    return true;
  }
}

/** The next request of a connection, or null when the client closed it. Throws WireError on what is not HTTP. */
export async function readRequest(reader: ByteReader): Promise<WireRequest | null> {
  const head = await reader.until("\r\n\r\n", MOST_HEAD);
  if (head === null) return null;
  const [first = "", ...lines] = head.split("\r\n");
  const [, method, target, version] = /^([A-Z]+) (\/\S*) HTTP\/1\.([01])$/.exec(first) ?? [];
  if (method === undefined || target === undefined) throw new WireError("The request line is not HTTP/1");
  const headers = new Headers();
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[\t ]*([\t\x20-\x7e]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new WireError("A header is malformed");
    headers.append(name, value.trimEnd());
  }
  const keepAlive = version === "1" && headers.get("connection")?.toLowerCase() !== "close";
  return { method, target, headers, body: await readBody(reader, headers), keepAlive };
}

async function readBody(reader: ByteReader, headers: Headers): Promise<Uint8Array> {
  if (/\bchunked\b/i.test(headers.get("transfer-encoding") ?? "")) return await readChunks(reader);
  const length = headers.get("content-length") ?? "0";
  if (!/^\d+$/.test(length) || Number(length) > MOST_BODY) throw new WireError("The content length is not acceptable");
  return await reader.exactly(Number(length));
}

async function readChunks(reader: ByteReader): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const line = await reader.until("\r\n", MOST_HEAD);
    const size = parseInt(line ?? "", 16);
    if (!(size >= 0) || (total += size) > MOST_BODY) throw new WireError("A chunk size is not acceptable");
    if (size === 0) break;
    chunks.push(await reader.exactly(size));
    await reader.exactly(2);
  }
  while (await reader.until("\r\n", MOST_HEAD)) { /* trailers are not used */ }
  const body = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

/** The bytes of an answer: the head, and the body unless the method is HEAD. */
export function bytesOf(answer: Answer, options: { readonly head: boolean; readonly close: boolean }) {
  const body = new TextEncoder().encode(answer.body ?? "");
  const headers: Record<string, string> = {
    ...answer.headers,
    ...(answer.status === 204 ? {} : { "content-length": String(body.length) }),
    ...(options.close ? { connection: "close" } : {}),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = new TextEncoder().encode(
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}\r\n${lines}\r\n`,
  );
  return { head, body: options.head ? new Uint8Array(0) : body };
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
