import { defineScreen } from "../core/screen.ts";
import type { Line } from "../text/line.ts";
import { inSight, scrollAction, type Scrolled, type ScrollState } from "./scroll.ts";

export interface PagerParams {
  readonly title: string;
  /** The text in lines for a width; called for every frame. */
  lines(width: number): readonly Line[];
}

const TEXT: Scrolled<PagerParams, ScrollState> = { lines: (at) => at.params.lines(at.width) };

/** A long text to read: help, details of an event, a file that is only looked at. */
export const pagerScreen = defineScreen<PagerParams, ScrollState>({
  id: "pager",
  title: (at) => at.params.title,
  init: () => ({ from: 0 }),
  actions: [scrollAction(TEXT)],
  view: (at) => inSight(TEXT, at),
});
