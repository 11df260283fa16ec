import { MAX_PRINCIPALS } from "./certificate_spec.ts";
import { asAppError, ensure } from "./format_error.ts";
import { splitKeyLine } from "./key_line.ts";
import {
  checkEd25519Point,
  type Depth,
  type KeyType,
  keyTypeNamed,
  keyTypeOfCertificate,
  readKeyFields,
} from "./key_types.ts";
import { fingerprint, type SubjectKey, subjectKeyOf } from "./public_key.ts";
import { Verifier } from "./signer.ts";
import { fromBase64, Reader, Writer } from "./wire.ts";

/** Longest certificate line, in characters: an RSA key of 16384 bits and 256 principals fit. */
const MAX_LINE = 32_768;
const CA_TYPE = "ssh-ed25519";
const USER = 1;

/** Options that have no value, or sshd refuses the certificate (PROTOCOL.certkeys). */
const FLAGS: ReadonlySet<string> = new Set([
  ...["no-touch-required", "permit-X11-forwarding", "permit-agent-forwarding", "permit-port-forwarding"],
  ...["permit-pty", "permit-user-rc"],
]);
const CRITICAL_FLAGS: ReadonlySet<string> = new Set(["verify-required"]);
/** Critical options that must have one. */
const VALUED: ReadonlySet<string> = new Set(["force-command", "source-address"]);

/** Options by name, in ASCII order; the value of a flag is empty. */
export type Options = ReadonlyMap<string, string>;

