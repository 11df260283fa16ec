import { clean, head, tail, widthOf } from "./cells.ts";
import type { Span } from "./line.ts";

/** A line of text that is being typed: its letters, and the place of the cursor among them. */
export interface Edit {
  readonly letters: readonly string[];
  readonly at: number;
}

const segmenter = new Intl.Segmenter();
const lettersOf = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment);

/** Text to be edited, the cursor at its end. */
export function editOf(text: string): Edit {
  const letters = lettersOf(text);
  return { letters, at: letters.length };
}

export function editText(edit: Edit): string {
  return edit.letters.join("");
}

/** Puts text in at the cursor; what is typed or pasted with line ends stays one line. */
export function insert({ letters, at }: Edit, text: string): Edit {
  const added = lettersOf(text.replace(/[\r\n]+/g, " "));
  return { letters: [...letters.slice(0, at), ...added, ...letters.slice(at)], at: at + added.length };
}

/** What a key that is no text does to the line; null when it is none of the line's keys. */
export function editKey(edit: Edit, key: string): Edit | null {
  const { letters, at } = edit;
  switch (key) {
    case "left":
      return { letters, at: Math.max(0, at - 1) };
    case "right":
      return { letters, at: Math.min(letters.length, at + 1) };
    case "home":
    case "ctrl-a":
      return { letters, at: 0 };
    case "end":
    case "ctrl-e":
      return { letters, at: letters.length };
    case "backspace":
      return at === 0 ? edit : { letters: letters.toSpliced(at - 1, 1), at: at - 1 };
    case "delete":
      return { letters: letters.toSpliced(at, 1), at };
    case "ctrl-u":
      return { letters: letters.slice(at), at: 0 };
    case "ctrl-k":
      return { letters: letters.slice(0, at), at };
    case "ctrl-w": {
      const before = letters.slice(0, at).join("").replace(/\S+\s*$/, "");
      const kept = lettersOf(before);
      return { letters: [...kept, ...letters.slice(at)], at: kept.length };
    }
    default:
      return null;
  }
}

/** The line in `width` columns, moved so that the cursor is seen; the cursor is drawn in reverse. */
export function editSpans(edit: Edit, width: number, isHidden = false): Span[] {
  if (width <= 0) return [];
  const shown = edit.letters.map((letter, at) => {
    if (isHidden) return "*";
    // Letters that came one by one may grow together, too.
    const before = clean(edit.letters[at - 1] ?? "");
    const both = clean(before + letter);
    return both.startsWith(`${before}\u00b7`) ? both.slice(before.length) : clean(letter);
  });
  const under = shown[edit.at] ?? " ";
  const before = tail(shown.slice(0, edit.at).join(""), Math.max(0, width - widthOf(under)));
  const after = head(shown.slice(edit.at + 1).join(""), width - widthOf(before) - widthOf(under));
  return [{ text: before }, { text: under, inverse: true }, { text: after }];
}
