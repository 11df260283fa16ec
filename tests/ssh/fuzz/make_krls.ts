/** Key revocation lists: good ones by our own writer, ones put together here section by section, and ones with faults. */
import { type SerialRange, writeKrl } from "../../../server/ssh/krl.ts";
import { fromBase64, Writer } from "../../../server/ssh/wire.ts";
import { rows } from "../keygen.ts";
import { ca, keys } from "../krl_support.ts";
import { join, type Part, pick, type Random, randomBytes, randomText, randomU64, strings, u32, u64 } from "./bytes.ts";
import { ASKED_SERIALS } from "./judge_krl.ts";
import { oddKeyBlob } from "./make_keys.ts";
import { broken } from "./mutate.ts";

export interface Head {
  readonly magic: string;
  readonly format: number;
  readonly version: bigint;
  readonly flags: bigint;
  readonly reserved: Part;
  readonly comment: Part;
}

export function krlHead(change: Partial<Head> = {}): Uint8Array {
  const { magic, format, version, flags, reserved, comment } = {
    ...{ magic: "SSHKRL\n\0", format: 1, version: 1n, flags: 0n, reserved: "", comment: "" },
    ...change,
  };
  return join(
    new TextEncoder().encode(magic),
    u32(format),
    u64(version),
    u64(1_800_000_000n),
    u64(flags),
    strings(reserved, comment),
  );
}

/** A section, or a part of one: its type, then the content with its length. */
export const krlSection = (type: number, ...content: readonly Uint8Array[]): Uint8Array =>
  new Writer().raw(Uint8Array.of(type)).string(join(...content)).bytes();

const serial = (random: Random) => random(3) === 0 ? randomU64(random) : pick(random, ASKED_SERIALS);

function bits(random: Random): Uint8Array {
  const bytes = randomBytes(random, random(20) === 0 ? pick(random, [2_047, 2_048, 2_049, 2_050]) : random(12));
  if (random(3) > 0 && bytes.length > 0) bytes[0]! &= 0x7f;
  return random(5) === 0 ? join(Uint8Array.of(0), bytes) : bytes;
}

/** A part of a section of certificates. */
function certificatePart(random: Random): Uint8Array {
  const some = (make: () => Uint8Array) => join(...Array.from({ length: random(4) }, make));
  return pick(random, [
    () => krlSection(0x20, some(() => u64(serial(random)))),
    () => krlSection(0x21, ...[serial(random), serial(random)].sort((a, b) => a < b ? -1 : 1).map(u64)),
    () => krlSection(0x21, u64(serial(random)), u64(serial(random)), random(9) === 0 ? u64(1n) : new Uint8Array()),
    () => krlSection(0x22, u64(serial(random)), strings(bits(random)), randomBytes(random, random(12) === 0 ? 1 : 0)),
    () => krlSection(0x23, some(() => strings(randomText(random)))),
    () => random(6) === 0 ? krlSection(random(256), randomBytes(random, random(12))) : new Uint8Array(),
  ])();
}

function anySection(random: Random): Uint8Array {
  const some = (make: () => Part) => strings(...Array.from({ length: random(4) }, make));
  const caBlob = () => random(5) > 0 ? ca.blob : pick(random, [keys[0]!.blob, new Uint8Array(), oddKeyBlob(random)]);
  const aKey = () => random(3) > 0 ? pick(random, keys).blob : oddKeyBlob(random);
  const digest = (length: number) => randomBytes(random, random(20) === 0 ? random(70) : length);
  const parts = () => Array.from({ length: random(5) }, () => certificatePart(random));
  const certificates = () => krlSection(1, strings(caBlob(), random(20) === 0 ? randomText(random) : ""), ...parts());
  return pick(random, [
    certificates,
    certificates,
    certificates,
    () => krlSection(2, some(aKey)),
    () => krlSection(3, some(() => digest(20))),
    () => krlSection(5, some(() => digest(32))),
    () => random(8) === 0 ? krlSection(pick(random, [0, 4, 6, 255]), some(() => randomText(random))) : certificates(),
  ])();
}

/** Sections of any kinds in any order, so that some come twice. */
function assembled(random: Random): Uint8Array {
  const head: Partial<Head> = random(10) > 0 ? {} : {
    version: randomU64(random),
    comment: randomText(random),
    flags: random(4) === 0 ? randomU64(random) : 0n,
    reserved: random(4) === 0 ? randomText(random) : "",
    format: random(8) === 0 ? random(3) : 1,
  };
  return join(krlHead(head), ...Array.from({ length: random(4) }, () => anySection(random)));
}

/** A list of our own writer. */
function written(random: Random): Uint8Array {
  const range = (): SerialRange => {
    const [from, to] = [serial(random), serial(random)].map((value) => value === 0n ? 1n : value)
      .sort((a, b) => a < b ? -1 : 1) as [bigint, bigint];
    return { from, to: random(2) === 0 ? to : from };
  };
  const step = BigInt(1 + random(70));
  const start = randomU64(random) % (2n ** 64n - 40_000n) + 1n;
  const steps = Array.from({ length: random(300) }, (_, at) => start + BigInt(at) * step);
  const of = (key: typeof ca) => ({
    ca: key,
    serials: [...Array.from({ length: random(6) }, range), ...steps],
    keyIds: Array.from({ length: random(3) }, () => pick(random, ["discord:1:ann", "discord:2:bob", "x y", "~"])),
  });
  return writeKrl({
    version: randomU64(random),
    generatedAt: random(2 ** 31),
    comment: pick(random, ["", "orgpods club", "a  b"]),
    revoked: [ca, keys[0]!].slice(0, random(3)).map(of),
    keys: keys.filter(() => random(8) === 0),
    fingerprints: keys.filter(() => random(8) === 0).map((key) => key.fingerprint),
  });
}

/** Lists whose small parts take much room when they are read. */
function huge(random: Random): Uint8Array {
  const times = (count: number, piece: Uint8Array) => {
    const all = new Uint8Array(count * piece.length);
    for (let at = 0; at < count; at++) all.set(piece, at * piece.length);
    return all;
  };
  const every = strings(new Uint8Array(2_048).fill(0x55));
  return join(
    krlHead(),
    pick(random, [
      () => krlSection(2, times(1_100_000, strings(""))),
      () => krlSection(1, strings(ca.blob, ""), krlSection(0x23, times(1_100_000, strings("")))),
      () => krlSection(1, strings(ca.blob, ""), times(130, krlSection(0x22, u64(1n), every))),
      () => times(200_000, krlSection(5)),
      () => krlSection(1, strings(ca.blob, ""), krlSection(0x20, times(300_000, u64(7n)))),
      () => krlSection(1, strings(ca.blob, ""), times(3_000, krlSection(0x22, u64(9n), strings(Uint8Array.of(1))))),
    ])(),
  );
}

const vectors = rows<{ krl: string }>("krl/accepted.jsonl").map(({ krl }) => fromBase64(krl))
  .filter((krl) => krl.length < 2_000);

export function krlBytes(random: Random): { readonly input: Uint8Array; readonly isGood: boolean } {
  const choice = random(10);
  if (choice === 0) return { input: written(random), isGood: true };
  if (choice < 5) return { input: assembled(random), isGood: false };
  if (random(2_000) === 0) return { input: huge(random), isGood: false };
  const from = random(2) === 0 ? pick(random, vectors) : assembled(random);
  return { input: broken(from, vectors, random), isGood: false };
}
