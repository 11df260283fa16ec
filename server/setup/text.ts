import { AppError } from "../errors.ts";

/** Base64 from a pod as text; the empty string for what is no base64. */
export function fromBase64Lossy(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text.trim()), (char) => char.charCodeAt(0)));
  } catch (error) {
    if (error instanceof DOMException) return "";
    throw error;
  }
}

/** The first letter small, for a sentence that goes on before it. */
export const lowerFirst = (sentence: string): string => sentence.slice(0, 1).toLowerCase() + sentence.slice(1);

/** Why a call to a pod failed, as people read it. */
export function whyOf(error: unknown): string {
  if (!(error instanceof AppError)) throw error;
  return error.details.hint?.replace(/\.$/, "") ?? error.message;
}
