import { MOST_ALLOWED } from "../../../server/pods/create_request.ts";
import { type At, defineScreen, type Ui } from "../core/screen.ts";
import { type Member, membersResource, MOST_SHOWN, type Person } from "../data/members.ts";
import { discordRolesResource } from "../data/settings.ts";
import { wrap } from "../text/cells.ts";
import { type Line, line, span } from "../text/line.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { pickerScreen } from "../widgets/picker.ts";
import { drawReading } from "../widgets/reading.ts";
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

export interface FindParams {
  /** Who is on the list already, as far as it is known now. */
  listed(ui: Ui): ReadonlySet<string>;
  /** Adds people; gives those that are on the list from now on and that `listed` does not tell of. */
  add(ui: Ui, people: readonly Person[]): Promise<readonly string[]>;
  /** Asks for ids: the way that is left when Discord cannot be asked. */
  paste(ui: Ui): void;
}

interface Role {
  readonly id: string;
  readonly name: string;
}

interface State {
  readonly table: TableState;
  /** Null for everybody. */
  readonly role: Role | null;
  readonly added: readonly string[];
}

type FindAt = At<FindParams, State>;

const NONE: readonly Member[] = [];

const specOf = (isListed: (id: string) => boolean): TableSpec<Member> => ({
  columns: [
    {
      id: "listed",
      title: "",
      width: 6,
      priority: 0,
      cell: ({ id }) => isListed(id) ? span("listed", "good") : "",
    },
    { id: "name", title: "NAME", width: 12, grow: 2, most: 40, priority: 0, cell: ({ name }) => name },
    { id: "username", title: "USERNAME", width: 12, grow: 1, most: 32, priority: 1, cell: ({ username }) => username },
    { id: "id", title: "DISCORD ID", width: 20, priority: 2, cell: ({ id }) => id },
  ],
  keyOf: ({ id }) => id,
  textOf: ({ name }) => name,
});

const readingOf = (at: FindAt) => at.read(membersResource(at.filter.trim(), at.state.role?.id ?? null, MOST_SHOWN));
const isListed = (at: FindAt) => {
  const listed = at.params.listed(at);
  return (id: string) => listed.has(id) || at.state.added.includes(id);
};
/** What is typed is searched by the server, by the start of the names. */
const rowsOf = (at: FindAt) => arrange(specOf(isListed(at)), at.state.table, readingOf(at).value?.members ?? NONE, "");
const selected = (at: FindAt) => selectedRow(specOf(isListed(at)), at.state.table, rowsOf(at));

/** Finding members by the start of a name and by role, and adding them to a list. It stays open for the next one. */
export const findScreen = defineScreen<FindParams, State>({
  id: "find-members",
  title: () => "Add people",
  about:
    "Members of the Discord server: / finds those whose name begins with a text, r those of a role. Adding a role copies " +
    "the people who have it now; who gets it later is not added.",
  init: () => ({ table: NEW_TABLE, role: null, added: [] }),
  hasFilter: true,
  actions: [
    {
      keys: ["enter"],
      label: "add",
      about: "add the selected member; enter again adds the next one that is selected",
      when: (at) => {
        const one = selected(at);
        return one !== undefined && !isListed(at)(one.id);
      },
      run: (at) => add(at, [selected(at)!]),
    },
    {
      keys: ["r"],
      word: "role",
      label: "role",
      about: "show only members with a role",
      run: (at) => chooseRole(at),
    },
    {
      keys: ["A"],
      word: "add-role",
      label: "add all of the role",
      about: "add everybody who has the role now; asks first",
      when: (at) => at.state.role !== null,
      run: (at) => addRole(at, at.state.role!),
    },
    {
      keys: ["i"],
      word: "paste",
      label: "paste ids",
      about: "add people by their Discord ids, several at once",
      run: (at) => at.params.paste(at),
    },
    ...tableActions<FindParams, State, Member>({
      spec: (at) => specOf(isListed(at)),
      rows: rowsOf,
      table: (state) => state.table,
      keep: (state, table) => ({ ...state, table }),
      height: (at) => at.height - headLines(at).length,
    }),
  ],
  view: (at) => {
    const reading = readingOf(at);
    const head = headLines(at);
    const height = at.height - head.length;
    return [
      ...head,
      ...drawReading(reading, at.width, height, (_, height): Line[] => {
        const rows = rowsOf(at);
        return rows.length === 0
          ? [emptyLine("Nobody is found.")]
          : drawTable(specOf(isListed(at)), at.state.table, rows, at.width, height);
      }),
    ];
  },
});

/** The role, how many there are, and the way that is left when Discord cannot be asked. */
function headLines(at: FindAt): Line[] {
  const { value, problem } = readingOf(at);
  const role = at.state.role === null ? "everybody" : `role ${at.state.role.name}`;
  if (value === undefined) {
    return problem === null ? [line(` ${role}`)] : [line(span(" Ids can still be pasted: press i.", "warn"))];
  }
  const shown = value.members.length;
  const count = shown < value.total
    ? `the first ${shown} of ${value.total}; / finds by the start of a name`
    : `${value.total} found`;
  return wrap(`${role}: ${count}`, at.width - 2).map((text) => line(` ${text}`));
}

async function add(at: FindAt, people: readonly Person[]): Promise<void> {
  const added = await at.params.add(at, people);
  at.set((state) => ({ ...state, added: [...new Set([...state.added, ...added])] }));
}

function chooseRole(at: FindAt): void {
  at.open(pickerScreen, {
    title: "Role",
    rows: (ui) => {
      const { value, problem } = ui.read(discordRolesResource);
      if (value === undefined) return problem === null ? null : [];
      return [{ key: "", text: "everybody" }, ...value.map(({ id, name }) => ({ key: id, text: name, note: id }))];
    },
    note: (ui) => ui.read(discordRolesResource).problem?.sentence ?? null,
    onPick: (id, ui) => {
      const role = ui.read(discordRolesResource).value?.find((one) => one.id === id) ?? null;
      at.set((state) => ({ ...state, table: NEW_TABLE, role }));
    },
  });
}

function addRole(at: FindAt, role: Role): void {
  const all = membersResource("", role.id, MOST_ALLOWED);
  at.open(confirmScreen, {
    title: `Add all of ${role.name}`,
    lines: (ui) => {
      const { value, problem } = ui.read(all);
      const count = value === undefined
        ? problem?.sentence ?? "Looking who has it …"
        : value.total > value.members.length
        ? `${value.total} people have it, and a list takes ${MOST_ALLOWED}: the first ${value.members.length} by name are added.`
        : `${value.total} ${value.total === 1 ? "person has" : "people have"} it now.`;
      return [count, "The people are added, not the role: who gets it later is not, and who loses it stays."];
    },
    yes: "add them",
    onYes: async (ui) => {
      const found = await ui.call(`Look who has ${role.name}`, all.load);
      if (found === null) return;
      const listed = isListed(at);
      const missing = found.members.filter(({ id }) => !listed(id));
      if (missing.length === 0) return ui.say("All of them are listed already", "warn");
      await add(at, missing);
    },
  });
}
