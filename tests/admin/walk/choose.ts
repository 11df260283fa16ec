/** Chance decides what a walk does next; nothing here does it. */
import type { Random } from "../../schedule/term/random.ts";
import { PASTES, TYPED } from "./texts.ts";

/** What the walk can see of the admin: keys that are offered, words of commands, and whether a text is asked for. */
export interface Sight {
  readonly offered: readonly { readonly keys: readonly string[]; readonly label: string; readonly isMinor: boolean }[];
  readonly words: readonly { readonly word: string; readonly takes: boolean }[];
  readonly isTyping: boolean;
  /** Texts that fit what is on the screen, such as a name that must be typed. */
  readonly fitting: readonly string[];
}

export type Step =
  /** A key that the footer shows; `label` is what it says. */
  | { readonly kind: "shown"; readonly key: string; readonly keys: readonly string[]; readonly label: string }
  | { readonly kind: "keys"; readonly keys: readonly string[] }
  | { readonly kind: "type"; readonly text: string }
  | { readonly kind: "paste"; readonly text: string }
  /** Several things in one piece, as a quick hand over a slow line sends them; or bytes that are no key at all. */
  | { readonly kind: "bytes"; readonly bytes: string }
  | { readonly kind: "resize"; readonly sizes: readonly (readonly [columns: number, rows: number])[] }
  | { readonly kind: "weather" }
  | { readonly kind: "happen" };

/** Every key by its name but ctrl-z, which would stop the walk itself. */
const NAMED = [
  ..."enter esc tab shift-tab up down left right home end pageup pagedown delete backspace f1".split(" "),
  ..."abdefghiklnoprstuvwx".split("").map((letter) => `ctrl-${letter}`),
];
const LETTERS = [
  ..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/:?[]{}<>.,;-+=*!@#$%^&()_~`'\"\\| ",
];
/** Answers of terminals, reports of mice, sequences that are cut short or unknown, pastes that never end. */
const NOISE = [
  "\x1b[200~never ends",
  "\x1b[201~",
  "\x1b[<0;12;7M",
  "\x1b[M abc",
  "\x1b[12;40R",
  "\x1b[?62;4c",
  "\x1b]11;rgb:0000/0000/0000\x07",
  "\x1b[1;5A",
  "\x1b[27;5;9~",
  "\x1bO",
  "\x1b[",
  "\x1b\x1b\x1b",
  "\x00\x1c\x1d\x1e\x1f",
  "\xff\xfe",
  "\ud83d",
];
const SIZES = [[80, 24], [80, 24], [40, 12], [200, 50], [400, 100], [1, 1], [39, 24], [80, 11], [120, 30]] as const;

export function chooseStep(random: Random, sight: Sight): Step {
  const dice = random.next() * 100;
  if (dice < 50) return shownKey(random, sight);
  if (dice < 56) return { kind: "keys", keys: [random.pick(NAMED)] };
  if (dice < 60) return { kind: "keys", keys: [random.pick(LETTERS)] };
  if (dice < 68) return command(random, sight);
  if (dice < 76) return { kind: "type", text: textFor(random, sight, TYPED) };
  if (dice < 80) return { kind: "paste", text: textFor(random, sight, PASTES) };
  if (dice < 83) return { kind: "bytes", bytes: burst(random) };
  if (dice < 84) return { kind: "bytes", bytes: random.pick(NOISE) };
  if (dice < 90) return { kind: "resize", sizes: sizes(random) };
  if (dice < 95) return { kind: "weather" };
  return { kind: "happen" };
}

function shownKey(random: Random, { offered }: Sight): Step {
  const shown = offered.filter(({ keys, isMinor, label }) =>
    keys.length > 0 && !isMinor && (label !== "quit" || random.chance(0.1))
  );
  if (shown.length === 0) return { kind: "keys", keys: [random.pick(LETTERS)] };
  const { keys, label } = random.pick(shown);
  return { kind: "shown", key: random.pick(keys), keys, label };
}

function command(random: Random, { words, isTyping }: Sight): Step {
  // Where letters are text, the colon is one.
  if (isTyping || words.length === 0) return { kind: "keys", keys: ["esc"] };
  const { word, takes } = random.pick(words);
  const typed = random.chance(0.3) ? [...word.slice(0, random.int(1, word.length)), "tab"] : [...word];
  const argument = takes ? [" ", ...random.pick(["2", "60", "x", ""])] : [];
  if (word === "quit" && random.chance(0.9)) return { kind: "keys", keys: [":", ...word, "esc"] };
  return { kind: "keys", keys: [":", ...typed, ...argument, "enter"] };
}

function textFor(random: Random, { fitting }: Sight, others: readonly string[]): string {
  return fitting.length > 0 && random.chance(0.6) ? random.pick(fitting) : random.pick(others);
}

function burst(random: Random): string {
  const parts = [
    "j",
    "k",
    "\r",
    "\x1b[B",
    "\x1b[A",
    "\t",
    "y",
    "n",
    "x",
    "/",
    ":",
    "?",
    "G",
    "\x1b",
    "\x12",
    "\x0c",
    "ab",
  ];
  return Array.from({ length: random.int(2, 25) }, () => random.pick(parts)).join("");
}

function sizes(random: Random): (readonly [number, number])[] {
  const one = () =>
    random.chance(0.6) ? random.pick(SIZES) : [random.int(1, 220), random.int(1, 60)] as readonly [number, number];
  const storm = Array.from({ length: random.chance(0.2) ? 10 : 0 }, one);
  // It comes back to a window in which something can be done.
  return [...storm, random.chance(0.3) ? one() : random.pick([[80, 24], [40, 12], [120, 30]] as const)];
}
