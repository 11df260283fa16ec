import { type CertificateSpec, checkSpec } from "./certificate_spec.ts";
import type { SubjectKey } from "./public_key.ts";
import type { Signer } from "./signer.ts";
import { validateCertificate } from "./validate.ts";
import { toBase64, Writer } from "./wire.ts";

export type { CertificateSpec } from "./certificate_spec.ts";
export { describeCertificate } from "./describe_certificate.ts";
export { parseCertificate, type ParsedCertificate } from "./parse_certificate.ts";
export { validateCertificate } from "./validate.ts";

const USER = 1;

export interface Certificate {
  /** `<type>-cert-v01@openssh.com <base64>`, without a comment and without a newline. */
  readonly line: string;
  readonly blob: Uint8Array;
}

/**
 * Issues an OpenSSH user certificate (PROTOCOL.certkeys) for a key, signed by an ed25519 CA; given the same nonce it is
 * byte for byte what `ssh-keygen -s` makes. The finished certificate is read back and compared field by field before it is
 * returned. Throws `internal_error` for a bad spec and for a certificate that does not validate.
 */
export function issueCertificate(key: SubjectKey, spec: CertificateSpec, ca: Signer): Certificate {
  checkSpec(spec);
  const signed = new Writer()
    .string(key.certificateType)
    .string(spec.nonce ?? crypto.getRandomValues(new Uint8Array(32)))
    .raw(key.body)
    .u64(spec.serial)
    .u32(USER)
    .string(spec.keyId)
    .string(packed(spec.principals))
    .u64(BigInt(spec.validAfter))
    .u64(BigInt(spec.validBefore))
    .string(spec.forceCommand === undefined ? "" : option("force-command", packed([spec.forceCommand])))
    .string(flags(spec.extensions))
    .string("")
    .string(new Writer().string("ssh-ed25519").string(ca.publicKey).bytes())
    .bytes();
  const signature = new Writer().string("ssh-ed25519").string(ca.sign(signed)).bytes();
  const blob = new Writer().raw(signed).string(signature).bytes();
  validateCertificate(blob, { key, spec, verifier: ca.verifier });
  return { line: `${key.certificateType} ${toBase64(blob)}`, blob };
}

/** A random serial, 1 to 2^63-1. That it was not used before is for the database to say. */
export function randomSerial(): bigint {
  for (;;) {
    const [random = 0n] = crypto.getRandomValues(new BigUint64Array(1));
    const serial = BigInt.asUintN(63, random);
    if (serial !== 0n) return serial;
  }
}

function packed(texts: readonly string[]): Uint8Array {
  const writer = new Writer();
  for (const text of texts) writer.string(text);
  return writer.bytes();
}

function option(name: string, data: Uint8Array): Uint8Array {
  return new Writer().string(name).string(data).bytes();
}

function flags(names: readonly string[]): Uint8Array {
  const writer = new Writer();
  for (const name of names) writer.raw(option(name, new Uint8Array()));
  return writer.bytes();
}
