/** Checks that who logs in holds the private key: ssh2 does it for plain keys, but knows no certificates. */
import { Buffer } from "node:buffer";
// @ts-types="npm:@types/ssh2@1.15.6"
import ssh2 from "ssh2";
import { Reader, toBase64 } from "../../ssh/wire.ts";
import type { Grant } from "./pod_login.ts";

/** Hashes by the type that stands in the signature; SHA-1 (`ssh-rsa`) is not among them. */
const HASHES: Readonly<Record<string, { readonly keyType: string; readonly hash: string | undefined }>> = {
  "ssh-ed25519": { keyType: "ssh-ed25519", hash: undefined },
  "rsa-sha2-256": { keyType: "ssh-rsa", hash: "sha256" },
  "rsa-sha2-512": { keyType: "ssh-rsa", hash: "sha512" },
  "ecdsa-sha2-nistp256": { keyType: "ecdsa-sha2-nistp256", hash: "sha256" },
  "ecdsa-sha2-nistp384": { keyType: "ecdsa-sha2-nistp384", hash: "sha384" },
  "ecdsa-sha2-nistp521": { keyType: "ecdsa-sha2-nistp521", hash: "sha512" },
};

/** What ssh2 hands over of a signed login. */
export interface SignedLogin {
  /** What was signed. */
  readonly blob: Uint8Array;
  /** For a certificate as on the wire, its type in front; for a plain key as `verify` wants it. */
  readonly signature: Uint8Array;
  readonly hashAlgo: string | undefined;
}

/** True when the signature was made by the private key of `grant`. Throws a FormatError for cut-off bytes. */
export function signatureHolds(grant: Grant, login: SignedLogin): boolean {
  const key = ssh2.utils.parseKey(`${grant.type} ${toBase64(grant.blob)}`);
  if (key instanceof Error) return false;
  if (!grant.certified) return key.verify(login.blob as Buffer, login.signature as Buffer, login.hashAlgo) === true;
  const reader = new Reader(login.signature);
  const known = HASHES[reader.text("the type of the signature")];
  if (known?.keyType !== grant.type) return false;
  const raw = reader.string();
  reader.end("the signature");
  const signature = known.keyType.startsWith("ecdsa-") ? derOf(raw) : Buffer.from(raw);
  return key.verify(login.blob as Buffer, signature, known.hash) === true;
}

/** An ECDSA signature in the form crypto libraries want: SSH writes r and s as two strings, DER as two INTEGERs. Both
 * hold the same bytes inside. */
function derOf(raw: Uint8Array): Buffer {
  const reader = new Reader(raw);
  const integer = () => {
    const bytes = reader.string();
    return Buffer.concat([Buffer.from([0x02, bytes.length]), bytes]);
  };
  const body = Buffer.concat([integer(), integer()]);
  reader.end("the signature");
  const length = body.length < 128 ? [body.length] : [0x81, body.length];
  return Buffer.concat([Buffer.from([0x30, ...length]), body]);
}
