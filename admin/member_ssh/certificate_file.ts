import { AppError } from "../../server/errors.ts";
import { parseCertificate } from "../../server/ssh/parse_certificate.ts";
import { parsePublicKey } from "../../server/ssh/public_key.ts";
import { readIfThere } from "./private_file.ts";

export interface KeptCertificate {
  readonly serial: string;
  /** When it ends, in milliseconds. */
  readonly until: number;
}

/** The certificate of a line, if it is one for this public key; else null. */
export function certificateOf(line: string, publicKey: string): KeptCertificate | null {
  try {
    const { serial, validBefore, key } = parseCertificate(line);
    if (key.fingerprint !== parsePublicKey(publicKey).fingerprint) return null;
    return { serial: serial.toString(), until: Number(validBefore) * 1000 };
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_request") return null;
    throw error;
  }
}

/** The same of a file; null also when there is none. */
export async function readCertificateFile(path: string, publicKey: string): Promise<KeptCertificate | null> {
  const text = await readIfThere(path);
  return text === null ? null : certificateOf(text.trim(), publicKey);
}
