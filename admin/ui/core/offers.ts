import type { Action, AnyScreen, At } from "./screen.ts";

/** An action as the frame, the help, the keys and the command line see it. */
export interface Offer {
  readonly keys: readonly string[];
  /** How the key is written, also while it does nothing; null for an action that has only a word. */
  readonly shown: string | null;
  readonly word: string | null;
  readonly takes: string | null;
  readonly label: string;
  readonly about: string;
  /** False while it does nothing: then it is only in the help. */
  readonly isOffered: boolean;
  /** Not in the footer. */
  readonly isMinor: boolean;
  run(input: string): unknown;
}

const KEY_NAMES: Readonly<Record<string, string>> = {
  up: "\u2191",
  down: "\u2193",
  left: "\u2190",
  right: "\u2192",
  pageup: "PgUp",
  pagedown: "PgDn",
  " ": "space",
};

/** How a key is written on the screen. */
export function keyName(key: string): string {
  return KEY_NAMES[key] ?? key;
}

/** True for a key that is text where text is typed. */
export function isText(key: string): boolean {
  return key.length === 1 || !/^[a-z0-9-]+$/.test(key);
}

/** The actions of a screen, then those of every screen; a key belongs to the first that has it. */
export function offersOf(
  screen: AnyScreen,
  at: At<unknown, unknown>,
  common: readonly Action<unknown, unknown>[],
): Offer[] {
  const isTyping = typingOf(screen, at) !== null;
  const taken = new Set<string>();
  const offers: Offer[] = [];
  for (const action of [...screen.actions, ...common]) {
    const isOffered = action.when?.(at) ?? true;
    // Letters are text while one types, so they are keys of nothing then.
    const keys = (action.keys ?? []).filter((key) => !(isTyping && isText(key)) && !taken.has(key));
    if (isOffered) { for (const key of keys) taken.add(key); }
    const [first] = isOffered ? keys : action.keys ?? [];
    offers.push({
      keys: isOffered ? keys : [],
      shown: first === undefined ? null : action.shown ?? keyName(first),
      word: action.word ?? null,
      takes: action.takes ?? null,
      label: action.label,
      about: action.about ?? action.label,
      isOffered,
      isMinor: action.isMinor === true,
      run: (input) => action.run(at, input),
    });
  }
  return offers;
}

/** Where typed text goes now, or null. */
export function typingOf(screen: AnyScreen, at: At<unknown, unknown>): ((text: string) => void) | null {
  return screen.typing?.(at) ?? null;
}

/**
 * Offers whose word begins with what is typed; one whose word is typed whole comes first. Before anything is typed those
 * come first that have no key, such as the other screens: the footer does not tell of them.
 */
export function completions(offers: readonly Offer[], typed: string): Offer[] {
  const [word = "", ...rest] = typed.trimStart().split(/\s+/);
  const fitting = offers.filter((offer) => offer.isOffered && offer.word?.startsWith(word));
  if (rest.length > 0) return fitting.filter((offer) => offer.word === word);
  if (word === "") return fitting.toSorted((a, b) => Number(a.shown !== null) - Number(b.shown !== null));
  return fitting.toSorted((a, b) => Number(b.word === word) - Number(a.word === word));
}
