import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { AppError } from "../errors.ts";
import { sameBytes } from "./wire.ts";

/** The DER that precedes an ed25519 key in PKCS#8 and in SubjectPublicKeyInfo (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/**
 * Checks signatures of one ed25519 key; the key object is made once. A class with private state, so that no other object
 * can pass for one: what it says is true of exactly the public key it shows.
 */
export class Verifier {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly #key: KeyObject;

  constructor(publicKey: Uint8Array) {
    this.publicKey = publicKey.slice();
    this.#key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: "der", type: "spki" });
  }

  verify(data: Uint8Array, signature: Uint8Array): boolean {
    return verify(null, data, this.#key, signature);
  }
}

/** Makes ed25519 signatures (64 bytes) with one key, synchronously. */
export interface Signer {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Checks what this signer signed. */
  readonly verifier: Verifier;
  sign(data: Uint8Array): Uint8Array;
}

/**
 * A signer for an ed25519 key pair. The key objects are made once and reused. Throws `internal_error` when the public key
 * is not the seed's, because such a pair would sign what nobody can verify.
 */
export function signerOf(pair: { readonly seed: Uint8Array; readonly publicKey: Uint8Array }): Signer {
  const der = Buffer.concat([PKCS8_PREFIX, pair.seed]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  if (!sameBytes(publicKeyOf(key), pair.publicKey)) {
    throw new AppError("internal_error", "The public key of the signing key pair does not belong to its private key");
  }
  const verifier = new Verifier(pair.publicKey);
  return { publicKey: verifier.publicKey, verifier, sign: (data) => new Uint8Array(sign(null, data, key)) };
}

function publicKeyOf(key: KeyObject): Uint8Array {
  const der = createPublicKey(key).export({ format: "der", type: "spki" });
  return new Uint8Array(der.subarray(SPKI_PREFIX.length));
}
