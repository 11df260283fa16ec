/** Lines that are longer than the window: the keys that scroll them, and the part in sight. */
import type { Action, At } from "../core/screen.ts";
import type { Line } from "../text/line.ts";

/** What a screen that scrolls remembers. */
export interface ScrollState {
  /** The first line in sight. */
  readonly from: number;
}

/** What is scrolled: all lines, and the rows of the window for them (the whole body when left out). */
export interface Scrolled<P, S> {
  lines(at: At<P, S>): readonly Line[];
  height?(at: At<P, S>): number;
}

/** The key that scrolls `place`. */
export function scrollAction<P, S extends ScrollState>(place: Scrolled<P, S>): Action<P, S> {
  return {
    keys: ["down", "up", "j", "k", "pagedown", "pageup", " ", "home", "end", "g", "G"],
    shown: "↑↓",
    label: "scroll",
    about: "scroll; PgUp and PgDn by a page, g and G to the ends",
    when: (at) => lastFrom(place, at) > 0,
    run: (at, key) => {
      const height = place.height?.(at) ?? at.height;
      const last = lastFrom(place, at);
      at.set((state) => ({ ...state, from: scrolled(Math.min(state.from, last), key, height, last) }));
    },
  };
}

/** The lines in sight. */
export function inSight<P, S extends ScrollState>(place: Scrolled<P, S>, at: At<P, S>): Line[] {
  const from = Math.min(at.state.from, lastFrom(place, at));
  return place.lines(at).slice(from, from + (place.height?.(at) ?? at.height));
}

function lastFrom<P, S>(place: Scrolled<P, S>, at: At<P, S>): number {
  return Math.max(0, place.lines(at).length - (place.height?.(at) ?? at.height));
}

/** The first row shown after a scroll key; `last` is the highest there is. */
export function scrolled(from: number, key: string, height: number, last: number): number {
  const page = Math.max(1, height - 1);
  const moved = key === "down" || key === "j"
    ? from + 1
    : key === "up" || key === "k"
    ? from - 1
    : key === "pagedown" || key === " "
    ? from + page
    : key === "pageup"
    ? from - page
    : key === "home" || key === "g"
    ? 0
    : last;
  return Math.max(0, Math.min(last, moved));
}
