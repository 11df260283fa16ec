import { Buffer } from "node:buffer";
import { ensure } from "../format_error.ts";
import { MAX_PACKET } from "./protocol.ts";

/** Cuts the bytes of a channel into packets, as they come. */
export interface PacketReader {
  /** Throws a FormatError for a length no packet has. What `onPacket` throws comes through. */
  feed(chunk: Uint8Array): void;
}

/** `onPacket` gets each packet without its length, in a buffer of its own. */
export function createPacketReader(onPacket: (packet: Uint8Array) => void): PacketReader {
  const head = Buffer.alloc(4);
  let headLength = 0;
  let packet: Buffer | undefined;
  let filled = 0;
  return {
    feed(chunk) {
      let at = 0;
      while (at < chunk.length) {
        if (packet === undefined) {
          head[headLength++] = chunk[at++]!;
          if (headLength < 4) continue;
          const length = head.readUInt32BE(0);
          const hint = "what arrives is not SFTP but perhaps the output of a login script";
          ensure(length >= 1 && length <= MAX_PACKET, `a packet claims to have ${length} bytes; ${hint}`);
          headLength = 0;
          // Not from the shared pool: a name that is kept must not keep others' memory.
          packet = Buffer.allocUnsafeSlow(length);
          filled = 0;
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
