import { z } from "zod";
import { type At, defineScreen } from "../core/screen.ts";
import { type Me, orgsResource } from "../data/me.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { wrap } from "../text/cells.ts";
import { listOf, type ListState, NEW_LIST } from "../widgets/list.ts";
import { drawReading } from "../widgets/reading.ts";
import type { TableSpec } from "../widgets/table.ts";
import { formScreen } from "../widgets/form/screen.ts";
import { podsScreen } from "./pods.ts";

type Org = Me["orgs"][number];

type OrgsAt = At<null, ListState>;

const NONE: readonly Org[] = [];

const specOf = (at: OrgsAt): TableSpec<Org> => ({
  columns: [
    { id: "prefix", title: "PREFIX", width: 20, priority: 0, cell: (org) => org.prefix, sortBy: (org) => org.prefix },
    { id: "name", title: "NAME", width: 12, grow: 1, priority: 0, cell: (org) => org.name, sortBy: (org) => org.name },
    { id: "here", title: "", width: 8, priority: 1, cell: (org) => org.prefix === at.org ? "* here" : "" },
  ],
  keyOf: (org) => org.prefix,
  textOf: (org) => `${org.prefix} ${org.name}`,
});

const list = listOf<null, ListState, Org>({
  spec: specOf,
  all: (at) => at.read(orgsResource).value?.orgs ?? NONE,
  height: (at) => at.height - noteLines(at).length,
});

async function go(at: OrgsAt, org: string): Promise<void> {
  if (org === at.org) return at.home(podsScreen, null);
  await at.switchOrg(org);
  // Where one has to sign in first, the dialog for that is open now.
  if (at.session.org === org) at.say(`This is ${org}`, "good", org);
}

/** The orgs within reach of who is signed in, and the way to another one. */
export const orgsScreen = defineScreen<null, ListState>({
  id: "orgs",
  command: { word: "orgs", about: "go to another organization", open: () => null },
  title: () => "Organizations",
  about:
    "The operator reaches every organization. An officer token is for one; for another one of the same server you " +
    "sign in again.",
  init: () => NEW_LIST,
  hasFilter: true,
  actions: [
    {
      keys: ["enter"],
      label: "go there",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => go(at, list.selected(at)!.prefix),
    },
    ...list.actions,
    {
      word: "org",
      takes: "<prefix>",
      label: "org",
      about: "go to the organization with this prefix",
      run: (at, prefix) => go(at, prefix),
    },
    {
      keys: ["n"],
      label: "another",
      about: "sign in to another organization of this server",
      when: (at) => at.session.address !== null,
      run: (at) =>
        at.open(formScreen, {
          title: "Another organization",
          fields: [{ name: "org", label: "Prefix", kind: "text", hint: "As in the address of its sign-in page." }],
          schema: z.object({
            org: z.string("org must be a prefix").regex(/^[a-z0-9_][a-z0-9_-]{1,19}$/, "org must be a prefix"),
          }),
          send: "Go there",
          work: (_, values) => () => Promise.resolve(String(values.org ?? "")),
          done: (org, ui) => ui.switchOrg(String(org)),
        }),
    },
  ],
  view: (at) =>
    drawReading(at.read(orgsResource), at.width, at.height, (_, height): Line[] => {
      const notes = noteLines(at);
      return [...list.draw(at, "No organization is like that.", { height: height - notes.length }), ...notes];
    }),
});

function noteLines(at: OrgsAt): Line[] {
  const note = at.me?.kind === "operator"
    ? "Another organization is added from the shell of this server: orgpods org add --help"
    : "A token is for one organization; n signs in to another one.";
  return [BLANK, ...wrap(note, at.width - 2).map((text) => line(span(` ${text}`, "dim")))];
}
