import { createHash } from "node:crypto";
import { asAppError, ensure } from "./format_error.ts";
import { splitKeyLine } from "./key_line.ts";
import { KEY_TYPES, type KeyType, keyTypeNamed, keyTypeOfCertificate, readKeyFields } from "./key_types.ts";
import { fromBase64, Reader, Writer } from "./wire.ts";

/** Longest public key text, in characters. */
const MAX_TEXT = 4_096;

/** A public key that a certificate can be made for. */
export interface SubjectKey {
  /** `ssh-ed25519`, `ssh-rsa`, … */
  readonly type: string;
  /** The type of its certificates, `ssh-ed25519-cert-v01@openssh.com`, … */
  readonly certificateType: string;
  /** The whole key as SSH sends it: its type, then `body`. */
  readonly blob: Uint8Array;
  /** The key's own fields as they stand in the blob, after the type. */
  readonly body: Uint8Array;
  /** Printable ASCII, at most 200 characters, often empty. */
  readonly comment: string;
  /** `SHA256:…` as `ssh-keygen -lf` shows it. */
  readonly fingerprint: string;
}

/**
 * Reads a public key as a member sends it: text of one line, at most 4096 characters, `<type> <base64>[ <comment>]`
 * (HTTP contract section 6.3; security keys, the sk- types, are accepted too). Points are checked to lie on their curve
 * and RSA sizes are counted to the bit. Throws `invalid_request` with the reason; the sentence never holds the text,
 * which may be a private key sent by mistake.
 */
export function parsePublicKey(text: unknown): SubjectKey {
  return asAppError("invalid_request", "A valid SSH public key is required", () => {
    ensure(typeof text === "string", "it is not text");
    ensure(!startsWithOptions(text), "options in front of the key are not accepted");
    const { type: name, base64, comment } = splitKeyLine(text, MAX_TEXT);
    return readKeyBlob(acceptedType(name), fromBase64(base64), comment);
  });
}

/** `SHA256:` and the unpadded base64 of the blob's SHA-256, as ssh-keygen shows it. */
export function fingerprint(blob: Uint8Array): string {
  return `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;
}

/** The key whose own fields are `body`; the caller has judged them. The comment is empty. */
export function subjectKeyOf(type: KeyType, body: Uint8Array): SubjectKey {
  const blob = new Writer().string(type.name).raw(body).bytes();
  return {
    type: type.name,
    certificateType: type.certificateName,
    blob,
    body: blob.subarray(blob.length - body.length),
    comment: "",
    fingerprint: fingerprint(blob),
  };
}

function readKeyBlob(type: KeyType, blob: Uint8Array, comment: string): SubjectKey {
  const reader = new Reader(blob);
  ensure(reader.text("the type inside the key") === type.name, "its type is not the type inside the key");
  const from = reader.offset;
  readKeyFields(type, reader, "full");
  reader.end("the key");
  return { ...subjectKeyOf(type, blob.subarray(from)), comment };
}

function acceptedType(name: string): KeyType {
  ensure(name !== "ssh-dss", "DSA keys (ssh-dss) are not accepted");
  ensure(keyTypeOfCertificate(name) === undefined, "it is a certificate, send the public key it was made for");
  const type = keyTypeNamed(name);
  ensure(type !== undefined, `its type is none of ${KEY_TYPES.map((known) => known.name).join(", ")}`);
  return type;
}

/** A line of authorized_keys may begin with options: `command="…",no-pty ssh-ed25519 AAAA…`. */
function startsWithOptions(text: string): boolean {
  const [first = "", ...rest] = text.slice(0, MAX_TEXT).trim().split(/[ \t]+/);
  if (/^(?:ssh|ecdsa|sk)-/.test(first)) return false;
  return rest.some((word, index) => keyTypeNamed(word) !== undefined && rest[index + 1]?.startsWith("AAAA"));
}
