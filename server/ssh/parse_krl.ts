import { createHash } from "node:crypto";
import { asAppError, ensure } from "./format_error.ts";
import { KRL_FORMAT, KRL_MAGIC, MAX_BITMAP_BITS, PART, SECTION } from "./krl_sections.ts";
import type { ParsedCertificate } from "./parse_certificate.ts";
import { checkEd25519Point } from "./key_types.ts";
import { fingerprint } from "./public_key.ts";
import { includesSerial, isSerialRange, mergedRanges, type SerialRange } from "./serial_ranges.ts";
import { Reader, sameBytes, Writer } from "./wire.ts";

/** Most things that a list names, a stretch of serials as one: an org revokes a few thousand in its worst week. */
const MAX_ENTRIES = 1_000_000;

/** A key revocation list as it was read. */
export interface Krl {
  readonly version: bigint;
  /** Seconds since 1970. */
  readonly generatedAt: bigint;
  readonly comment: string;
  /** Each CA once. */
  readonly certificates: readonly {
    /** The CA's key as SSH sends it. */
    readonly ca: Uint8Array;
    /** In order and not touching. */
    readonly serials: readonly SerialRange[];
    readonly keyIds: readonly string[];
  }[];
  /** Keys as SSH sends them. */
  readonly keys: readonly Uint8Array[];
  /** Digests of keys, 32 and 20 bytes. */
  readonly sha256: readonly Uint8Array[];
  readonly sha1: readonly Uint8Array[];
}

/**
 * Reads a key revocation list (PROTOCOL.krl). What is read here OpenSSH reads too, with the same meaning. The reverse
 * does not hold: signatures, extensions, sections for all CAs, texts that are not printable ASCII and CA keys that no
 * certificate is checked with are refused. Throws `invalid_request` with the reason.
 */
export function parseKrl(bytes: Uint8Array): Krl {
  return asAppError("invalid_request", "A valid key revocation list is required", () => readKrl(bytes));
}

/** `parseKrl` for this folder: throws a FormatError. */
export function readKrl(bytes: Uint8Array): Krl {
  const reader = new Reader(bytes);
  ensure(sameBytes(reader.raw(KRL_MAGIC.length), KRL_MAGIC), "it is not a key revocation list");
  ensure(reader.u32() === KRL_FORMAT, `its format is not ${KRL_FORMAT}`);
  const [version, generatedAt] = [reader.u64(), reader.u64()];
  ensure(reader.u64() === 0n, "it has flags, which none are defined of");
  ensure(reader.string().length === 0, "its reserved field is not empty");
  const comment = reader.text("its comment");
  const certificates = new Map<string, Certificates>();
  const room: Room = { entries: MAX_ENTRIES };
  const found = { keys: [] as Uint8Array[], sha256: [] as Uint8Array[], sha1: [] as Uint8Array[] };
  while (!reader.atEnd) {
    const type = reader.raw(1)[0];
    const content = new Reader(reader.string());
    if (type === SECTION.certificates) readCertificates(content, certificates, room);
    else if (type === SECTION.keys) readStrings(content, found.keys, room);
    else if (type === SECTION.sha256) readStrings(content, found.sha256, room, 32);
    else if (type === SECTION.sha1) readStrings(content, found.sha1, room, 20);
    else ensure(false, `it has a section of type ${type}, which is not read`);
  }
  return {
    version,
    generatedAt,
    comment,
    certificates: [...certificates.values()].map(({ ca, serials, keyIds }) => {
      return { ca, serials: mergedRanges(serials), keyIds };
    }),
    ...found,
  };
}

/** Whether sshd refuses a key without a certificate. */
export function revokesKey(krl: Krl, blob: Uint8Array): boolean {
  const digest = (algorithm: "sha1" | "sha256") => new Uint8Array(createHash(algorithm).update(blob).digest());
  const lists = (list: readonly Uint8Array[], value: Uint8Array) => list.some((one) => sameBytes(one, value));
  return lists(krl.keys, blob) || lists(krl.sha256, digest("sha256")) || lists(krl.sha1, digest("sha1"));
}

