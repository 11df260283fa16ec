import { widthOf, wrap } from "../text/cells.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { keyName, type Offer } from "./offers.ts";

/** The help of a screen: what it is for, its keys, its commands; what does nothing now is marked. */
export function helpLines(about: string | undefined, offers: readonly Offer[], width: number): Line[] {
  const intro = about === undefined ? [] : [...wrap(about, width).map((text) => line(text)), BLANK];
  const keys = offers.filter(({ shown, isOffered }) => shown !== null || !isOffered).flatMap((offer) => {
    const names = offer.isOffered
      ? [...new Set([offer.shown!, ...offer.keys.map(keyName)])].slice(0, 8).join(" ")
      : "-";
    return entry(names, offer.isOffered ? offer.about : `${offer.about} (not now)`, width);
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

function entry(name: string, about: string, width: number): Line[] {
  const indent = 2 + NAME_WIDTH;
  const texts = wrap(about, Math.max(10, width - indent));
  const first = widthOf(name) >= NAME_WIDTH
    ? [line(span(`  ${name}`, "accent")), line(" ".repeat(indent), texts[0] ?? "")]
    : [line(span(`  ${name}`, "accent"), " ".repeat(NAME_WIDTH - widthOf(name)), texts[0] ?? "")];
  return [...first, ...texts.slice(1).map((text) => line(" ".repeat(indent), text))];
}
