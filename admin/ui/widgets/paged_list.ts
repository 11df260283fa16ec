import type { Action, At } from "../core/screen.ts";
import type { Pages } from "../data/pages.ts";
import { type Line, line, span } from "../text/line.ts";
import { type List, listOf, type ListState, NEW_LIST } from "./list.ts";
import { drawReading } from "./reading.ts";
import { selectedIndex, type TableSpec } from "./table.ts";

/** What a screen with a list of pages remembers; `NEW_PAGED_LIST` to begin with. */
export interface PagedState extends ListState {
  /** Pages that are wanted. */
  readonly pages: number;
}

export const NEW_PAGED_LIST: PagedState = { ...NEW_LIST, pages: 1 };

/** What makes a list whose rows come page by page, newest first. */
export interface PagedSource<P, S, R> {
  spec(at: At<P, S>): TableSpec<R>;
  pages(at: At<P, S>): Pages<R>;
  /** What stands in the place of rows. */
  empty(at: At<P, S>, hasMore: boolean): string;
}

export interface PagedList<P, S, R> extends List<P, S, R> {
  view(at: At<P, S>): Line[];
}

/** A list whose older rows are loaded when one comes to its end, or asks for them. */
export function pagedListOf<P, S extends PagedState, R>(source: PagedSource<P, S, R>): PagedList<P, S, R> {
  const none: readonly R[] = [];
  const list = listOf<P, S, R>({
    spec: (at) => source.spec(at),
    all: (at) => source.pages(at).reading.value ?? none,
  });
  const more = (state: S): S => ({ ...state, pages: state.pages + 1 });
  const move = (action: Action<P, S>): Action<P, S> => ({
    ...action,
    run: (at, key) => {
      const rows = list.rows(at);
      const { hasMore } = source.pages(at);
      action.run(at, key);
      at.set((state) => {
        const isAtEnd = selectedIndex(source.spec(at), state.table, rows) === rows.length - 1;
        return isAtEnd && hasMore ? more(state) : state;
      });
    },
  });
  return {
    ...list,
    actions: [
      ...list.actions.map((action) => action.keys?.includes("down") ? move(action) : action),
      {
        keys: ["m"],
        word: "older",
        label: "older",
        about: "load older ones; moving to the end does the same",
        when: (at) => source.pages(at).hasMore,
        run: (at) => at.set(more),
      },
    ],
    view: (at) => {
      const { reading, isLoadingMore, hasMore } = source.pages(at);
      return drawReading(reading, at.width, at.height, (_, height) => {
        const foot = isLoadingMore ? [line(span("  Loading older ones …", "dim"))] : [];
        return [...list.draw(at, source.empty(at, hasMore), { height: height - foot.length }), ...foot];
      });
    },
  };
}
