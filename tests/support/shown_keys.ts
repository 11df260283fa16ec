/** The keys that a screen of the admin shows at this moment, read from its text as a person reads it. */

/** A key as it is written on the screen, and what it does in one or two words. */
export interface ShownKey {
  readonly key: string;
  readonly label: string;
}

/** The last lines of the screen: `enter open  ↑↓ move  ? help`; two of them in a window of 20 rows or more. */
export function footerKeys(screen: string, rows: number): ShownKey[] {
  const lines = screen.split("\n").slice(0, rows).slice(rows >= 20 ? -2 : -1);
  return lines.flatMap((line) => line.trim().split(/ {2,}/)).flatMap((hint): ShownKey[] => {
    const [, key, label] = /^(\S+) (.+)$/.exec(hint) ?? [];
    return key === undefined ? [] : [{ key, label: label! }];
  });
}

const TMUX_NAMES: Readonly<Record<string, string>> = {
  enter: "Enter",
  esc: "Escape",
  tab: "Tab",
  "shift-tab": "BTab",
  up: "Up",
  down: "Down",
  left: "Left",
  right: "Right",
  "↑": "Up",
  "↓": "Down",
  "←": "Left",
  "→": "Right",
  home: "Home",
  end: "End",
  pageup: "PPage",
  pagedown: "NPage",
  PgUp: "PPage",
  PgDn: "NPage",
  delete: "DC",
  backspace: "BSpace",
  space: "Space",
  " ": "Space",
  f1: "F1",
};

/** The names by which tmux knows a key as it is shown; `↑↓` is two keys. Null for a letter, which is sent as text. */
export function tmuxNames(key: string): string[] | null {
  const control = /^ctrl-([a-z])$/.exec(key);
  if (control !== null) return [`C-${control[1]}`];
  if (TMUX_NAMES[key] !== undefined) return [TMUX_NAMES[key]];
  const arrows = [...key];
  return arrows.length > 1 && arrows.every((one) => "↑↓←→".includes(one))
    ? arrows.map((one) => TMUX_NAMES[one]!)
    : null;
}
