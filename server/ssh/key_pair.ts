import { formatPrivateKey, generateKeyPair, parsePrivateKey, publicLine } from "./private_key.ts";
import { fingerprint, parsePublicKey } from "./public_key.ts";
import { type Signer, signerOf } from "./signer.ts";

/** A new ed25519 pair in the forms in which it is stored. */
export interface NewKeyPair {
  /** `ssh-ed25519 AAAA… comment`. */
  readonly line: string;
  /** `SHA256:…`. */
  readonly print: string;
  /** The private half as unencrypted OpenSSH text. */
  readonly pem: string;
}

export function newKeyPair(comment: string): NewKeyPair {
  const pair = generateKeyPair();
  const line = publicLine(pair.publicKey, comment);
  return { line, print: fingerprint(parsePublicKey(line).blob), pem: formatPrivateKey(pair, comment) };
}

/** A stored private key as a signer. Throws `invalid_request` for text that is none. */
export function signerOfPem(pem: string): Signer {
  return signerOf(parsePrivateKey(pem));
}
