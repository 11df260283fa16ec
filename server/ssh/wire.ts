import { Buffer } from "node:buffer";
import { ensure, FormatError } from "./format_error.ts";

/** Text of spaces to tildes only: safe in a log line, on a terminal and in an error sentence. */
export function isPrintable(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Writes SSH's wire types (RFC 4251 section 5), big-endian. Each call returns the writer, so calls can be chained. */
export class Writer {
  // An array of numbers: for a few hundred bytes it is several times faster than joining typed arrays.
  readonly #bytes: number[] = [];

  /** Bytes as they are, without a length in front. */
  raw(bytes: Uint8Array): this {
    for (const byte of bytes) this.#bytes.push(byte);
    return this;
  }

  u32(value: number): this {
    this.#bytes.push(value >>> 24, value >>> 16 & 0xff, value >>> 8 & 0xff, value & 0xff);
    return this;
  }

  /** An unsigned 64-bit number. Throws a RangeError outside 0 to 2^64-1. */
  u64(value: bigint): this {
    if (BigInt.asUintN(64, value) !== value) throw new RangeError("The value does not fit an unsigned 64-bit number");
    return this.u32(Number(value >> 32n)).u32(Number(value & 0xffff_ffffn));
  }

  /** A `string`: its length as u32, then its bytes. Text must be ASCII; a RangeError says that it is not. */
  string(value: string | Uint8Array): this {
    this.u32(value.length);
    if (typeof value !== "string") return this.raw(value);
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) throw new RangeError("Text written to the SSH wire format must be ASCII");
      this.#bytes.push(code);
    }
    return this;
  }

  /** A copy of everything written so far. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#bytes);
  }
}

/** Reads SSH's wire types from hostile bytes: whatever is wrong is a FormatError, never a RangeError of DataView. */
export class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Bytes read so far. */
  get offset(): number {
    return this.#offset;
  }

  get atEnd(): boolean {
    return this.#offset === this.#bytes.length;
  }

  /** The next `length` bytes, sharing memory with the input. */
  raw(length: number): Uint8Array {
    const from = this.#take(length);
    return this.#bytes.subarray(from, from + length);
  }

  /** Passes over a `string` without looking at it. */
  skipString(): void {
    this.#take(this.u32());
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8));
  }

  /** The bytes of a `string`, sharing memory with the input. */
  string(): Uint8Array {
    return this.raw(this.u32());
  }

  /** A `string` that must be printable ASCII; `what` names it in the reason ("the key id"). */
  text(what: string): string {
    // Latin-1 maps each byte to one character, so nothing can be lost or merged before the check.
    const bytes = this.string();
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    ensure(isPrintable(text), `${what} has characters other than printable ASCII`);
    return text;
  }

  /** Throws unless everything was read; `what` names the whole ("the key"). */
  end(what: string): void {
    ensure(this.atEnd, `there are bytes after the last field of ${what}`);
  }

  #take(length: number): number {
    const from = this.#offset;
    if (length > this.#bytes.length - from) throw new FormatError("it is cut off");
    this.#offset = from + length;
    return from;
  }
}

/** Standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/**
 * Decodes base64 in the one form an encoder writes it: full padding, and no bits set beyond the last byte. Two texts can
 * then never stand for the same bytes. Throws a FormatError.
 */
export function fromBase64(text: string): Uint8Array {
  ensure(/^[A-Za-z0-9+/]+={0,2}$/.test(text), "its base64 is malformed");
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  ensure(toBase64(bytes) === text, "its base64 is not canonical (wrong padding or stray bits at the end)");
  return bytes;
}

/** True for equal content. Not for secrets: the time taken tells where the first difference is. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (a[index] !== b[index]) return false;
  }
  return true;
}
