/** A list as the body of a screen: rows with a filter, a selection and an order, the keys for them, and how it is drawn. */
import type { Action, At } from "../core/screen.ts";
import type { Line } from "../text/line.ts";
import {
  arrange,
  countText,
  drawTable,
  emptyLine,
  NEW_TABLE,
  selectedRow,
  type TableSpec,
  type TableState,
} from "./table.ts";
import { tableActions } from "./table_actions.ts";

/** What a screen with a list remembers; `NEW_LIST` to begin with. */
export interface ListState {
  readonly table: TableState;
}

export const NEW_LIST: ListState = { table: NEW_TABLE };

/** What makes a list. */
export interface ListSource<P, S, R> {
  spec(at: At<P, S>): TableSpec<R>;
  /** All rows, before the filter. The same rows must be the same array: what was arranged is kept by it. */
  all(at: At<P, S>): readonly R[];
  /** Rows of the window that it has, with its headings; the whole body when left out. */
  height?(at: At<P, S>, list: List<P, S, R>): number;
}

export interface List<P, S, R> {
  all(at: At<P, S>): readonly R[];
  /** The rows that fit the filter, in order. */
  rows(at: At<P, S>): readonly R[];
  selected(at: At<P, S>): R | undefined;
  /** How many rows, as `12` or `3 of 12`. */
  count(at: At<P, S>): string;
  /** Rows of the window that it has. */
  height(at: At<P, S>): number;
  /** The keys that move the selection and change the order. */
  readonly actions: readonly Action<P, S>[];
  /** The list in the room it has, or `empty` in its place; a screen with less room says how much. */
  draw(at: At<P, S>, empty: string, room?: { readonly width?: number; readonly height?: number }): Line[];
}

export function listOf<P, S extends ListState, R>(source: ListSource<P, S, R>): List<P, S, R> {
  const list: List<P, S, R> = {
    all: (at) => source.all(at),
    rows: (at) => arrange(source.spec(at), at.state.table, source.all(at), at.filter),
    selected: (at) => selectedRow(source.spec(at), at.state.table, list.rows(at)),
    count: (at) => countText(list.rows(at).length, source.all(at).length),
    height: (at) => source.height?.(at, list) ?? at.height,
    actions: tableActions<P, S, R>({
      spec: (at) => source.spec(at),
      rows: (at) => list.rows(at),
      table: (state) => state.table,
      keep: (state, table) => ({ ...state, table }),
      height: (at) => list.height(at),
    }),
    draw: (at, empty, { width = at.width, height = list.height(at) } = {}) => {
      const rows = list.rows(at);
      return rows.length === 0 ? [emptyLine(empty)] : drawTable(source.spec(at), at.state.table, rows, width, height);
    },
  };
  return list;
}

/** The height of a list that has at most the upper half of the window; below it stands what is selected. */
export function upperHalf<P, S, R>(at: At<P, S>, list: List<P, S, R>): number {
  return Math.max(3, Math.min(list.rows(at).length + 1, Math.floor(at.height / 2)));
}
