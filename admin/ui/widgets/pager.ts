import { defineScreen } from "../core/screen.ts";
import type { Line } from "../text/line.ts";

export interface PagerParams {
  readonly title: string;
  /** The text in lines for a width; called for every frame. */
  lines(width: number): readonly Line[];
}

const lastFrom = (at: { params: PagerParams; width: number; height: number }) =>
  Math.max(0, at.params.lines(at.width).length - at.height);

/** A long text to read: help, details of an event, a file that is only looked at. */
export const pagerScreen = defineScreen<PagerParams, { from: number }>({
  id: "pager",
  title: (at) => at.params.title,
  init: () => ({ from: 0 }),
  actions: [
    {
      keys: ["down", "up", "j", "k", "pagedown", "pageup", " ", "home", "end", "g", "G"],
      shown: "↑↓",
      label: "scroll",
      about: "scroll; PgUp and PgDn by a page, g and G to the ends",
      when: (at) => lastFrom(at) > 0,
      run: (at, key) => at.set({ from: scrolled(Math.min(at.state.from, lastFrom(at)), key, at.height, lastFrom(at)) }),
    },
  ],
  view: (at) => {
    const from = Math.min(at.state.from, lastFrom(at));
    return at.params.lines(at.width).slice(from, from + at.height);
  },
});

/** The first row shown after a scroll key. */
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
