import { type At, defineScreen } from "../core/screen.ts";
import { settingsResource } from "../data/settings.ts";
import { wrap } from "../text/cells.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { problemLines } from "../widgets/reading.ts";
import {
  arrange,
  drawTable,
  emptyLine,
  NEW_TABLE,
  selectedRow,
  type TableSpec,
  type TableState,
} from "../widgets/table.ts";
import { tableActions } from "../widgets/table_actions.ts";
import { isComputeOff, type Setting, settingRows } from "./settings_rows.ts";

interface State {
  readonly table: TableState;
}

type SettingsAt = At<null, State>;

const SPEC: TableSpec<Setting> = {
  columns: [
    { id: "title", title: "SETTING", width: 14, priority: 0, cell: (one) => one.title },
    { id: "value", title: "NOW", width: 16, grow: 1, priority: 0, cell: (one) => one.value },
  ],
  keyOf: (one) => one.id,
  textOf: (one) => `${one.title} ${typeof one.value === "string" ? one.value : one.value.text}`,
};

const rowsOf = (at: SettingsAt) => arrange(SPEC, at.state.table, settingRows(at), at.filter);
const selected = (at: SettingsAt) => selectedRow(SPEC, at.state.table, rowsOf(at));
/** What the selected one does, in as many lines as a small window can spare. */
const aboutLines = (at: SettingsAt): Line[] => {
  const one = selected(at);
  if (one === undefined) return [];
  const most = at.height < 12 ? 2 : 3;
  return wrap(`enter: ${one.verb}. ${one.about}`, at.width - 2).slice(0, most).map((text) =>
    line(span(` ${text}`, "dim"))
  );
};
/** The list has what the explanation below it leaves, the same for each setting, so that it does not jump. */
const listHeight = (at: SettingsAt) => Math.max(3, at.height - (at.height < 12 ? 3 : 4));

/** What is set for the org, and the ways to its tokens, roles and webhooks. */
export const settingsScreen = defineScreen<null, State>({
  id: "settings",
  command: { word: "settings", about: "image, budget, limits, RunPod key, roles, tokens, webhooks", open: () => null },
  title: () => "Settings",
  about: "What is set for the organization. Enter changes the selected one; what it does stands below the list.",
  init: () => ({ table: NEW_TABLE }),
  hasFilter: true,
  actions: [
    {
      keys: ["enter"],
      label: "change",
      about: "change the selected setting, or open it",
      when: (at) => selected(at) !== undefined,
      run: (at) => selected(at)?.change(at),
    },
    ...tableActions<null, State, Setting>({
      spec: () => SPEC,
      rows: rowsOf,
      table: (state) => state.table,
      keep: (state, table) => ({ ...state, table }),
      height: listHeight,
    }),
    {
      keys: ["t"],
      label: "test",
      about: "test the RunPod key: ask RunPod with it",
      when: (at) => selected(at)?.test !== undefined,
      run: (at) => selected(at)?.test?.(at),
    },
    {
      keys: ["D"],
      label: "remove",
      about: "remove the RunPod key or the default image; asks first",
      when: (at) => selected(at)?.remove !== undefined,
      run: (at) => selected(at)?.remove?.(at),
    },
  ],
  view: (at) => {
    const { value, problem } = at.read(settingsResource);
    const rows = rowsOf(at);
    if (rows.length === 0) {
      if (problem !== null) return problemLines(problem, at.width);
      return [value === undefined ? line(span("  Loading …", "dim")) : emptyLine("No setting is like that.")];
    }
    const said = problem === null || isComputeOff(at) ? [] : problemLines(problem, at.width).slice(0, 3);
    const height = listHeight(at) - said.length;
    return [...said, ...drawTable(SPEC, at.state.table, rows, at.width, height), BLANK, ...aboutLines(at)];
  },
});
