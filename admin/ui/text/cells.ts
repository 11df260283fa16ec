/** Text measured and cut in columns of a terminal, with whatever could disturb the terminal made harmless. */
import { plain } from "../../commands/text.ts";

const SIMPLE = /^[\x20-\x7e]*$/;
const WIDE = new RegExp(
  "[\\u1100-\\u115f\\u2329\\u232a\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97c\\uac00-\\ud7a3\\uf900-\\ufaff" +
    "\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6\\u{16fe0}-\\u{18df2}\\u{1aff0}-\\u{1b2fb}" +
    "\\u{1d300}-\\u{1d376}\\u{1f200}-\\u{1f265}\\u{20000}-\\u{3fffd}]|\\p{Emoji_Presentation}",
  "u",
);
const MARK = /[\p{Mn}\p{Me}]/u;
/** Marks on one letter; more of them would be drawn over the lines above and below. */
const MOST_MARKS = 3;
/** Longer texts are cut before they are looked at: no line has room for them. */
const MOST_CHARACTERS = 4_000;
/** More paragraphs than anybody reads on a screen. */
const MOST_PARAGRAPHS = 500;

/** A letter behind a mark, which may be one cluster with the letter before it. */
const JOINED = /[\p{Mn}\p{Me}]\p{L}/u;
const segmenter = new Intl.Segmenter();

/**
 * A text of others as one line of a terminal: control and direction characters are written as `\u{…}`, and characters on
 * whose width terminals disagree (flags, skin tones, keycaps, loose parts of Hangul, letters of India that grow together)
 * are replaced or parted. Cleaning twice changes nothing more.
 */
export function clean(text: string): string {
  const short = text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text;
  if (SIMPLE.test(short)) return short;
  const harmless = plain(short.normalize("NFC").replaceAll("\t", "  "))
    .replace(/[\ufe00-\ufe0f\u{e0100}-\u{e01ef}\u{1f3fb}-\u{1f3ff}\u20e3]/gu, "")
    .replace(/[\u{1f1e6}-\u{1f1ff}]/gu, (flag) => String.fromCharCode(flag.codePointAt(0)! - 0x1f1e6 + 65))
    .replace(/[\u115f-\u11ff\u3164\ud7b0-\ud7ff\uffa0]/gu, "\u00b7")
    // The AM of Thai and Lao is a mark and a letter in one character.
    .replaceAll("\u0e33", "\u0e4d\u0e32").replaceAll("\u0eb3", "\u0ecd\u0eb2")
    .replace(/^[\p{Mn}\p{Me}]/u, "\u25cc$&")
    .replace(/[\p{Mn}\p{Me}]{4,}/gu, (marks) => [...marks].slice(0, MOST_MARKS).join(""));
  return JOINED.test(harmless) ? parted(harmless) : harmless;
}

/** Each cluster with one letter: some terminals, and the drawing library, count a cluster as one letter wide. */
function parted(text: string): string {
  return Array.from(segmenter.segment(text), ({ segment }) => segment.replace(/(?<=.)\p{L}/gu, "\u00b7$&")).join("");
}

/** How many columns a clean text takes. */
export function widthOf(text: string): number {
  if (SIMPLE.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += widthOfChar(char);
  return width;
}

function widthOfChar(char: string): number {
  return MARK.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
}

/** The part of a clean text that fits into `width` columns. */
export function head(text: string, width: number): string {
  if (width <= 0) return "";
  if (SIMPLE.test(text)) return text.slice(0, width);
  let at = 0;
  let used = 0;
  for (const char of text) {
    used += widthOfChar(char);
    if (used > width) break;
    at += char.length;
  }
  return text.slice(0, at);
}

/** The end of a clean text that fits into `width` columns. */
export function tail(text: string, width: number): string {
  if (SIMPLE.test(text)) return width <= 0 ? "" : text.slice(-width);
  const chars = [...text];
  let from = chars.length;
  for (let used = 0; from > 0; from--) {
    used += widthOfChar(chars[from - 1]!);
    if (used > width) break;
  }
  while (from < chars.length && MARK.test(chars[from]!)) from++;
  return chars.slice(from).join("");
}

/** A clean text of at most `width` columns; what was cut is shown as `…`, at the end or (for paths) in the middle. */
export function cut(text: string, width: number, where: "end" | "middle" = "end"): string {
  if (widthOf(text) <= width) return text;
  if (width <= 1) return width <= 0 ? "" : "\u2026";
  if (where === "end") return `${head(text, width - 1)}\u2026`;
  const front = head(text, Math.ceil((width - 1) / 2));
  return `${front}\u2026${tail(text, width - 1 - widthOf(front))}`;
}

/**
 * Text that is read as paragraphs, in lines of at most `width` columns; broken at spaces where that can be. What is longer
 * than anything that is meant to be read is cut, because it is wrapped anew for each frame.
 */
export function wrap(text: string, width: number): string[] {
  if (width < 1) return [];
  return text.split(/\r?\n/, MOST_PARAGRAPHS).flatMap((paragraph) => wrapLine(clean(paragraph), width));
}

function wrapLine(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/(?<= )/)) {
    let rest = word;
    if (line !== "" && widthOf(line) + widthOf(rest.trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = "";
    }
    while (widthOf(rest.trimEnd()) > width) {
      // A character wider than the window could never be placed.
      const part = head(rest, width) || [...rest][0]!;
      lines.push(part);
      rest = rest.slice(part.length);
    }
    line += rest;
  }
  if (line !== "" || lines.length === 0) lines.push(line.trimEnd());
  return lines;
}
