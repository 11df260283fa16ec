import assert from "node:assert/strict";
import { lineWidth, textOf } from "../../admin/ui/text/line.ts";
import {
  arrange,
  type Column,
  columnWidths,
  drawTable,
  moved,
  NEW_TABLE,
  selectedIndex,
  selectedRow,
  sortedNext,
  type TableSpec,
} from "../../admin/ui/widgets/table.ts";

interface Row {
  readonly id: string;
  readonly name: string;
  readonly size: number | null;
}

let cells = 0;
const column = (
  id: "name" | "size",
  width: number,
  priority: number,
  more: Partial<Column<Row>> = {},
): Column<Row> => ({
  id,
  title: id.toUpperCase(),
  width,
  priority,
  cell: (row) => {
    cells++;
    return String(row[id] ?? "");
  },
  sortBy: (row) => row[id],
  ...more,
});
const SPEC: TableSpec<Row> = {
  columns: [column("name", 10, 0, { grow: 1 }), column("size", 8, 1, { align: "right" })],
  keyOf: (row) => row.id,
  textOf: (row) => row.name,
};
const rowsOf = (count: number): Row[] =>
  Array.from({ length: count }, (_, at) => ({ id: `r${at}`, name: `pod-${at}`, size: (at * 7919) % count }));

Deno.test("drawTable draws only the rows in sight of 10,000", () => {
  const rows = rowsOf(10_000);
  cells = 0;
  const lines = drawTable(SPEC, { ...NEW_TABLE, selected: "r5000", index: 5000 }, rows, 80, 20);
  assert.equal(lines.length, 20);
  assert.equal(cells, 19 * 2);
  assert.match(lines.map(textOf).join("\n"), /> pod-5000/);
});

Deno.test("arrange sorts and filters once until the rows or the order change", () => {
  const rows = rowsOf(10_000);
  const state = { ...NEW_TABLE, sort: { column: "size", isDescending: true } };
  const first = arrange(SPEC, state, rows, "pod-9");
  assert.equal(arrange(SPEC, state, rows, "pod-9"), first);
  assert.notEqual(arrange(SPEC, state, rows, "pod-8"), first);
  assert(first[0]!.size! > first.at(-1)!.size!);
});

Deno.test("arrange sorts numbers in names by their value, and rows without a value last in either direction", () => {
  const rows = [
    { id: "a", name: "pod-10", size: null },
    { id: "b", name: "pod-9", size: 1 },
    { id: "c", name: "Pod-1", size: 2 },
  ];
  const by = (column: string, isDescending: boolean) =>
    arrange(SPEC, { ...NEW_TABLE, sort: { column, isDescending } }, rows, "").map(({ id }) => id).join("");
  assert.equal(by("name", false), "cba");
  assert.equal(by("size", false), "bca");
  assert.equal(by("size", true), "cba");
});

Deno.test("the selection survives a refresh, and the row that took its place follows a row that is gone", () => {
  const rows = rowsOf(10);
  const state = moved(SPEC, moved(SPEC, NEW_TABLE, rows, "down", 5), rows, "down", 5);
  assert.equal(selectedRow(SPEC, state, rows)?.id, "r2");
  const later = [{ id: "new", name: "new", size: 0 }, ...rows];
  assert.equal(selectedRow(SPEC, state, later)?.id, "r2");
  assert.equal(selectedRow(SPEC, state, rows.filter(({ id }) => id !== "r2"))?.id, "r3");
  assert.equal(selectedIndex(SPEC, state, []), -1);
});

Deno.test("moved stays within the rows, pages by the window, and keeps the selection in sight", () => {
  const rows = rowsOf(100);
  let state = NEW_TABLE;
  for (const key of ["pagedown", "pagedown", "j", "k", "end", "down", "pageup", "home", "up"]) {
    state = moved(SPEC, state, rows, key, 11);
    const text = drawTable(SPEC, state, rows, 40, 11).map(textOf).join("\n");
    assert.match(text, new RegExp(`> ${selectedRow(SPEC, state, rows)!.name} `), key);
  }
  assert.equal(state.index, 0);
});

Deno.test("columns give way by their priority until the rest fits, and no line is wider than the window", () => {
  const columns = [
    column("name", 12, 0, { grow: 1 }),
    ...[1, 2, 3, 4].map((priority) => column("size", 10, priority, { id: `size${priority}` })),
  ];
  const spec = { ...SPEC, columns };
  assert.deepEqual(columnWidths(columns, 40).map(({ column }) => column.priority), [0, 1, 2]);
  assert.deepEqual(columnWidths(columns, 26).map(({ column }) => column.priority), [0, 1]);
  for (let width = 14; width <= 120; width++) {
    for (const one of drawTable(spec, NEW_TABLE, rowsOf(5), width, 6)) assert(lineWidth(one) <= width, `${width}`);
  }
});

Deno.test("sortedNext goes through the columns that can be sorted by, and back to the order in which rows came", () => {
  let state = sortedNext(SPEC, NEW_TABLE, false);
  assert.deepEqual(state.sort, { column: "name", isDescending: false });
  state = sortedNext(SPEC, state, true);
  assert.deepEqual(state.sort, { column: "name", isDescending: true });
  state = sortedNext(SPEC, sortedNext(SPEC, state, false), false);
  assert.equal(state.sort, null);
});

Deno.test("a step over the edge turns the list by a third of the window, and a page turns it by no more than the page", () => {
  const rows = rowsOf(100);
  const height = 31;
  let table = NEW_TABLE;
  const froms = new Set<number>();
  for (let step = 0; step < 60; step++) {
    table = moved(SPEC, table, rows, "down", height);
    froms.add(table.from);
    assert(table.index >= table.from && table.index < table.from + height - 1);
  }
  assert.deepEqual([...froms], [0, 10, 20, 30, 40]);
  for (let step = 0; step < 60; step++) table = moved(SPEC, table, rows, "up", height);
  assert.deepEqual([table.index, table.from], [0, 0]);
  assert.equal(moved(SPEC, table, rows, "end", height).from, 70);
});
