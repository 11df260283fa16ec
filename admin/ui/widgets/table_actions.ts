import type { Action, At } from "../core/screen.ts";
import { moved, sortedNext, type TableSpec, type TableState } from "./table.ts";

/** Where a screen has its table. */
export interface TablePlace<P, S, R> {
  spec(at: At<P, S>): TableSpec<R>;
  /** The arranged rows. */
  rows(at: At<P, S>): readonly R[];
  table(state: S): TableState;
  keep(state: S, table: TableState): S;
  /** Rows of the window that the table has, with its headings; the whole body when left out. */
  height?(at: At<P, S>): number;
}

/** The keys that move the selection of a table, page through it and sort it. */
export function tableActions<P, S, R>(place: TablePlace<P, S, R>): Action<P, S>[] {
  const change = (at: At<P, S>, next: (table: TableState) => TableState) =>
    at.set((state) => place.keep(state, next(place.table(state))));
  const canSort = (at: At<P, S>) => place.spec(at).columns.some(({ sortBy }) => sortBy !== undefined);
  return [
    {
      keys: ["down", "up", "j", "k", "pagedown", "pageup", "home", "end", "g", "G"],
      shown: "↑↓",
      label: "move",
      about: "move; PgUp and PgDn by a page, g and G to the ends",
      when: (at) => place.rows(at).length > 1,
      run: (at, key) =>
        change(at, (table) => moved(place.spec(at), table, place.rows(at), key, place.height?.(at) ?? at.height)),
    },
    {
      keys: ["o", "O"],
      shown: "o",
      label: "order",
      about: "sort by the next column; O turns the order round",
      when: (at) => place.rows(at).length > 1 && canSort(at),
      run: (at, key) => change(at, (table) => sortedNext(place.spec(at), table, key === "O")),
    },
  ];
}
