import { type At, defineScreen } from "../core/screen.ts";
import { settingsResource } from "../data/settings.ts";
import { wrap } from "../text/cells.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { listOf, type ListState, NEW_LIST } from "../widgets/list.ts";
import { problemLines } from "../widgets/reading.ts";
import type { TableSpec } from "../widgets/table.ts";
import { isComputeOff, type Setting, settingRows } from "./settings_rows.ts";

type SettingsAt = At<null, ListState>;

const SPEC: TableSpec<Setting> = {
  columns: [
    { id: "title", title: "SETTING", width: 14, priority: 0, cell: (one) => one.title },
    { id: "value", title: "NOW", width: 16, grow: 1, priority: 0, cell: (one) => one.value },
  ],
  keyOf: (one) => one.id,
  textOf: (one) => `${one.title} ${typeof one.value === "string" ? one.value : one.value.text}`,
};

const list = listOf<null, ListState, Setting>({
  spec: () => SPEC,
  all: settingRows,
  // The same for each setting, whatever its explanation takes, so that the list does not jump.
  height: (at) => Math.max(3, at.height - (at.height < 12 ? 3 : 4)),
});
/** What the selected one does, in as many lines as a small window can spare. */
const aboutLines = (at: SettingsAt): Line[] => {
  const one = list.selected(at);
  if (one === undefined) return [];
  const most = at.height < 12 ? 2 : 3;
  return wrap(`enter: ${one.verb}. ${one.about}`, at.width - 2).slice(0, most).map((text) =>
    line(span(` ${text}`, "dim"))
  );
};

/** What is set for the org, and the ways to its tokens, roles and webhooks. */
export const settingsScreen = defineScreen<null, ListState>({
  id: "settings",
  command: { word: "settings", about: "image, budget, limits, RunPod key, roles, tokens, webhooks", open: () => null },
  title: () => "Settings",
  about: "What is set for the organization. Enter changes the selected one; what it does stands below the list.",
  init: () => NEW_LIST,
  hasFilter: true,
  actions: [
    {
      keys: ["enter"],
      label: "change",
      about: "change the selected setting, or open it",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => list.selected(at)?.change(at),
    },
    ...list.actions,
    {
      keys: ["t"],
      label: "test",
      about: "test the RunPod key: ask RunPod with it",
      when: (at) => list.selected(at)?.test !== undefined,
      run: (at) => list.selected(at)?.test?.(at),
    },
    {
      keys: ["d", "D"],
      label: "remove",
      about: "remove the RunPod key or the default image; asks first",
      when: (at) => list.selected(at)?.remove !== undefined,
      run: (at) => list.selected(at)?.remove?.(at),
    },
  ],
  view: (at) => {
    const { value, problem } = at.read(settingsResource);
    if (problem !== null && list.all(at).length === 0) return problemLines(problem, at.width);
    const empty = value === undefined ? "Loading …" : "No setting is like that.";
    const said = problem === null || isComputeOff(at) ? [] : problemLines(problem, at.width).slice(0, 3);
    return [...said, ...list.draw(at, empty, { height: list.height(at) - said.length }), BLANK, ...aboutLines(at)];
  },
});
