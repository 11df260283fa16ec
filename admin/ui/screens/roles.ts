import { type Api, read } from "../../client/api.ts";
import { defineScreen, type Ui } from "../core/screen.ts";
import { discordRolesResource, rolesResource } from "../data/settings.ts";
import { wrap } from "../text/cells.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { listOf, type ListState, NEW_LIST } from "../widgets/list.ts";
import { pickerScreen } from "../widgets/picker.ts";
import { drawReading } from "../widgets/reading.ts";
import type { TableSpec } from "../widgets/table.ts";

type Kind = "officer" | "member";

interface RoleRow {
  readonly kind: Kind;
  readonly id: string;
  /** Null while Discord did not tell it. */
  readonly name: string | null;
}

const SPEC: TableSpec<RoleRow> = {
  columns: [
    { id: "kind", title: "MAKES", width: 8, priority: 0, cell: ({ kind }) => `${kind}s`, sortBy: ({ kind }) => kind },
    { id: "name", title: "ROLE", width: 14, grow: 1, most: 50, priority: 0, cell: nameOf, sortBy: nameOf },
    { id: "id", title: "ROLE ID", width: 20, priority: 1, cell: ({ id }) => id },
  ],
  keyOf: ({ kind, id }) => `${kind} ${id}`,
  textOf: (row) => `${row.kind} ${nameOf(row)} ${row.id}`,
};

function nameOf({ name, id }: RoleRow): string {
  return name ?? id;
}

const allOf = (ui: Ui): readonly RoleRow[] => {
  const roles = ui.read(rolesResource).value;
  if (roles === undefined) return [];
  const names = ui.read(discordRolesResource).value;
  const row = (kind: Kind) => (id: string): RoleRow => ({
    kind,
    id,
    name: names?.find((one) => one.id === id)?.name ?? null,
  });
  return [...roles.officer_role_ids.map(row("officer")), ...roles.member_role_ids.map(row("member"))];
};
const list = listOf<null, ListState, RoleRow>({
  spec: () => SPEC,
  all: allOf,
  height: (at) => at.height - noteLines(at).length,
});
const mayChange = ({ me }: Ui) => me !== undefined && (me.kind === "operator" || me.is_superadmin);

/** Which roles of the Discord server make officers and members; the operator and superadmins change them. */
export const rolesScreen = defineScreen<null, ListState>({
  id: "roles",
  command: { word: "roles", about: "which Discord roles make officers and members", open: () => null },
  title: () => "Roles",
  about:
    "Which roles of the Discord server make officers (root on every pod, money, settings) and which make members. Only " +
    "the operator on the server and superadmins change them.",
  init: () => NEW_LIST,
  hasFilter: true,
  actions: [
    ...list.actions,
    {
      keys: ["a"],
      word: "add-officer-role",
      label: "officer role",
      about: "let a role of the Discord server make officers",
      when: mayChange,
      run: (at) => pick(at, "officer"),
    },
    {
      keys: ["m"],
      word: "add-member-role",
      label: "member role",
      about: "let a role of the Discord server make members",
      when: mayChange,
      run: (at) => pick(at, "member"),
    },
    {
      keys: ["d", "D"],
      word: "remove-role",
      label: "remove",
      about: "the selected role makes no officers (or members) any more; asks first",
      when: (at) => mayChange(at) && list.selected(at) !== undefined,
      run: (at) => confirmRemove(at, list.selected(at)!),
    },
  ],
  view: (at) =>
    drawReading(at.read(rolesResource), at.width, at.height, (_, height): Line[] => {
      const notes = noteLines(at);
      const empty = at.filter === "" ? "No role is chosen." : "No role is like that.";
      return [...list.draw(at, empty, { height: Math.max(2, height - notes.length) }), ...notes];
    }),
});

