/** A table of any length: only the rows in sight are drawn. All of it is pure; `table_actions.ts` has its keys. */
import { clean, cut, widthOf } from "../text/cells.ts";
import { fit, type Line, line, reversed, type Span, span } from "../text/line.ts";
import { scrolled } from "./scroll.ts";

export interface Column<R> {
  readonly id: string;
  readonly title: string;
  /** Columns of the terminal it must have. */
  readonly width: number;
  /** What it takes of the room that is left: shares; 0 (or left out) for a column that does not grow. */
  readonly grow?: number;
  /** The widest it grows to. */
  readonly most?: number;
  /** Columns with the highest numbers give way first in a narrow window; 0 always stays. */
  readonly priority: number;
  readonly align?: "right";
  cell(row: R): Span | string;
  /** What it is sorted by; a column without it is not sorted by. Null and "" come last either way. */
  sortBy?(row: R): string | number | null;
}

export interface TableSpec<R> {
  readonly columns: readonly Column<R>[];
  keyOf(row: R): string;
  /** What the filter looks through. */
  textOf(row: R): string;
  /** A row that is drawn like a remark. */
  isDim?(row: R): boolean;
}

/** What a table remembers; `NEW_TABLE` to begin with. */
export interface TableState {
  readonly selected: string | null;
  /** Where the selected row was, for when it is gone. */
  readonly index: number;
  /** The first row in sight. */
  readonly from: number;
  readonly sort: { readonly column: string; readonly isDescending: boolean } | null;
}

export const NEW_TABLE: TableState = { selected: null, index: 0, from: 0, sort: null };

/** Rows that were arranged once, until the rows, the filter or the order change: a list of 10,000 is sorted once. */
const arranged = new WeakMap<readonly unknown[], { readonly by: string; readonly rows: readonly unknown[] }>();

