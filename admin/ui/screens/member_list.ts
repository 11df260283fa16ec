/** A list of people that are added and removed: what the access to a pod and the form of a new one share. */
import { discordIdsSchema } from "../../../server/pods/create_request.ts";
import { z } from "zod";
import type { Work } from "../client/session.ts";
import type { Action, At } from "../core/screen.ts";
import { idsIn, type Person } from "../data/members.ts";
import { span } from "../text/line.ts";
import { type FormParams, formScreen } from "../widgets/form/screen.ts";
import { selectedRow, type TableSpec, type TableState } from "../widgets/table.ts";
import { tableActions } from "../widgets/table_actions.ts";
import { type FindParams, findScreen } from "./find_members.ts";

export const PEOPLE: TableSpec<Person> = {
  columns: [
    {
      id: "name",
      title: "NAME",
      width: 12,
      grow: 3,
      most: 50,
      priority: 0,
      cell: ({ name }) => name ?? span("not known", "dim"),
      sortBy: ({ name }) => name,
    },
    { id: "id", title: "DISCORD ID", width: 20, grow: 1, most: 25, priority: 0, cell: ({ id }) => id },
  ],
  keyOf: ({ id }) => id,
  textOf: ({ id, name }) => `${id} ${name ?? ""}`,
};

/** Where a screen has its list, and what a change of it does. */
export interface MemberPlace<P, S> {
  /** False while nothing can be changed: the pod is gone, or not known yet. */
  isThere(at: At<P, S>): boolean;
  /** The arranged rows. */
  rows(at: At<P, S>): readonly Person[];
  table(state: S): TableState;
  keep(state: S, table: TableState): S;
  height(at: At<P, S>): number;
  find(at: At<P, S>): FindParams;
  paste(at: At<P, S>): FormParams;
  remove(at: At<P, S>, person: Person): unknown;
  clear(at: At<P, S>): unknown;
}

/** The keys of such a list: find, paste, remove, clear, and those of its table. */
export function memberActions<P, S>(place: MemberPlace<P, S>): Action<P, S>[] {
  const selected = (at: At<P, S>) =>
    place.isThere(at) ? selectedRow(PEOPLE, place.table(at.state), place.rows(at)) : undefined;
  return [
    {
      keys: ["a"],
      word: "add",
      label: "add",
      about: "find members by name or role, and add them",
      when: place.isThere,
      run: (at) => at.open(findScreen, place.find(at)),
    },
    {
      keys: ["i"],
      word: "paste",
      label: "paste ids",
      about: "add people by their Discord ids, several at once",
      when: place.isThere,
      run: (at) => at.open(formScreen, place.paste(at)),
    },
    {
      keys: ["d", "delete"],
      word: "remove",
      label: "remove",
      about: "take the selected person off the list",
      when: (at) => selected(at) !== undefined,
      run: (at) => {
        const person = selected(at);
        return person === undefined ? undefined : place.remove(at, person);
      },
    },
    {
      keys: ["C"],
      word: "clear",
      label: "clear all",
      about: "take everybody off the list; asks first",
      when: (at) => place.isThere(at) && place.rows(at).length > 0,
      run: (at) => place.clear(at),
    },
    ...tableActions<P, S, Person>({
      spec: () => PEOPLE,
      rows: place.rows,
      table: place.table,
      keep: place.keep,
      height: place.height,
    }),
  ];
}

const ids = discordIdsSchema("add_users");
const pasteSchema = z.object({
  add_users: ids.refine((list) => list.length > 0, "add_users must hold Discord ids, of 5 to 25 digits each"),
});

/** The form that takes ids as they are pasted; `work` gets them sorted, each once. */
export function pasteForm(work: (ids: string[]) => Work<unknown>, done: FormParams["done"] & object): FormParams {
  return {
    title: "Paste Discord ids",
    fields: [{
      name: "add_users",
      label: "People",
      kind: "text",
      hint: "5 to 25 digits each; several are parted by spaces or commas. In Discord: Copy User ID.",
    }],
    schema: pasteSchema,
    body: ({ add_users }) => ({ add_users: idsIn(String(add_users ?? "")) }),
    send: "Add",
    work: (body) => work(ids.parse((body as { add_users: unknown }).add_users)),
    done,
  };
}
