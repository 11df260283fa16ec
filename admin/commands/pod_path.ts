/** Paths on a pod in a command: bytes, because a name there may be any bytes but `/` and NUL. */
import { Buffer } from "node:buffer";
import { AppError, shown } from "../../server/errors.ts";
import { plain } from "./text.ts";

const SLASH = 0x2f;

/** A path of the command line: text, or with `--b64` base64url of its bytes. Throws `AppError("usage")`. */
export function podPath(word: string, isBase64: boolean, what = "The path"): Uint8Array {
  const isGood = !isBase64 || /^[A-Za-z0-9_+/-]+={0,2}$/.test(word);
  if (!isGood) throw new AppError("usage", `${what} must be base64url with --b64: ${shown(word)}`);
  const bytes = Uint8Array.from(isBase64 ? Buffer.from(word, "base64") : new TextEncoder().encode(word));
  if (bytes[0] !== SLASH || bytes.includes(0)) {
    throw new AppError("usage", `${what} must be an absolute path on the pod: ${shown(word)}`);
  }
  return bytes;
}

/** `{path}`, or `{path_b64}` where the bytes are not text. */
export function pathFields(path: Uint8Array): { path: string } | { path_b64: string } {
  const text = textOf(path);
  return text === null ? { path_b64: base64url(path) } : { path: text };
}

export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

/** The bytes of a name or a path in an answer. */
export function bytesOf(text: string, b64: string | undefined): Uint8Array {
  return Uint8Array.from(b64 === undefined ? Buffer.from(text) : Buffer.from(b64, "base64url"));
}

/** The last name of a path, null for `/`. */
export function lastName(path: Uint8Array): Uint8Array | null {
  let end = path.length;
  while (end > 0 && path[end - 1] === SLASH) end--;
  return end === 0 ? null : path.subarray(path.lastIndexOf(SLASH, end - 1) + 1, end);
}

export function inFolder(folder: Uint8Array, name: Uint8Array): Uint8Array {
  const slash = folder.at(-1) === SLASH ? [] : [SLASH];
  return Uint8Array.of(...folder, ...slash, ...name);
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of UTF-8 bytes, or null. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** A name or a path for a terminal: control characters escaped, and bytes that are no UTF-8 as `\xe9`. */
export function shownPath(bytes: Uint8Array): string {
  const whole = textOf(bytes);
  if (whole !== null) return plain(whole);
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const char = [1, 2, 3, 4].map((length) => textOf(bytes.subarray(at, at + length))).find((one) => one);
    if (char) {
      text += plain(char);
      at += Buffer.byteLength(char);
    } else text += `\\x${bytes[at++]!.toString(16).padStart(2, "0")}`;
  }
  return text;
}
