/** Looks for secrets in whatever a program printed, answered and wrote, in the codings in which secrets travel. */
import { Buffer } from "node:buffer";

export interface Secret {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Somewhere a secret must not be. */
export interface Place {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface Coded {
  readonly coding: string;
  readonly text: string;
}

/** A piece this long is a leak; the 11 characters by which a token is shown in lists are none. */
const PIECE = 16;

export const secretText = (name: string, text: string): Secret => ({ name, bytes: new TextEncoder().encode(text) });

export const placeText = (name: string, text: string): Place => ({ name, bytes: new TextEncoder().encode(text) });

/** Bytes in every coding that is looked for, each as Latin-1 text; codings that change nothing are left out. */
export function codingsOf(bytes: Uint8Array): Coded[] {
  const buffer = Buffer.from(bytes);
  const raw = buffer.toString("latin1");
  const utf8 = buffer.toString("utf8");
  const hex = buffer.toString("hex");
  const percent = hex.replace(/../g, "%$&");
  const codings: Coded[] = [
    { coding: "raw", text: raw },
    { coding: "hex", text: hex },
    { coding: "hex in capitals", text: hex.toUpperCase() },
    { coding: "percent of every byte", text: percent },
    { coding: "percent of every byte in capitals", text: percent.toUpperCase() },
  ];
  if (!utf8.includes("\ufffd")) {
    codings.push({ coding: "URL", text: encodeURIComponent(utf8) });
    codings.push({ coding: "form", text: encodeURIComponent(utf8).replaceAll("%20", "+") });
    codings.push({ coding: "JSON", text: Buffer.from(JSON.stringify(utf8).slice(1, -1)).toString("latin1") });
  }
  for (const shift of [0, 1, 2]) {
    const text = base64At(buffer, shift);
    codings.push({ coding: `base64 at ${shift}`, text });
    codings.push({ coding: `base64url at ${shift}`, text: text.replaceAll("+", "-").replaceAll("/", "_") });
  }
  return codings.filter(({ text }, index) => codings.findIndex((one) => one.text === text) === index);
}

/** The characters of base64 that these bytes alone decide when `shift` bytes (modulo 3) stand before them. */
function base64At(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
  return text.slice(Math.ceil(shift * 8 / 6), Math.floor((shift + bytes.length) * 8 / 6));
}

/** Overlapping pieces, so that whoever leaks a good part of a secret leaks one of them. */
function piecesOf({ bytes }: Secret): Uint8Array[] {
  if (bytes.length <= PIECE) return [bytes];
  const pieces: Uint8Array[] = [];
  for (let at = 0; at + PIECE < bytes.length; at += PIECE / 2) pieces.push(bytes.subarray(at, at + PIECE));
  return [...pieces, bytes.subarray(-PIECE)];
}

/** What was found, as `<secret> as <coding> in <place>`; empty when nothing was. */
export function findLeaks(secrets: readonly Secret[], places: readonly Place[]): string[] {
  const texts = places.map(({ name, bytes }) => {
    const text = Buffer.from(bytes).toString("latin1");
    // Base64 is broken into lines, and a log writes the line end as two characters.
    const unbroken = text.replace(/\\r|\\n|\s/g, "");
    return { name, text, unbroken };
  });
  const found = new Set<string>();
  for (const secret of secrets) {
    for (const piece of piecesOf(secret)) {
      for (const { coding, text } of codingsOf(piece)) {
        for (const place of texts) {
          if (place.text.includes(text) || coding.startsWith("base64") && place.unbroken.includes(text)) {
            found.add(`${secret.name} as ${coding} in ${place.name}`);
          }
        }
      }
    }
  }
  return [...found].sort();
}