/** Whether sshd refuses a certificate: by its key, by its CA's key, by its key id or by its serial. */
export function revokesCertificate(krl: Krl, certificate: ParsedCertificate): boolean {
  const ca = new Writer().string("ssh-ed25519").string(certificate.caPublicKey).bytes();
  if (revokesKey(krl, certificate.key.blob) || revokesKey(krl, ca)) return true;
  const of = krl.certificates.find((one) => sameBytes(one.ca, ca));
  if (of === undefined) return false;
  return of.keyIds.includes(certificate.keyId) || includesSerial(of.serials, certificate.serial);
}

/** What may still be named: one bit of a hostile bitmap, or four bytes of a list, cost a hundred bytes of memory. */
interface Room {
  entries: number;
}

function takeRoom(room: Room): void {
  ensure(room.entries-- > 0, `it names over ${MAX_ENTRIES} things`);
}

interface Certificates {
  readonly room: Room;
  readonly ca: Uint8Array;
  readonly serials: SerialRange[];
  readonly keyIds: string[];
}

function readCertificates(reader: Reader, known: Map<string, Certificates>, room: Room): void {
  const ca = reader.string();
  checkCa(ca);
  ensure(reader.string().length === 0, "the reserved field of a CA is not empty");
  const print = fingerprint(ca);
  let of = known.get(print);
  if (of === undefined) known.set(print, of = { room, ca, serials: [], keyIds: [] });
  while (!reader.atEnd) {
    const type = reader.raw(1)[0];
    const content = new Reader(reader.string());
    if (type === PART.list) readList(content, of);
    else if (type === PART.range) readRange(content, of);
    else if (type === PART.bitmap) readBitmap(content, of);
    else if (type === PART.keyIds) readKeyIds(content, of);
    else ensure(false, `it has certificates of type ${type}, which is not read`);
  }
}

function checkCa(blob: Uint8Array): void {
  ensure(blob.length > 0, "it has certificates of all CAs at once, which is not read");
  const reader = new Reader(blob);
  ensure(reader.text("the type of a CA") === "ssh-ed25519", "a CA is not an ssh-ed25519 key");
  checkEd25519Point(reader.string());
  reader.end("a CA");
}

function readList(reader: Reader, of: Certificates): void {
  while (!reader.atEnd) {
    const serial = reader.u64();
    add(of, { from: serial, to: serial });
  }
}

function readRange(reader: Reader, of: Certificates): void {
  add(of, { from: reader.u64(), to: reader.u64() });
  reader.end("a range of serials");
}

function readBitmap(reader: Reader, of: Certificates): void {
  const start = reader.u64();
  const number = reader.string();
  reader.end("a bitmap of serials");
  const [first, second] = number;
  ensure(first === undefined || first < 0x80, "a bitmap is a negative number");
  ensure(first !== 0 || (second !== undefined && second >= 0x80), "a bitmap has needless zeros in front");
  ensure(number.length * 8 <= MAX_BITMAP_BITS + (first === 0 ? 8 : 0), `a bitmap has over ${MAX_BITMAP_BITS} bits`);
  const isSet = (bit: number) => ((number[number.length - 1 - (bit >> 3)]! >> (bit & 7)) & 1) === 1;
  for (let bit = 0; bit < number.length * 8; bit++) {
    if (!isSet(bit)) continue;
    const first = bit;
    while (bit + 1 < number.length * 8 && isSet(bit + 1)) bit++;
    add(of, { from: start + BigInt(first), to: start + BigInt(bit) });
  }
}

function readKeyIds(reader: Reader, { room, keyIds }: Certificates): void {
  while (!reader.atEnd) {
    takeRoom(room);
    keyIds.push(reader.text("a key id"));
  }
}

function add({ room, serials }: Certificates, range: SerialRange): void {
  takeRoom(room);
  ensure(isSerialRange(range), "a serial is 0 or above 2^64-1, or a range ends before it begins");
  serials.push(range);
}

function readStrings(reader: Reader, values: Uint8Array[], room: Room, length?: number): void {
  while (!reader.atEnd) {
    takeRoom(room);
    const value = reader.string();
    ensure(length === undefined || value.length === length, `a fingerprint is not ${length} bytes`);
    values.push(value);
  }
}