/** What must be known beside the list: who is meant where nothing is chosen, and why names are missing. */
function noteLines(at: Ui & { readonly width: number }): Line[] {
  const roles = at.read(rolesResource).value;
  const { problem } = at.read(discordRolesResource);
  const notes = [
    ...(roles?.officer_role_ids.length === 0 ? ["Without an officer role only superadmins are officers."] : []),
    ...(roles?.member_role_ids.length === 0
      ? ["Without a member role everybody on the Discord server is a member."]
      : []),
    ...(problem === null ? [] : [`Names are not known: ${problem.sentence}`]),
    ...(mayChange(at) ? [] : ["Only the operator or a superadmin changes roles."]),
  ];
  const lines = notes.flatMap((note) => wrap(note, at.width - 2)).map((text) => line(span(` ${text}`, "dim")));
  return lines.length === 0 ? [] : [BLANK, ...lines];
}

/** Chooses a role of the Discord server that does not make officers (or members) yet, or takes an id. */
function pick(ui: Ui, kind: Kind): void {
  const chosen = new Set(allOf(ui).filter((row) => row.kind === kind).map(({ id }) => id));
  ui.open(pickerScreen, {
    title: `Role for ${kind}s`,
    rows: (at) => {
      const { value, problem } = at.read(discordRolesResource);
      if (value === undefined) return problem === null ? null : [];
      return value.filter(({ id }) => !chosen.has(id)).map(({ id, name }) => ({ key: id, text: name, note: id }));
    },
    note: (at) => {
      const { problem } = at.read(discordRolesResource);
      return problem === null ? null : `${problem.sentence} Paste the role's id.`;
    },
    takesText: (text) => /^\d{15,20}$/.test(text) && !chosen.has(text),
    onPick: (id, at) => confirmAdd(at, kind, id),
  });
}

function confirmAdd(ui: Ui, kind: Kind, id: string): void {
  const role = ui.read(discordRolesResource).value?.find((one) => one.id === id)?.name ?? id;
  ui.open(confirmScreen, {
    title: `Role ${role} for ${kind}s`,
    lines: (at) => {
      if (kind === "officer") {
        return [
          `Everybody with the role ${role} becomes an officer: root on every pod, its files, money and settings.`,
        ];
      }
      const isFirst = at.read(rolesResource).value?.member_role_ids.length === 0;
      return [
        `Everybody with the role ${role} is a member and may use pods that are open to all members.`,
        ...(isFirst
          ? [
            {
              text: "It is the first member role: who has none of them is no member any more.",
              isWarning: true,
            } as const,
          ]
          : []),
      ];
    },
    yes: "add it",
    onYes: (at) => change(at, kind, (ids) => ids.includes(id) ? ids : [...ids, id], `The role ${role} makes ${kind}s`),
  });
}

function confirmRemove(ui: Ui, row: RoleRow): void {
  const role = nameOf(row);
  ui.open(confirmScreen, {
    title: `Role ${role}: no ${row.kind}s`,
    lines: (at) => {
      const roles = at.read(rolesResource).value;
      const isLast = (row.kind === "officer" ? roles?.officer_role_ids : roles?.member_role_ids)?.length === 1;
      const ends = row.kind === "officer"
        ? "Who is an officer by this role alone loses root on all pods: connections and certificates of theirs end."
        : "Who is a member by this role alone cannot use pods any more: connections and certificates of theirs end.";
      const after = row.kind === "officer"
        ? "It is the last one: then only superadmins are officers."
        : "It is the last one: then everybody on the Discord server is a member.";
      return [ends, ...(isLast ? [{ text: after, isWarning: true } as const] : [])];
    },
    yes: "remove it",
    onYes: (at) =>
      change(at, row.kind, (ids) => ids.filter((one) => one !== row.id), `The role ${role} makes no ${row.kind}s now`),
  });
}

/** Changes what the server has now, not what was shown: somebody else may have changed it meanwhile. */
async function change(ui: Ui, kind: Kind, next: (ids: readonly string[]) => readonly string[], said: string) {
  const done = await ui.call("Change the roles", async (api: Api, org: string) => {
    const { value } = await read(api.org.roles.$get({ param: { org } }));
    const json = kind === "officer"
      ? { officer_role_ids: [...next(value.officer_role_ids)] }
      : { member_role_ids: [...next(value.member_role_ids)] };
    return (await read(api.org.roles.$put({ param: { org }, json }))).value;
  });
  if (done !== null) ui.say(said);
}
