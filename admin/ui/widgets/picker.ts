import { type At, defineScreen, type Ui } from "../core/screen.ts";
import { clean, cut, widthOf } from "../text/cells.ts";
import { type Edit, editKey, editOf, editSpans, editText, insert } from "../text/edit.ts";
import { type Line, span } from "../text/line.ts";
import {
  arrange,
  columnWidths,
  drawTable,
  emptyLine,
  moved,
  NEW_TABLE,
  selectAt,
  selectedRow,
  type TableSpec,
  type TableState,
} from "./table.ts";

export interface PickRow {
  readonly key: string;
  readonly text: string;
  readonly note?: string;
}

/** A list to choose one from, with a search that begins as one types. */
export interface PickerParams {
  readonly title: string;
  /** Asked for every frame, so that it can read from the server (`ui.read`); null while it is not known yet. */
  rows(ui: Ui, search: string): readonly PickRow[] | null;
  /** A line above the list: why it is incomplete, or what to type. */
  note?(ui: Ui): string | null;
  /** The list has closed when this is called. */
  onPick(key: string, ui: Ui): unknown;
  /** Says that what is typed is taken as it is when nothing in the list is it, such as a Discord id. */
  readonly takesText?: (text: string) => boolean;
}

interface State {
  readonly search: Edit;
  readonly table: TableState;
}

const SPEC: TableSpec<PickRow> = {
  columns: [
    { id: "text", title: "", width: 12, grow: 3, priority: 0, cell: (row) => row.text },
    { id: "note", title: "", width: 10, grow: 2, priority: 1, cell: (row) => span(row.note ?? "", "dim") },
  ],
  keyOf: (row) => row.key,
  textOf: (row) => `${row.text} ${row.note ?? ""} ${row.key}`,
};

const rowsOf = (at: At<PickerParams, State>): readonly PickRow[] => {
  const search = editText(at.state.search);
  const all = at.params.rows(at, search) ?? [];
  const found = arrange(SPEC, at.state.table, all, search);
  const typed = search.trim();
  const isOwn = typed !== "" && at.params.takesText?.(typed) === true && !found.some(({ key }) => key === typed);
  return isOwn ? [...found, { key: typed, text: typed, note: "as typed" }] : found;
};

const searched = (at: At<PickerParams, State>, change: (search: Edit) => Edit) =>
  at.set((state) => ({ search: change(state.search), table: NEW_TABLE }));

/** The marked row in full below the list where its column cuts it: two long names may differ only at their ends. */
function wholeText({ state, width, height }: At<PickerParams, State>, rows: readonly PickRow[]): Line[] {
  const row = selectedRow(SPEC, state.table, rows);
  const text = clean(row?.text ?? "");
  if (height < 6 || widthOf(text) <= columnWidths(SPEC.columns, width)[0]!.width) return [];
  return [[span(cut(`marked: ${text}`, width), "dim")]];
}

/** Choosing from a list: letters search, enter takes the marked one. */
export const pickerScreen = defineScreen<PickerParams, State>({
  id: "picker",
  isDialog: true,
  title: (at) => at.params.title,
  init: () => ({ search: editOf(""), table: NEW_TABLE }),
  typing: (at) => (text) => searched(at, (search) => insert(search, text)),
  actions: [
    {
      keys: ["enter"],
      label: "choose",
      when: (at) => rowsOf(at).length > 0,
      run: (at) => {
        const row = selectedRow(SPEC, at.state.table, rowsOf(at));
        if (row === undefined) return;
        at.close();
        return at.params.onPick(row.key, at);
      },
    },
    {
      keys: ["down", "up", "pagedown", "pageup"],
      shown: "↑↓",
      label: "move",
      when: (at) => rowsOf(at).length > 1,
      run: (at, key) => {
        const rows = rowsOf(at);
        at.set((state) => ({ ...state, table: moved(SPEC, state.table, rows, key, at.height - 2) }));
      },
    },
    {
      keys: ["home", "end"],
      label: "first or last",
      when: (at) => rowsOf(at).length > 1,
      run: (at, key) => {
        const rows = rowsOf(at);
        const to = key === "home" ? 0 : rows.length - 1;
        at.set((state) => ({ ...state, table: selectAt(SPEC, state.table, rows, to, at.height - 2) }));
      },
    },
    {
      keys: ["backspace", "left", "right", "delete", "ctrl-a", "ctrl-e", "ctrl-u", "ctrl-k", "ctrl-w"],
      label: "erase",
      isMinor: true,
      about: "change the search",
      when: (at) => at.state.search.letters.length > 0,
      run: (at, key) => searched(at, (search) => editKey(search, key) ?? search),
    },
  ],
  view: (at) => {
    const { params, state, width, height } = at;
    const note = params.note?.(at) ?? null;
    const head: Line[] = [[span("Search: ", "dim"), ...editSpans(state.search, Math.max(4, width - 10))]];
    if (note !== null) head.push([span(note, "warn")]);
    const rows = rowsOf(at);
    if (rows.length === 0) {
      const isKnown = params.rows(at, editText(state.search)) !== null;
      return [...head, emptyLine(isKnown ? "Nothing fits." : "Loading …")];
    }
    const whole = wholeText(at, rows);
    const room = Math.min(height - head.length - whole.length, rows.length + 1);
    // The headings are empty: the rows begin right below the search.
    return [...head, ...drawTable(SPEC, state.table, rows, width, room + 1).slice(1), ...whole];
  },
});
