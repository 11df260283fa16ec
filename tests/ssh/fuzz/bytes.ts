/** Seeded choices, and SSH's wire format put together from parts that may be wrong. */
import { Buffer } from "node:buffer";
import { Writer } from "../../../server/ssh/wire.ts";

/** A number from 0 to below the limit, as `seeded` gives them. */
export type Random = (limit: number) => number;

export const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!;

export function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random(256));
}

/** An unsigned 64-bit number: often one at an edge, else of any size. */
export function randomU64(random: Random): bigint {
  if (random(2) === 0) return pick(random, EDGES);
  const any = BigInt(random(2 ** 32)) << 32n | BigInt(random(2 ** 32));
  return any >> BigInt(random(64));
}

/** Numbers at which readers go wrong. */
const EDGES = [0, 1, 2, 5, 8, 31, 32, 63, 64].flatMap((bits) => [2n ** BigInt(bits) - 1n, 2n ** BigInt(bits)])
  .concat([6n, 7n, 77n, 78n]).filter((value) => value < 2n ** 64n);

export type Part = string | Uint8Array;

/** SSH `string`s one after another. Text may be of any characters up to U+00FF, one byte each. */
export const strings = (...parts: readonly Part[]): Uint8Array =>
  parts.reduce<Writer>((writer, part) => writer.string(bytesOf(part)), new Writer()).bytes();

export const bytesOf = (part: Part): Uint8Array => typeof part === "string" ? Buffer.from(part, "latin1") : part;

export const u64 = (value: bigint): Uint8Array => new Writer().u64(value).bytes();

export const u32 = (value: number): Uint8Array => new Writer().u32(value).bytes();

export const join = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

/** Texts as they stand in key ids, comments, names of options: most of them plain, some odd. */
export function randomText(random: Random): string {
  const plain = ["a", "gf-abc123", "discord:1:ann", "discord:2:bob", "root", "permit-pty", "two words", "#", '"', "~"];
  const odd = ["", "a\0", "\0", "a\nb", "\r", "\x1b[2J", "\x7f", "\xe9", "\xff\xfe", " ", "x".repeat(257)];
  return random(8) === 0 ? pick(random, odd) : pick(random, plain);
}
