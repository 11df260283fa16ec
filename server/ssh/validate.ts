import type { CertificateSpec } from "./certificate_spec.ts";
import { asAppError, ensure } from "./format_error.ts";
import { type Options, readCertificate } from "./parse_certificate.ts";
import type { SubjectKey } from "./public_key.ts";
import type { Verifier } from "./signer.ts";
import { sameBytes } from "./wire.ts";

export interface Expected {
  readonly key: SubjectKey;
  readonly spec: CertificateSpec;
  /** Of the CA that must have signed. */
  readonly verifier: Verifier;
}

/**
 * Reads a finished certificate back and compares every field with what was asked for, then checks the CA's signature, so
 * that a fault of the encoder never leaves the program. Whether the key's point lies on its curve is not computed again:
 * `parsePublicKey` did that, and the bytes are compared. Throws `internal_error` naming the field.
 */
export function validateCertificate(blob: Uint8Array, expected: Expected): void {
  asAppError("internal_error", "The finished certificate is not the one asked for", () => {
    const made = readCertificate(blob, "shape");
    const { key, spec, verifier } = expected;
    ensure(made.keyType.name === key.type, "its key type differs");
    ensure(made.keyType.certificateName === key.certificateType, "its type differs");
    ensure(spec.nonce === undefined || sameBytes(made.nonce, spec.nonce), "its nonce differs");
    ensure(sameBytes(made.keyBody, key.body), "its key differs");
    ensure(made.serial === spec.serial, "its serial differs");
    ensure(made.keyId === spec.keyId, "its key id differs");
    ensure(sameList(made.principals, spec.principals), "its principals differ");
    ensure(made.validAfter === BigInt(spec.validAfter), "its start differs");
    ensure(made.validBefore === BigInt(spec.validBefore), "its end differs");
    const commands = spec.forceCommand === undefined ? [] : [["force-command", spec.forceCommand] as const];
    ensure(sameOptions(made.criticalOptions, commands), "its critical options differ");
    ensure(sameOptions(made.extensions, spec.extensions.map((name) => [name, ""])), "its extensions differ");
    ensure(sameBytes(made.caPublicKey, verifier.publicKey), "its CA key differs");
    ensure(verifier.verify(made.signed, made.signature), "its signature is not the CA's");
  });
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function sameOptions(made: Options, asked: readonly (readonly [string, string])[]): boolean {
  return made.size === asked.length && asked.every(([name, value]) => made.get(name) === value);
}
