/** Faults that know the format: lengths, numbers, whole strings, pieces of other inputs. */
import { mutated } from "../keygen.ts";
import { join, pick, type Random, randomBytes, randomU64, u32, u64 } from "./bytes.ts";

/** Offsets of what may be the length of a string: a u32 that is not more than what follows it. */
function lengthsIn(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at++) {
    if (view.getUint32(at) <= bytes.length - at - 4) found.push(at);
  }
  return found;
}

const put = (bytes: Uint8Array, at: number, piece: Uint8Array): Uint8Array =>
  join(bytes.subarray(0, at), piece.subarray(0, bytes.length - at), bytes.subarray(at + piece.length));

/** Another length where one stands. */
function wrongLength(bytes: Uint8Array, random: Random): Uint8Array {
  const at = pick(random, lengthsIn(bytes));
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
  const left = bytes.length - at - 4;
  return put(
    bytes,
    at,
    u32(pick(random, [0, 1, length - 1, length + 1, left, left + 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1])),
  );
}

/** A string with other content, and the length of that. */
function otherString(bytes: Uint8Array, random: Random): Uint8Array {
  const at = pick(random, lengthsIn(bytes));
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
  const content = bytes.subarray(at + 4, at + 4 + length);
  const other = pick(random, [
    () => new Uint8Array(),
    () => Uint8Array.of(0),
    () => join(Uint8Array.of(0), content),
    () => join(content, Uint8Array.of(0)),
    () => content.subarray(1),
    () => content.subarray(0, length - 1),
    () => randomBytes(random, length % 300),
    () => join(content, content),
  ])();
  return join(bytes.subarray(0, at), u32(other.length), other, bytes.subarray(at + 4 + length));
}

/** A number of four or eight bytes where any bytes stand. */
function otherNumber(bytes: Uint8Array, random: Random): Uint8Array {
  const value = randomU64(random);
  return put(bytes, random(bytes.length), random(2) === 0 ? u64(value) : u32(Number(value & 0xffff_ffffn)));
}

/** The beginning of one and the end of another, cut where strings begin. */
function spliced(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  const [mine, theirs] = [lengthsIn(bytes), lengthsIn(other)];
  if (mine.length === 0 || theirs.length === 0) return other;
  return join(bytes.subarray(0, pick(random, mine)), other.subarray(pick(random, theirs)));
}

/** Input with one to three faults; `others` are inputs whose pieces may come into it. */
export function broken(bytes: Uint8Array, others: readonly Uint8Array[], random: Random): Uint8Array {
  let out = bytes;
  for (let times = 1 + random(3); times > 0; times--) {
    if (lengthsIn(out).length === 0) return out;
    const choice = random(8);
    if (choice < 2) out = mutated(out, random);
    else if (choice < 4) out = wrongLength(out, random);
    else if (choice < 6) out = otherString(out, random);
    else if (choice === 6) out = otherNumber(out, random);
    else out = spliced(out, pick(random, others), random);
  }
  return out;
}
