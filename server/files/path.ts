/** Paths on a pod: bytes, because a name there is any bytes but `/` and NUL. Absolute and normalised. */
import { Buffer } from "node:buffer";
import { AppError, shown } from "../errors.ts";

const SLASH = 0x2f;
const MAX_PATH = 4096;
const MAX_NAME = 255;
const ROOT = Uint8Array.of(SLASH);

/** A path as requests carry it: text, or base64 (either alphabet) of the bytes where they are not UTF-8. */
export interface GivenPath {
  readonly text: string | undefined;
  readonly base64: string | undefined;
}

/** A path or a name as answers carry it: `b64` (base64url) is there only when the text is not the exact bytes. */
export interface ShownName {
  readonly text: string;
  readonly b64?: string;
}

/**
 * The bytes of a path of a request, normalised: `.`, `..`, doubled and trailing slashes are gone. `field` names it in the
 * refusal (400). With neither form given, `fallback`.
 */
export function pathOf(field: string, given: GivenPath, fallback?: string): Uint8Array {
  const { text, base64 } = given;
  if (text !== undefined && base64 !== undefined) {
    throw new AppError("invalid_request", `Send ${field} or ${field}_b64, not both`);
  }
  if (base64 !== undefined) {
    const bytes = bytesOfBase64(base64);
    if (bytes === null || !isAbsolute(bytes)) {
      throw new AppError("invalid_request", `${field}_b64 must be base64 of an absolute path`);
    }
    return normalised(bytes, `${field}_b64`);
  }
  const value = text ?? fallback;
  const bytes = value === undefined || !value.isWellFormed() ? null : new TextEncoder().encode(value);
  if (bytes === null || !isAbsolute(bytes)) throw new AppError("invalid_request", `${field} must be an absolute path`);
  return normalised(bytes, field);
}

function isAbsolute(bytes: Uint8Array): boolean {
  return bytes[0] === SLASH && bytes.length <= MAX_PATH && !bytes.includes(0);
}

function bytesOfBase64(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return null;
  return Uint8Array.from(Buffer.from(text, "base64"));
}

function normalised(bytes: Uint8Array, field: string): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const part of partsOf(bytes)) {
    if (isDot(part)) continue;
    if (isDotDot(part)) parts.pop();
    else if (part.length > MAX_NAME) {
      throw new AppError("invalid_request", `${field} must not hold a name longer than ${MAX_NAME} bytes`);
    } else parts.push(part);
  }
  return pathFrom(parts);
}

/** The names a path is made of, as they stand there; empty ones are left out. */
export function partsOf(path: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let start = 0;
  for (let at = 0; at <= path.length; at++) {
    if (at < path.length && path[at] !== SLASH) continue;
    if (at > start) parts.push(path.slice(start, at));
    start = at + 1;
  }
  return parts;
}

export function pathFrom(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 0 ? ROOT : Uint8Array.from(Buffer.concat(parts.flatMap((part) => [ROOT, part])));
}

export function isDot(part: Uint8Array): boolean {
  return part.length === 1 && part[0] === 0x2e;
}

export function isDotDot(part: Uint8Array): boolean {
  return part.length === 2 && part[0] === 0x2e && part[1] === 0x2e;
}

/** The folder of a path and its last name; null for `/`. */
export function splitPath(path: Uint8Array): { readonly parent: Uint8Array; readonly name: Uint8Array } | null {
  const parts = partsOf(path);
  const name = parts.pop();
  return name === undefined ? null : { parent: pathFrom(parts), name };
}

export function joinPath(folder: Uint8Array, name: Uint8Array): Uint8Array {
  return pathFrom([...partsOf(folder), name]);
}

export function samePath(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** True when `path` lies in `folder` at any depth; not for the folder itself. */
export function liesIn(path: Uint8Array, folder: Uint8Array): boolean {
  const parts = partsOf(path);
  const outer = partsOf(folder);
  return parts.length > outer.length && outer.every((part, at) => samePath(part, parts[at]!));
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lossy = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text of UTF-8 bytes, or null. */
export function strictText(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** The text with U+FFFD in the place of what is not UTF-8. */
export function lossyText(bytes: Uint8Array): string {
  return lossy.decode(bytes);
}

export function shownName(bytes: Uint8Array): ShownName {
  const text = strictText(bytes);
  return text === null ? { text: lossyText(bytes), b64: base64url(bytes) } : { text };
}

/** `{path}` or `{path, path_b64}` of an answer. */
export function pathFields(path: Uint8Array): { readonly path: string; readonly path_b64?: string } {
  const { text, b64 } = shownName(path);
  return b64 === undefined ? { path: text } : { path: text, path_b64: b64 };
}

/** A path for one line of the audit: whole, without anything that a terminal or a page would act on. */
export function auditPath(path: Uint8Array): Record<string, string> {
  const { text, b64 } = shownName(path);
  return { path: escaped(text), ...(b64 === undefined ? {} : { path_b64: b64 }) };
}

/** A text in pieces that `shown` does not cut. */
function escaped(text: string): string {
  return Array.from(text, (character) => shown(character)).join("");
}
