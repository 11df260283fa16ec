import { asAppError, ensure } from "./format_error.ts";
import { joined, KRL_FORMAT, KRL_MAGIC, PART, SECTION, section, serialParts, strings } from "./krl_sections.ts";
import { checkKrlSpec, digestOf, type KrlSpec, rangeOf } from "./krl_spec.ts";
import { readKrl } from "./parse_krl.ts";
import { mergedRanges } from "./serial_ranges.ts";
import { sameBytes, Writer } from "./wire.ts";

export type { KrlSpec, RevokedCertificates } from "./krl_spec.ts";
export { type Krl, parseKrl, revokesCertificate, revokesKey } from "./parse_krl.ts";
export type { SerialRange } from "./serial_ranges.ts";

/**
 * Writes a key revocation list that sshd's `RevokedKeys` takes (PROTOCOL.krl), unsigned, because OpenSSH reads no signed
 * ones. The same spec, in whatever order, always gives the same bytes. sshd lets nobody in while it cannot read its list,
 * so the finished one is read back and compared before it is returned. Throws `internal_error` naming the field: what
 * goes in comes from the program's own rules.
 */
export function writeKrl(spec: KrlSpec): Uint8Array {
  checkKrlSpec(spec);
  const wanted = spec.revoked.map(({ ca, serials, keyIds = [] }) => ({
    ca: ca.blob,
    serials: mergedRanges(serials.map(rangeOf)),
    keyIds: [...new Set(keyIds)].sort(),
  })).filter(({ serials, keyIds }) => serials.length + keyIds.length > 0).sort((a, b) => compareBytes(a.ca, b.ca));
  const keys = distinct((spec.keys ?? []).map((key) => key.blob));
  const sha256 = distinct((spec.fingerprints ?? []).map(digestOf));
  const head = new Writer().raw(KRL_MAGIC).u32(KRL_FORMAT).u64(spec.version).u64(BigInt(spec.generatedAt))
    .u64(0n).string("").string(spec.comment).bytes();
  const sections = wanted.map(({ ca, serials, keyIds }) => {
    const ids = keyIds.length === 0 ? [] : [section(PART.keyIds, strings(keyIds))];
    return section(SECTION.certificates, joined([strings([ca, ""]), ...serialParts(serials), ...ids]));
  });
  if (keys.length > 0) sections.push(section(SECTION.keys, strings(keys)));
  if (sha256.length > 0) sections.push(section(SECTION.sha256, strings(sha256)));
  const bytes = joined([head, ...sections]);
  asAppError("internal_error", "The finished key revocation list is not the one asked for", () => {
    const made = readKrl(bytes);
    ensure(made.version === spec.version, "its version differs");
    ensure(made.generatedAt === BigInt(spec.generatedAt), "its time differs");
    ensure(made.comment === spec.comment, "its comment differs");
    ensure(sameList(made.certificates, wanted, (a, b) => sameBytes(a.ca, b.ca)), "its CAs differ");
    for (const [index, { serials, keyIds }] of made.certificates.entries()) {
      const same = sameList(serials, wanted[index]!.serials, (a, b) => a.from === b.from && a.to === b.to);
      ensure(same, "its serials differ");
      ensure(sameList(keyIds, wanted[index]!.keyIds, (a, b) => a === b), "its key ids differ");
    }
    ensure(sameList(made.keys, keys, sameBytes), "its keys differ");
    ensure(sameList(made.sha256, sha256, sameBytes) && made.sha1.length === 0, "its fingerprints differ");
  });
  return bytes;
}

/** Byte by byte, as OpenSSH orders keys and digests; the beginning of another comes before it. */
function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    if (a[at] !== b[at]) return a[at]! - b[at]!;
  }
  return a.length - b.length;
}

/** In order, each once. */
function distinct(values: readonly Uint8Array[]): Uint8Array[] {
  return values.toSorted(compareBytes).filter((value, at, all) => at === 0 || !sameBytes(value, all[at - 1]!));
}

function sameList<T, U>(a: readonly T[], b: readonly U[], same: (a: T, b: U) => boolean): boolean {
  return a.length === b.length && a.every((value, index) => same(value, b[index]!));
}
