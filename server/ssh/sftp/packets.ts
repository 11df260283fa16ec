/** Requests as bytes: u32 length, u8 type, u32 id, fields. The session fills in the id. */
import { Buffer } from "node:buffer";
import * as protocol from "./protocol.ts";

/** Length, type and id. */
export const HEAD = 9;

/** Bytes become an SSH `string`, a number a u32, a bigint a u64; `raw` bytes go as they are. */
export type Field = Uint8Array | number | bigint | { readonly raw: Uint8Array };

function sizeOf(field: Field): number {
  if (typeof field === "number") return 4;
  if (typeof field === "bigint") return 8;
  return field instanceof Uint8Array ? 4 + field.length : field.raw.length;
}

/** A whole request without its id. */
export function request(type: number, ...fields: readonly Field[]): Buffer {
  const packet = Buffer.allocUnsafe(HEAD + fields.map(sizeOf).reduce((sum, size) => sum + size, 0));
  packet.writeUInt32BE(packet.length - 4, 0);
  packet[4] = type;
  let at = HEAD;
  for (const field of fields) {
    if (typeof field === "number") packet.writeUInt32BE(field, at);
    else if (typeof field === "bigint") packet.writeBigUInt64BE(field, at);
    else if (field instanceof Uint8Array) {
      packet.writeUInt32BE(field.length, at);
      packet.set(field, at + 4);
    } else packet.set(field.raw, at);
    at += sizeOf(field);
  }
  return packet;
}

export function extended(name: string, ...fields: readonly Field[]): Buffer {
  return request(protocol.EXTENDED, new TextEncoder().encode(name), ...fields);
}

/** A WRITE request that is filled bit by bit, so that file content is copied once. */
export interface WriteBlock {
  /** Takes as much of `bytes` as there is room for and returns how much that was. */
  add(bytes: Uint8Array): number;
  readonly length: number;
  readonly full: boolean;
  /** The request for what was added. The block must not be used after that. */
  packet(): Buffer;
}

export function writeBlock(handle: Uint8Array, offset: number, size: number): WriteBlock {
  const start = HEAD + 4 + handle.length + 8 + 4;
  const buffer = Buffer.allocUnsafeSlow(start + size);
  let length = 0;
  return {
    add(bytes) {
      const part = bytes.length > size - length ? bytes.subarray(0, size - length) : bytes;
      buffer.set(part, start + length);
      length += part.length;
      return part.length;
    },
    get length() {
      return length;
    },
    get full() {
      return length === size;
    },
    packet() {
      const packet = buffer.subarray(0, start + length);
      packet.writeUInt32BE(packet.length - 4, 0);
      packet[4] = protocol.WRITE;
      packet.writeUInt32BE(handle.length, HEAD);
      packet.set(handle, HEAD + 4);
      packet.writeBigUInt64BE(BigInt(offset), start - 12);
      packet.writeUInt32BE(length, start - 4);
      return packet;
    },
  };
}
