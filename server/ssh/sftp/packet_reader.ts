import { Buffer } from "node:buffer";
import { ensure } from "../format_error.ts";
import { DATA, MAX_PACKET } from "./protocol.ts";

/** Cuts the bytes of a channel into packets, as they come. */
export interface PacketReader {
  /** Throws a FormatError for a length no packet has. What `onPacket` throws comes through. */
  feed(chunk: Uint8Array): void;
}

/** Bytes of a packet's length. */
const LENGTH = 4;

/**
 * `onPacket` gets each packet without its length. File content comes in a buffer of its own; the buffer of every other
 * packet is used again for the next one, so what is kept of it must be a copy.
 */
export function createPacketReader(onPacket: (packet: Uint8Array) => void): PacketReader {
  const head = Buffer.alloc(LENGTH + 1);
  let headLength = 0;
  let packet: Buffer | undefined;
  let filled = 0;
  let shared = Buffer.alloc(0);

  const begin = (type: number, length: number): Buffer => {
    // Not from Node's pool: content that is kept must not keep others' memory.
    if (type === DATA) return Buffer.allocUnsafeSlow(length);
    if (length > shared.length) shared = Buffer.allocUnsafeSlow(length);
    return shared.subarray(0, length);
  };

  return {
    feed(chunk) {
      let at = 0;
      while (at < chunk.length) {
        if (packet === undefined) {
          head[headLength++] = chunk[at++]!;
          if (headLength < LENGTH) continue;
          const length = head.readUInt32BE(0);
          const hint = "what arrives is not SFTP but perhaps the output of a login script";
          ensure(length >= 1 && length <= MAX_PACKET, `a packet claims to have ${length} bytes; ${hint}`);
          if (headLength === LENGTH) continue;
          headLength = 0;
          const type = head[LENGTH]!;
          packet = begin(type, length);
          packet[0] = type;
          filled = 1;
        }
        const part = chunk.subarray(at, at + packet.length - filled);
        packet.set(part, filled);
        filled += part.length;
        at += part.length;
        if (filled < packet.length) continue;
        const whole = packet;
        packet = undefined;
        onPacket(whole);
      }
    },
  };
}