/** The fields of a user certificate as they stand in it (PROTOCOL.certkeys). */
export interface CertificateFields {
  readonly keyType: KeyType;
  readonly nonce: Uint8Array;
  /** The certified key's own fields. */
  readonly keyBody: Uint8Array;
  /** 0 to 2^64-1. */
  readonly serial: bigint;
  readonly keyId: string;
  readonly principals: readonly string[];
  /** Seconds since 1970. */
  readonly validAfter: bigint;
  /** Seconds since 1970; 2^64-1 stands for ever. */
  readonly validBefore: bigint;
  readonly criticalOptions: Options;
  readonly extensions: Options;
  /** The CA's ed25519 key, 32 bytes. */
  readonly caPublicKey: Uint8Array;
  /** What the CA signed: everything before the signature. */
  readonly signed: Uint8Array;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

export interface ParsedCertificate extends CertificateFields {
  /** `ssh-ed25519-cert-v01@openssh.com`, … */
  readonly type: string;
  readonly key: SubjectKey;
  /** `SHA256:…` of the CA's key. */
  readonly caFingerprint: string;
}

/**
 * Reads a user certificate of an ed25519 CA: a line with or without a comment, or the bytes. Every field is judged as
 * strictly as when we issue one (more strictly than ssh-keygen: options must be in order, texts printable ASCII, some
 * principal named), and the signature must be that of the CA named inside. Whether that CA is to be trusted, and whether
 * the certificate is in force, is for the caller. Throws `invalid_request` with the reason.
 */
export function parseCertificate(lineOrBlob: string | Uint8Array): ParsedCertificate {
  return asAppError("invalid_request", "A valid SSH certificate is required", () => {
    const fields = readCertificate(typeof lineOrBlob === "string" ? decodeLine(lineOrBlob) : lineOrBlob, "full");
    const ca = new Verifier(fields.caPublicKey);
    ensure(ca.verify(fields.signed, fields.signature), "its signature is not that of the CA it names");
    const caBlob = new Writer().string(CA_TYPE).string(fields.caPublicKey).bytes();
    return {
      ...fields,
      type: fields.keyType.certificateName,
      key: subjectKeyOf(fields.keyType, fields.keyBody),
      caFingerprint: fingerprint(caBlob),
    };
  });
}

/** Reads and judges every field but the signature's truth. `depth` is for the points of the key and of the CA. */
export function readCertificate(blob: Uint8Array, depth: Depth): CertificateFields {
  const reader = new Reader(blob);
  const keyType = keyTypeOfCertificate(reader.text("its type"));
  ensure(keyType !== undefined, "its type is not that of a certificate for an accepted key type");
  const nonce = reader.string();
  ensure(nonce.length === 32, "its nonce is not 32 bytes");
  const keyFrom = reader.offset;
  readKeyFields(keyType, reader, depth);
  const keyBody = blob.subarray(keyFrom, reader.offset);
  const serial = reader.u64();
  ensure(reader.u32() === USER, "it is not a user certificate");
  const keyId = reader.text("its key id");
  ensure(keyId !== "", "its key id is empty");
  const principals = readPrincipals(reader.string());
  const validAfter = reader.u64();
  const validBefore = reader.u64();
  ensure(validBefore > validAfter, "its end is not after its start");
  const criticalOptions = readOptions(reader.string(), "critical option");
  const extensions = readOptions(reader.string(), "extension");
  ensure(reader.string().length === 0, "its reserved field is not empty");
  const caPublicKey = readEd25519(reader.string(), 32, "CA key");
  if (depth === "full") checkEd25519Point(caPublicKey);
  const signed = blob.subarray(0, reader.offset);
  const signature = readEd25519(reader.string(), 64, "signature");
  reader.end("the certificate");
  return {
    keyType,
    nonce,
    keyBody,
    serial,
    keyId,
    principals,
    validAfter,
    validBefore,
    criticalOptions,
    extensions,
    caPublicKey,
    signed,
    signature,
  };
}

function decodeLine(text: string): Uint8Array {
  const { type, base64 } = splitKeyLine(text, MAX_LINE);
  ensure(keyTypeNamed(type) === undefined, "it is a plain public key");
  ensure(keyTypeOfCertificate(type) !== undefined, "its type is not that of a certificate for an accepted key type");
  const blob = fromBase64(base64);
  ensure(new Reader(blob).text("its type") === type, "its type is not the type inside the certificate");
  return blob;
}

function readPrincipals(bytes: Uint8Array): string[] {
  const reader = new Reader(bytes);
  const principals: string[] = [];
  while (!reader.atEnd) {
    const name = reader.text("one of its principals");
    ensure(name !== "", "one of its principals is empty");
    ensure(principals.push(name) <= MAX_PRINCIPALS, `it has more than ${MAX_PRINCIPALS} principals`);
  }
  ensure(principals.length > 0, "it has no principals, which sshd takes for anybody");
  return principals;
}

/** Pairs of name and data; data is empty for a flag, else one string inside a string. */
function readOptions(bytes: Uint8Array, what: "critical option" | "extension"): Options {
  const reader = new Reader(bytes);
  const options = new Map<string, string>();
  let last = "";
  while (!reader.atEnd) {
    const name = reader.text(`the name of one ${what}`);
    ensure(name !== "", `the name of one ${what} is empty`);
    ensure(!options.has(name), `one ${what} is there twice`);
    ensure(name > last, `its ${what}s are not in ASCII order`);
    last = name;
    const value = readOptionValue(reader.string(), what);
    const isCritical = what === "critical option";
    ensure(value === "" || !(isCritical ? CRITICAL_FLAGS : FLAGS).has(name), `one ${what} that is a flag has a value`);
    ensure(value !== "" || !isCritical || !VALUED.has(name), `one ${what} that needs a value has none`);
    options.set(name, value);
  }
  return options;
}

function readOptionValue(data: Uint8Array, what: string): string {
  if (data.length === 0) return "";
  const isString = data.length >= 4 && new Reader(data).u32() === data.length - 4;
  ensure(isString, `the value of one ${what} is not one string`);
  const value = new Reader(data).text(`the value of one ${what}`);
  ensure(value !== "", `the value of one ${what} is empty`);
  return value;
}

function readEd25519(bytes: Uint8Array, length: number, what: string): Uint8Array {
  const reader = new Reader(bytes);
  ensure(reader.text(`the type of its ${what}`) === CA_TYPE, `its ${what} is not ${CA_TYPE}`);
  const value = reader.string();
  ensure(value.length === length, `its ${what} is not ${length} bytes`);
  reader.end(`its ${what}`);
  return value;
}