/** The rows that fit the filter, in order. Without an order they stay as they came. */
export function arrange<R>(spec: TableSpec<R>, state: TableState, rows: readonly R[], filter: string): readonly R[] {
  const column = spec.columns.find(({ id }) => id === state.sort?.column);
  const by = `${state.sort?.isDescending ? "-" : "+"}${column?.id ?? ""} ${filter}`;
  const kept = arranged.get(rows);
  if (kept?.by === by) return kept.rows as readonly R[];
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const found = words.length === 0 ? rows : rows.filter((row) => {
    const text = spec.textOf(row).toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const result = column?.sortBy === undefined ? found : sorted(found, column.sortBy, state.sort!.isDescending);
  arranged.set(rows, { by, rows: result });
  return result;
}

function sorted<R>(rows: readonly R[], by: (row: R) => string | number | null, isDescending: boolean): R[] {
  const keyed = rows.map((row) => ({ row, key: by(row) }));
  const isNothing = (key: string | number | null) => key === null || key === "";
  keyed.sort(({ key: a }, { key: b }) => {
    if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b));
    const order = typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
    return isDescending ? -order : order;
  });
  return keyed.map(({ row }) => row);
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** The place of the selected row among arranged rows; where it is gone, the row that took its place. -1 without rows. */
export function selectedIndex<R>(spec: TableSpec<R>, state: TableState, rows: readonly R[]): number {
  if (rows.length === 0) return -1;
  const guess = rows[state.index];
  if (guess !== undefined && spec.keyOf(guess) === state.selected) return state.index;
  const found = state.selected === null ? -1 : rows.findIndex((row) => spec.keyOf(row) === state.selected);
  return found >= 0 ? found : Math.min(state.index, rows.length - 1);
}

export function selectedRow<R>(spec: TableSpec<R>, state: TableState, rows: readonly R[]): R | undefined {
  return rows[selectedIndex(spec, state, rows)];
}

/** The table after a key that moves the selection (`up`, `j`, `pagedown`, `G` …); `height` includes the headings. */
export function moved<R>(
  spec: TableSpec<R>,
  state: TableState,
  rows: readonly R[],
  key: string,
  height: number,
): TableState {
  const index = selectedIndex(spec, state, rows);
  if (index < 0) return state;
  const next = scrolled(index, key, Math.max(1, height - 1), rows.length - 1);
  return selectAt(spec, state, rows, next, height);
}

/** The table with the row at a place selected and in sight. */
export function selectAt<R>(
  spec: TableSpec<R>,
  state: TableState,
  rows: readonly R[],
  index: number,
  height: number,
): TableState {
  const row = rows[index];
  if (row === undefined) return state;
  return { ...state, selected: spec.keyOf(row), index, from: turnedTo(state.from, index, rows.length, height - 1) };
}

/**
 * The first row in sight once a row is selected. One step over the edge turns the list by a third of the window, so that
 * most steps change two rows and not all of them, which is felt over a slow line.
 */
function turnedTo(from: number, index: number, count: number, height: number): number {
  const room = Math.max(1, height);
  const third = Math.floor(room / 3);
  const turned = index === from + room ? from + third : index === from - 1 ? from - third : from;
  return firstInSight(turned, index, count, height);
}

function firstInSight(from: number, index: number, count: number, height: number): number {
  const room = Math.max(1, height);
  const near = index < from ? index : index >= from + room ? index - room + 1 : from;
  return Math.max(0, Math.min(near, count - room));
}

/** Sorts by the next column (or, with `isBack`, in the other direction); after the last one, as the rows came. */
export function sortedNext<R>(spec: TableSpec<R>, state: TableState, isReversed: boolean): TableState {
  const columns = spec.columns.filter(({ sortBy }) => sortBy !== undefined).map(({ id }) => id);
  const at = columns.indexOf(state.sort?.column ?? "");
  if (isReversed && state.sort !== null) {
    return { ...state, sort: { ...state.sort, isDescending: !state.sort.isDescending } };
  }
  const column = columns[at + 1];
  return { ...state, sort: column === undefined ? null : { column, isDescending: false } };
}

const MARK = 2;
const GAP = 2;

/** Columns and their widths in a window: those that matter least are left out, the rest of the room is shared. */
export function columnWidths<R>(columns: readonly Column<R>[], width: number): { column: Column<R>; width: number }[] {
  let kept = [...columns];
  const least = () => MARK + kept.reduce((sum, one) => sum + one.width, 0) + GAP * (kept.length - 1);
  while (kept.length > 1 && least() > width) {
    const worst = Math.max(...kept.map(({ priority }) => priority));
    if (worst === 0) break;
    const drop = kept.findLastIndex(({ priority }) => priority === worst);
    kept = kept.toSpliced(drop, 1);
  }
  const widths = kept.map((column) => ({ column, width: column.width }));
  for (let left = width - least(); left > 0;) {
    const growing = widths.filter(({ column, width }) => (column.grow ?? 0) > 0 && width < (column.most ?? Infinity));
    const shares = growing.reduce((sum, { column }) => sum + column.grow!, 0);
    if (shares === 0) break;
    const before = left;
    for (const one of growing) {
      const more = Math.min(Math.max(1, Math.floor(before * one.column.grow! / shares)), left);
      const given = Math.min(more, (one.column.most ?? Infinity) - one.width);
      one.width += given;
      left -= given;
    }
  }
  return widths;
}

/** The table in `height` rows, headings included; `rows` are arranged. The selected row has a `>` and is reversed. */
export function drawTable<R>(
  spec: TableSpec<R>,
  state: TableState,
  rows: readonly R[],
  width: number,
  height: number,
): Line[] {
  const layout = columnWidths(spec.columns, width);
  const room = Math.max(1, height - 1);
  const index = selectedIndex(spec, state, rows);
  const from = firstInSight(state.from, Math.max(0, index), rows.length, room);
  const headings = layout.map(({ column, width }) => {
    const isSorted = state.sort?.column === column.id;
    const mark = isSorted ? state.sort!.isDescending ? "v" : "^" : "";
    return cellOf(span(`${mark}${column.title}`, "dim"), width, column.align);
  });
  const lines: Line[] = [rowLine("  ", headings)];
  for (const [offset, row] of rows.slice(from, from + room).entries()) {
    const isSelected = from + offset === index;
    const cells = layout.map(({ column, width }) => {
      const cell = column.cell(row);
      const shown = typeof cell === "string" ? { text: cell } : cell;
      return cellOf(
        spec.isDim?.(row) && shown.tone === undefined ? { ...shown, tone: "dim" } : shown,
        width,
        column.align,
      );
    });
    const drawn = rowLine(isSelected ? "> " : "  ", cells);
    lines.push(isSelected ? fit(reversed(drawn), width) : drawn);
  }
  return lines.slice(0, Math.max(1, height));
}

function rowLine(mark: string, cells: readonly Span[]): Line {
  return [span(mark), ...cells.flatMap((cell, at) => at === 0 ? [cell] : [span(" ".repeat(GAP)), cell])];
}

function cellOf(cell: Span, width: number, align: "right" | undefined): Span {
  const text = cut(clean(cell.text), width);
  const fill = " ".repeat(width - widthOf(text));
  return { ...cell, text: align === "right" ? fill + text : text + fill };
}

/** `3 of 12` for a title: how many rows the filter leaves. */
export function countText(shown: number, all: number): string {
  return shown === all ? `${all}` : `${shown} of ${all}`;
}

/** One line in the place of rows. */
export function emptyLine(text: string): Line {
  return line(span(`  ${text}`, "dim"));
}
