import { type At, defineScreen } from "../core/screen.ts";
import { peopleOf, type Person } from "../data/members.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { type FormParams, formScreen } from "../widgets/form/screen.ts";
import { arrange, countText, drawTable, emptyLine, NEW_TABLE, type TableState } from "../widgets/table.ts";
import { memberActions, pasteForm, PEOPLE } from "./member_list.ts";

export interface ListedParams {
  readonly title: string;
  /** Who is listed at first. */
  readonly ids: readonly string[];
  /** Gets the list when it is left. */
  onLeave(ids: readonly string[]): void;
}

interface State {
  readonly ids: readonly string[];
  /** Names of those who were found by them, by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly table: TableState;
}

type ListedAt = At<ListedParams, State>;

const rowsOf = (at: ListedAt) =>
  arrange(PEOPLE, at.state.table, peopleOf(at.read, at.state.ids, at.state.names), at.filter);

const withPeople = (state: State, people: readonly Person[]): State => ({
  ...state,
  ids: [...new Set([...state.ids, ...people.map(({ id }) => id)])],
  names: new Map([...state.names, ...people.flatMap(({ id, name }) => name === null ? [] : [[id, name] as const])]),
});

const pasteOf = (at: ListedAt): FormParams =>
  pasteForm(
    (ids) => () => Promise.resolve(ids),
    (ids) => at.set((state) => withPeople(state, (ids as string[]).map((id) => ({ id, name: null })))),
  );

/** The people of a form that is not sent yet: nothing here changes anything on the server. */
export const listedPeopleScreen = defineScreen<ListedParams, State>({
  id: "listed-people",
  title: (at) => `${at.params.title} ${countText(rowsOf(at).length, at.state.ids.length)}`,
  about: "Who may enter the new pod beside the officers. The form keeps the list when one goes back.",
  init: ({ ids }) => ({ ids, names: new Map(), table: NEW_TABLE }),
  hasFilter: true,
  isUnsent: (at) => at.state.ids.join() !== at.params.ids.join(),
  actions: [
    {
      keys: ["esc"],
      label: "back to the form",
      when: (at) => at.filter === "",
      run: (at) => {
        at.params.onLeave(at.state.ids);
        at.close();
      },
    },
    ...memberActions<ListedParams, State>({
      isThere: () => true,
      rows: rowsOf,
      table: (state) => state.table,
      keep: (state, table) => ({ ...state, table }),
      height: (at) => at.height,
      find: (at) => ({
        listed: () => new Set(at.state.ids),
        add: (_, people) => {
          at.set((state) => withPeople(state, people));
          return Promise.resolve(people.map(({ id }) => id));
        },
        paste: (ui) => ui.open(formScreen, pasteOf(at)),
      }),
      paste: pasteOf,
      remove: (at, { id }) => at.set((state) => ({ ...state, ids: state.ids.filter((one) => one !== id) })),
      clear: (at) =>
        at.open(confirmScreen, {
          title: "Clear the list",
          lines: () => [`All ${at.state.ids.length} are taken off the list.`],
          yes: "clear it",
          onYes: () => at.set((state) => ({ ...state, ids: [] })),
        }),
    }),
  ],
  view: (at) => {
    const rows = rowsOf(at);
    if (rows.length > 0) return drawTable(PEOPLE, at.state.table, rows, at.width, at.height);
    return [emptyLine(at.filter === "" ? "Nobody is listed; a finds members, i takes their ids." : "Nobody fits.")];
  },
});
