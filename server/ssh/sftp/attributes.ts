/** The ATTRS structure (section 5 of the draft). */
import { Buffer } from "node:buffer";
import type { Reader } from "../wire.ts";
import type { AttributeChanges, Attributes, FileKind } from "./interface.ts";

const SIZE = 0x1;
const OWNER = 0x2;
const MODE = 0x4;
const TIMES = 0x8;
const EXTENDED = 0x8000_0000;

const KINDS: Readonly<Record<number, FileKind>> = {
  0o010000: "fifo",
  0o020000: "device",
  0o040000: "directory",
  0o060000: "device",
  0o100000: "file",
  0o120000: "link",
  0o140000: "socket",
};

/** What something is by its mode; `unknown` when the pod told no type. */
export function kindOf(attributes: Attributes): FileKind {
  return KINDS[(attributes.mode ?? 0) & 0o170000] ?? "unknown";
}

/** Throws a FormatError. */
export function readAttributes(reader: Reader): Attributes {
  const flags = reader.u32();
  const attributes: { -readonly [K in keyof Attributes]: Attributes[K] } = {};
  if (flags & SIZE) attributes.size = wholeNumber(reader.u64());
  if (flags & OWNER) {
    attributes.uid = reader.u32();
    attributes.gid = reader.u32();
  }
  if (flags & MODE) attributes.mode = reader.u32();
  if (flags & TIMES) {
    attributes.atime = reader.u32();
    attributes.mtime = reader.u32();
  }
  if (flags & EXTENDED) {
    // Each pair takes bytes of the packet, so a wrong count ends at the packet's end.
    for (let pairs = reader.u32(); pairs > 0; pairs--) {
      reader.string();
      reader.string();
    }
  }
  return attributes;
}

/** The changes as bytes. Throws a RangeError for numbers that do not fit their field. */
export function attributeBytes(changes: AttributeChanges): Uint8Array {
  const { size, owner, mode, times } = changes;
  const bytes = Buffer.alloc(4 + 8 + 8 + 4 + 8);
  const flags = (size === undefined ? 0 : SIZE) | (owner ? OWNER : 0) | (mode === undefined ? 0 : MODE) |
    (times ? TIMES : 0);
  let at = bytes.writeUInt32BE(flags, 0);
  if (size !== undefined) at = bytes.writeBigUInt64BE(BigInt(size), at);
  if (owner) at = bytes.writeUInt32BE(owner.gid, bytes.writeUInt32BE(owner.uid, at));
  if (mode !== undefined) at = bytes.writeUInt32BE(mode & 0o7777, at);
  if (times) at = bytes.writeUInt32BE(times.mtime, bytes.writeUInt32BE(times.atime, at));
  return bytes.subarray(0, at);
}

/** A u64 as a number; what does not fit is given as the largest safe one. */
export function wholeNumber(value: bigint): number {
  return Number(value > BigInt(Number.MAX_SAFE_INTEGER) ? BigInt(Number.MAX_SAFE_INTEGER) : value);
}
