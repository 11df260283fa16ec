import { ed25519 } from "@noble/curves/ed25519.js";
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { asAppError, ensure } from "./format_error.ts";
import { checkComment } from "./key_line.ts";
import { fromBase64, Reader, sameBytes, toBase64, Writer } from "./wire.ts";

export { type Signer, signerOf } from "./signer.ts";

const TYPE = "ssh-ed25519";
const MAGIC = "openssh-key-v1\0";
const FIRST_LINE = "-----BEGIN OPENSSH PRIVATE KEY-----";
const LAST_LINE = "-----END OPENSSH PRIVATE KEY-----";
/** Far above an ed25519 key's 400 characters, so that a pasted novel is refused before it is decoded. */
const MAX_TEXT = 8_192;

/** An ed25519 key pair. */
export interface KeyPair {
  /** The private key, 32 bytes. */
  readonly seed: Uint8Array;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

export function generateKeyPair(): KeyPair {
  const { secretKey, publicKey } = ed25519.keygen();
  return { seed: secretKey, publicKey };
}

/** `ssh-ed25519 AAAA… comment`, the line of a .pub file without its newline; an empty comment is left out. */
export function publicLine(publicKey: Uint8Array, comment: string): string {
  const line = `${TYPE} ${toBase64(publicBlob(publicKey))}`;
  checkOwnComment(comment);
  return comment === "" ? line : `${line} ${comment}`;
}

/** The pair as an OpenSSH private key file without a passphrase (PROTOCOL.key), as ssh-keygen, ssh and ssh2 read it. */
export function formatPrivateKey(pair: KeyPair, comment: string): string {
  checkOwnComment(comment);
  const check = randomBytes(4);
  const secret = new Writer().raw(check).raw(check).string(TYPE).string(pair.publicKey)
    .string(Buffer.concat([pair.seed, pair.publicKey])).string(comment).bytes();
  const padding = Uint8Array.from({ length: (8 - secret.length % 8) % 8 }, (_, index) => index + 1);
  const all = new Writer().raw(Buffer.from(MAGIC)).string("none").string("none").string("").u32(1)
    .string(publicBlob(pair.publicKey)).string(Buffer.concat([secret, padding])).bytes();
  return [FIRST_LINE, ...(toBase64(all).match(/.{1,70}/g) ?? []), LAST_LINE, ""].join("\n");
}

/**
 * Reads an unencrypted OpenSSH private key file that holds one ed25519 key. Every copy of the public key in it must be
 * the seed's own. Throws `invalid_request` with the reason, never with any of the text.
 */
export function parsePrivateKey(pem: string): KeyPair & { readonly comment: string } {
  return asAppError("invalid_request", "A valid OpenSSH private key is required", () => {
    const reader = new Reader(decodePem(pem));
    ensure(
      Buffer.from(reader.raw(MAGIC.length)).toString("latin1") === MAGIC,
      "it is not in the format openssh-key-v1",
    );
    const cipher = reader.text("its cipher");
    ensure(cipher === "none", "it is protected by a passphrase, remove it with ssh-keygen -p");
    ensure(
      reader.text("its key derivation") === "none" && reader.string().length === 0,
      "its key derivation is not none",
    );
    ensure(reader.u32() === 1, "it does not hold exactly one key");
    const outer = readPublicBlob(reader.string());
    const secret = reader.string();
    reader.end("the private key");
    return readSecret(secret, outer);
  });
}

function decodePem(pem: string): Uint8Array {
  ensure(pem.length <= MAX_TEXT, `it is longer than ${MAX_TEXT} characters`);
  const lines = pem.trim().split(/\r?\n/);
  ensure(lines[0] === FIRST_LINE, `its first line is not ${FIRST_LINE}`);
  ensure(lines.at(-1) === LAST_LINE, `its last line is not ${LAST_LINE}`);
  return fromBase64(lines.slice(1, -1).join(""));
}

function readSecret(bytes: Uint8Array, outer: Uint8Array): KeyPair & { readonly comment: string } {
  ensure(bytes.length % 8 === 0, "its private part is not padded to 8 bytes");
  const reader = new Reader(bytes);
  ensure(reader.u32() === reader.u32(), "its two check numbers differ");
  ensure(reader.text("its key type") === TYPE, "its key type is not ssh-ed25519");
  const inner = reader.string();
  const secret = reader.string();
  ensure(secret.length === 64, "its private key is not 64 bytes");
  const comment = reader.text("its comment");
  checkComment(comment);
  const padding = reader.raw(bytes.length - reader.offset);
  ensure(padding.length < 8 && padding.every((byte, index) => byte === index + 1), "its padding is wrong");
  const seed = secret.slice(0, 32);
  const publicKey = ed25519.getPublicKey(seed);
  for (const copy of [outer, inner, secret.subarray(32)]) {
    ensure(sameBytes(copy, publicKey), "its public key does not belong to its private key");
  }
  return { seed, publicKey, comment };
}

function publicBlob(publicKey: Uint8Array): Uint8Array {
  return new Writer().string(TYPE).string(publicKey).bytes();
}

function readPublicBlob(blob: Uint8Array): Uint8Array {
  const reader = new Reader(blob);
  ensure(reader.text("its key type") === TYPE, "its key type is not ssh-ed25519");
  const key = reader.string();
  reader.end("the public key in it");
  return key;
}

/** The comments of our own keys are chosen by the program, so a bad one is a fault of the program. */
function checkOwnComment(comment: string): void {
  asAppError("internal_error", "The comment of a key made here is not usable", () => checkComment(comment));
}
