import type { SerialRange } from "./serial_ranges.ts";
import { Writer } from "./wire.ts";

/** `SSHKRL`, a line feed, a zero. */
export const KRL_MAGIC = Uint8Array.of(0x53, 0x53, 0x48, 0x4b, 0x52, 0x4c, 0x0a, 0x00);
export const KRL_FORMAT = 1;

/** Types of a section (PROTOCOL.krl section 1). */
export const SECTION = { certificates: 1, keys: 2, sha1: 3, signature: 4, sha256: 5 } as const;
/** Types of a part within a section of certificates (PROTOCOL.krl section 2). */
export const PART = { list: 0x20, range: 0x21, bitmap: 0x22, keyIds: 0x23 } as const;

/**
 * Most bits of one bitmap. PROTOCOL.krl sets no limit, but OpenSSH reads no mpint above this ("bignum is too large"),
 * although its own ssh-keygen writes them, and sshd lets nobody in while it cannot read the list.
 */
export const MAX_BITMAP_BITS = 16_384;

// What each form takes, in bits. A part has its type and its length in front; a bitmap also its first serial, the length
// of its number, and the up to eight bits that fill the number's first byte.
const PART_HEAD = 5 * 8;
const LISTED = 64;
const RANGE = PART_HEAD + 2 * 64;
const BITMAP = PART_HEAD + 64 + 32 + 8;

/** A section or part: its type, then `content` as a `string`. A list may be long, so its bytes are copied as a whole. */
export function section(type: number, content: Uint8Array): Uint8Array {
  return joined([new Writer().raw(Uint8Array.of(type)).u32(content.length).bytes(), content]);
}

/** The parts one after another. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The content of a section that is `string`s one after another. */
export function strings(values: readonly (string | Uint8Array)[]): Uint8Array {
  const writer = new Writer();
  for (const value of values) writer.string(value);
  return writer.bytes();
}

/**
 * The parts that name the serials of `ranges` (as `mergedRanges` returns them), in the mix of list, ranges and bitmaps
 * that takes the fewest bytes, but for the five of a list's head: at most one list, then ranges, then bitmaps.
 */
export function serialParts(ranges: readonly SerialRange[]): Uint8Array[] {
  const { alone, bitmaps } = divided(ranges);
  const listed = alone.filter((range) => listedBits(range) <= RANGE);
  const parts = listed.length === 0 ? [] : [section(PART.list, list(listed))];
  for (const { from, to } of alone.filter((range) => listedBits(range) > RANGE)) {
    parts.push(section(PART.range, new Writer().u64(from).u64(to).bytes()));
  }
  for (const group of bitmaps) parts.push(section(PART.bitmap, bitmap(group)));
  return parts;
}

/** Every serial of the ranges, eight bytes each. */
function list(ranges: readonly SerialRange[]): Uint8Array {
  const count = ranges.reduce((sum, { from, to }) => sum + Number(to - from) + 1, 0);
  const view = new DataView(new ArrayBuffer(count * 8));
  let at = 0;
  for (const { from, to } of ranges) {
    for (let serial = from; serial <= to; serial++, at += 8) view.setBigUint64(at, serial);
  }
  return new Uint8Array(view.buffer);
}

/** Bits of a range written serial by serial; a float is exact enough for what is compared with it. */
const listedBits = ({ from, to }: SerialRange): number => Number(to - from + 1n) * LISTED;

/** The cheapest way to write some first ranges, as a chain from the last of them back. */
interface Way {
  readonly bits: number;
  readonly before: Way | null;
  readonly range: SerialRange;
  /** First serial of the bitmap that the range is in; null when it stands alone. */
  readonly start: bigint | null;
}

/** Which ranges share a bitmap and which stand alone, so that all together take the fewest bits. */
function divided(ranges: readonly SerialRange[]): { alone: SerialRange[]; bitmaps: SerialRange[][] } {
  let best: Way | null = null;
  // The cheapest way that ends inside a bitmap: it may pay only with the ranges that follow.
  let open: Way | null = null;
  for (const range of ranges) {
    const before: Way | null = best;
    const spent = before?.bits ?? 0;
    const alone: Way = { bits: spent + Math.min(listedBits(range), RANGE), before, range, start: null };
    const goesOn: Way | null = open === null ? null : inBitmap(open, range, open.start!, open.range.to);
    const begins = inBitmap(before, range, range.from, range.from - 1n, BITMAP);
    open = cheaper(goesOn, begins);
    best = cheaper(alone, open);
  }
  const alone: SerialRange[] = [];
  const groups = new Map<bigint, SerialRange[]>();
  for (let way = best; way !== null; way = way.before) {
    if (way.start === null) alone.push(way.range);
    else if (groups.has(way.start)) groups.get(way.start)!.push(way.range);
    else groups.set(way.start, [way.range]);
  }
  return { alone: alone.reverse(), bitmaps: [...groups.values()].reverse().map((group) => group.reverse()) };
}

/** The way on with `range` in the bitmap from `start` that was full up to `end`; null when it does not fit. */
function inBitmap(before: Way | null, range: SerialRange, start: bigint, end: bigint, extra = 0): Way | null {
  if (range.to - start >= MAX_BITMAP_BITS) return null;
  return { bits: (before?.bits ?? 0) + Number(range.to - end) + extra, before, range, start };
}

/** The cheaper of the ways that there are; the first when they cost the same. */
function cheaper<A extends Way | null, B extends Way | null>(a: A, b: B): A | B {
  if (a === null) return b;
  return b !== null && b.bits < a.bits ? b : a;
}

/** The first serial, and a number with bit N set for the first serial + N. */
function bitmap(group: readonly SerialRange[]): Uint8Array {
  const start = group[0]!.from;
  const bits = Number(group.at(-1)!.to - start) + 1;
  // The highest bit is always set, so one more bit in front keeps the mpint positive and in its shortest form.
  const number = new Uint8Array((bits >> 3) + 1);
  for (const { from, to } of group) {
    for (let bit = Number(from - start); bit <= Number(to - start); bit++) {
      number[number.length - 1 - (bit >> 3)]! |= 1 << (bit & 7);
    }
  }
  return new Writer().u64(start).string(number).bytes();
}
