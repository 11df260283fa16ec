import { AppError } from "../errors.ts";
import { asAppError, ensure } from "./format_error.ts";
import { fingerprint, type SubjectKey } from "./public_key.ts";
import { isSerialRange, MAX_SERIAL, type SerialRange } from "./serial_ranges.ts";
import { fromBase64, isPrintable } from "./wire.ts";

/** Longest comment and longest key id, in characters; key ids of certificates have the same limit. */
const MAX_TEXT = 256;
const FINGERPRINT = /^SHA256:([A-Za-z0-9+/]{43})$/;

/** Certificates of one CA that are no longer good. */
export interface RevokedCertificates {
  readonly ca: SubjectKey;
  /** 1 to 2^64-1, in any order; what is named twice counts once. */
  readonly serials: readonly (bigint | SerialRange)[];
  /** All certificates with these key ids, whatever their serials. Printable ASCII. */
  readonly keyIds?: readonly string[];
}

/** What a key revocation list is to say. */
export interface KrlSpec {
  /** Grows with each change of the list; 0 to 2^64-1. sshd does not look at it. */
  readonly version: bigint;
  /** Seconds since 1970. */
  readonly generatedAt: number;
  /** Printable ASCII, may be empty. */
  readonly comment: string;
  /** Each CA once: of one it is known which certificates, of the next others, as while a CA is changed. */
  readonly revoked: readonly RevokedCertificates[];
  /** Keys that nobody may use, with or without a certificate. A CA among them revokes all that it signed. */
  readonly keys?: readonly SubjectKey[];
  /** The same by `SHA256:…`, where the key itself is not at hand. */
  readonly fingerprints?: readonly string[];
}

/**
 * Refuses a spec that would make a list that sshd cannot read or that says something else. A spec comes from the
 * program's own rules, so a bad one is a fault of the program: throws `internal_error` naming the field.
 */
export function checkKrlSpec({ version, generatedAt, comment, revoked, keys = [], fingerprints = [] }: KrlSpec): void {
  demand(typeof version === "bigint" && version >= 0n && version <= MAX_SERIAL, "version", "is not a 64-bit number");
  const isTime = Number.isSafeInteger(generatedAt) && generatedAt >= 0;
  demand(isTime, "time", "is not a whole number of seconds since 1970");
  demand(comment.length <= MAX_TEXT, "comment", `is longer than ${MAX_TEXT} characters`);
  demand(isPrintable(comment), "comment", "has characters other than printable ASCII");
  const cas = new Set(revoked.map(({ ca }) => ca.fingerprint));
  demand(cas.size === revoked.length, "certificates", "name one CA twice");
  for (const { ca, serials, keyIds = [] } of revoked) {
    demand(ca.type === "ssh-ed25519", "CA", "is not an ssh-ed25519 key, and no other signs certificates");
    demand(isWhole(ca), "CA", "is not the key that its fingerprint tells");
    const areSerials = serials.every((serial) => isSerial(serial));
    demand(areSerials, "serials", "have one that is not between 1 and 2^64-1, or a range that ends before it begins");
    const areIds = keyIds.every((id) => id !== "" && id.length <= MAX_TEXT && isPrintable(id));
    demand(areIds, "key ids", `have one that is not 1 to ${MAX_TEXT} characters of printable ASCII`);
  }
  demand(keys.every(isWhole), "keys", "have one that is not the key that its fingerprint tells");
  for (const text of fingerprints) digestOf(text);
}

function isSerial(serial: bigint | SerialRange): boolean {
  const { from, to } = rangeOf(serial);
  return typeof from === "bigint" && typeof to === "bigint" && isSerialRange({ from, to });
}

/** A serial alone is a range of one. */
export const rangeOf = (serial: bigint | SerialRange): SerialRange =>
  typeof serial === "object" ? serial : { from: serial, to: serial };

const isWhole = (key: SubjectKey): boolean => fingerprint(key.blob) === key.fingerprint;

/** The 32 bytes of a fingerprint of 43 characters. Throws `internal_error`. */
export function digestOf(text: string): Uint8Array {
  return asAppError("internal_error", "A fingerprint of the key revocation list is malformed", () => {
    const base64 = FINGERPRINT.exec(text)?.[1];
    ensure(base64 !== undefined, "it is not SHA256: and 43 characters of base64");
    return fromBase64(`${base64}=`);
  });
}

function demand(condition: boolean, field: string, fault: string): void {
  if (!condition) throw new AppError("internal_error", `The key revocation list's ${field} ${fault}`);
}
