import { widthOf, wrap } from "../text/cells.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { keyName, type Offer } from "./offers.ts";

/** The help of a screen: what it is for, its keys, its commands; what does nothing now is marked, and keeps its key. */
export function helpLines(about: string | undefined, offers: readonly Offer[], width: number): Line[] {
  const intro = about === undefined ? [] : [...wrap(about, width).map((text) => line(text)), BLANK];
  const told = new Set<string>();
  const keys = offers.filter(({ shown, isOffered }) => shown !== null || !isOffered).flatMap((offer) => {
    const { isOffered, shown, word, about } = offer;
    const names = isOffered
      ? [...new Set([shown!, ...offer.keys.map(keyName)])].slice(0, 8).join(" ")
      : shown ?? (word === null ? "-" : `:${word}`);
    // Two tables of one screen have the same keys.
    if (told.has(`${names} ${about}`)) return [];
    told.add(`${names} ${about}`);
    return entry(names, isOffered ? about : `${about} (not now)`, width, isOffered ? "accent" : "dim");
  });
  const words = offers.filter(({ word, isOffered }) => word !== null && isOffered).flatMap((offer) =>
    entry(`:${offer.word}${offer.takes === null ? "" : ` ${offer.takes}`}`, offer.about, width)
  );
  return [
    ...intro,
    line(span("Keys", "strong")),
    ...keys,
    BLANK,
    line(span("Commands", "strong"), span("  typed after :", "dim")),
    ...words,
    BLANK,
    line(span("Everything can be done from the shell too: orgpods --help", "dim")),
  ];
}

const NAME_WIDTH = 18;

function entry(name: string, about: string, width: number, tone: "accent" | "dim" = "accent"): Line[] {
  const indent = 2 + NAME_WIDTH;
  const texts = wrap(about, Math.max(10, width - indent));
  const first = widthOf(name) >= NAME_WIDTH
    ? [line(span(`  ${name}`, tone)), line(" ".repeat(indent), texts[0] ?? "")]
    : [line(span(`  ${name}`, tone), " ".repeat(NAME_WIDTH - widthOf(name)), texts[0] ?? "")];
  return [...first, ...texts.slice(1).map((text) => line(" ".repeat(indent), text))];
}
