import type { Action, At } from "../core/screen.ts";
import { selectedIndex } from "./table.ts";
import { tableActions, type TablePlace } from "./table_actions.ts";

/** Where a screen has a table whose rows come page by page. */
export interface PagedPlace<P, S, R> extends TablePlace<P, S, R> {
  /** A further page can be asked for now. */
  hasMore(at: At<P, S>): boolean;
  /** What the screen remembers once one page more is asked for. */
  more(state: S): S;
}

/** The keys of a table whose older rows are loaded when one comes to its end, or asks for them. */
export function pagedActions<P, S, R>(place: PagedPlace<P, S, R>): Action<P, S>[] {
  const move = (action: Action<P, S>): Action<P, S> => ({
    ...action,
    run: (at, key) => {
      const rows = place.rows(at);
      const hasMore = place.hasMore(at);
      action.run(at, key);
      at.set((state) => {
        const isAtEnd = selectedIndex(place.spec(at), place.table(state), rows) === rows.length - 1;
        return isAtEnd && hasMore ? place.more(state) : state;
      });
    },
  });
  return [
    ...tableActions(place).map((action) => action.keys?.includes("down") ? move(action) : action),
    {
      keys: ["m"],
      word: "older",
      label: "older",
      about: "load older ones; moving to the end does the same",
      when: (at) => place.hasMore(at),
      run: (at) => at.set(place.more),
    },
  ];
}
