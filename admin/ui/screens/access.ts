import { type At, defineScreen, type Ui } from "../core/screen.ts";
import { nameOf, peopleOf, type Person, podMembersResource } from "../data/members.ts";
import { type Pod, podsResource } from "../data/pods.ts";
import { wrap } from "../text/cells.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { type FormParams, formScreen } from "../widgets/form/screen.ts";
import { drawReading } from "../widgets/reading.ts";
import { arrange, drawTable, emptyLine, NEW_TABLE, type TableState } from "../widgets/table.ts";
import { askToTake, putAccess } from "./access_change.ts";
import type { FindParams } from "./find_members.ts";
import { memberActions, pasteForm, PEOPLE } from "./member_list.ts";
import type { PodParams } from "./pod_params.ts";
import { saidAction, saidLines, withName } from "./said.ts";

interface State {
  readonly table: TableState;
  /** What the server said of the last change: who still holds a certificate, say. */
  readonly said: readonly string[];
}

type AccessAt = At<PodParams, State>;

const NOBODY: readonly string[] = [];

const podOf = (at: Ui & { readonly params: PodParams }): Pod | undefined =>
  at.read(podsResource).value?.pods.find(({ id }) => id === at.params.id);

/** Listed people with their names; the ids alone while those are not known. */
function peopleAt(at: AccessAt): Person[] {
  const ids = podOf(at)?.allowed_users ?? NOBODY;
  const { value, problem } = at.read(podMembersResource(at.params.id));
  if (value === undefined && problem === null) return ids.map((id) => ({ id, name: null }));
  return peopleOf(at.read, ids, namesIn(at));
}

/** The names that the server gave with the certificates and the list. */
function namesIn(at: AccessAt): Map<string, string> {
  const members = at.read(podMembersResource(at.params.id)).value;
  const all = members === undefined ? [] : [...members.access.allowed, ...members.recent];
  return new Map(all.flatMap(({ discord_id, name }) => name === null ? [] : [[discord_id, name] as const]));
}

const rowsOf = (at: AccessAt) => arrange(PEOPLE, at.state.table, peopleAt(at), at.filter);
const said = (at: AccessAt) => (warnings: readonly string[]) => {
  const people = [...namesIn(at)].map(([id, name]) => ({ id, name }));
  at.set((state) => ({ ...state, said: warnings.map((text) => withName(text, people)) }));
};

/** Who may enter a pod: everybody in the server, or those on its list. Officers always may. */
export const accessScreen = defineScreen<PodParams, State>({
  id: "pod-access",
  title: () => "Access",
  about:
    "Who may enter the pod beside the officers: all members of the organization, or the people on the list. What the " +
    "server says of a change stands above the list.",
  init: () => ({ table: NEW_TABLE, said: [] }),
  hasFilter: true,
  actions: [
    {
      keys: ["p"],
      word: "public",
      label: "all or listed",
      about: "open the pod to all members, or only to those listed; asks first",
      when: (at) => podOf(at) !== undefined,
      run: (at) => askPublic(at, podOf(at)!),
    },
    ...memberActions<PodParams, State>({
      isThere: (at) => podOf(at) !== undefined,
      rows: rowsOf,
      table: (state) => state.table,
      keep: (state, table) => ({ ...state, table }),
      height: (at) => at.height - headLines(at).length,
      find: findOf,
      paste: pasteOf,
      remove: (at, person) => askRemove(at, podOf(at)!, person),
      clear: (at) => askClear(at, podOf(at)!),
    }),
    saidAction<PodParams, State>(),
  ],
  view: (at) => {
    const head = headLines(at);
    return [
      ...head,
      ...drawReading(at.read(podsResource), at.width, at.height - head.length, (_, height): Line[] => {
        const pod = podOf(at);
        if (pod === undefined) {
          return [BLANK, line(span("  ! This pod is not in the list any more; esc goes back.", "warn"))];
        }
        const rows = rowsOf(at);
        if (rows.length > 0) return drawTable(PEOPLE, at.state.table, rows, at.width, height);
        return [emptyLine(at.filter === "" ? "Nobody is listed." : "Nobody fits the filter.")];
      }),
    ];
  },
});

/** Who may enter, in words, and what the server said of the last change. */
function headLines(at: AccessAt): Line[] {
  const pod = podOf(at);
  if (pod === undefined) return [];
  const count = pod.allowed_users.length;
  const listed = `${count} ${count === 1 ? "person is" : "people are"} listed`;
  const mode = pod.is_public
    ? `Open to ALL members${count === 0 ? "" : `; ${listed}, which counts once it is not open to all`}.`
    : count === 0
    ? "Only officers may enter."
    : `Officers and those listed may enter: ${listed}.`;
  return [
    ...wrap(mode, at.width - 2).map((text) => line(span(` ${text}`, "strong"))),
    ...saidLines(at.state.said, at.width, at.height),
  ];
}

/** Adds to the list as it is at that moment, so that two officers do not undo each other. */
const addTo = (id: string, ids: readonly string[]) => putAccess(id, { add_users: [...ids] });

function findOf(at: AccessAt): FindParams {
  const { params } = at;
  return {
    listed: (ui) => new Set(podOf({ ...ui, params })?.allowed_users ?? NOBODY),
    add: async (ui, people) => {
      const [first] = people;
      const who = people.length === 1 ? nameOf(first!) : `${people.length} people`;
      const answer = await ui.call(`Add ${who}`, addTo(params.id, people.map(({ id }) => id)));
      if (answer !== null) {
        said(at)(answer.warnings);
        ui.say(`${who} ${people.length === 1 ? "is" : "are"} added`);
      }
      // The list of pods tells who is listed.
      return [];
    },
    paste: (ui) => ui.open(formScreen, pasteOf(at)),
  };
}

function pasteOf(at: AccessAt): FormParams {
  return pasteForm((ids) => addTo(at.params.id, ids), (answer, ui) => {
    said(at)((answer as { warnings: string[] }).warnings);
    ui.say("They are added");
  });
}

function askPublic(at: AccessAt, pod: Pod): void {
  if (pod.is_public) {
    const may = ({ allowed_users }: Pod) =>
      allowed_users.length === 0 ? "only officers" : `officers and the ${allowed_users.length} listed`;
    return askToTake(at, pod, {
      title: `Only listed people for ${pod.name}`,
      what: (now) => `From then on ${may(now)} may enter.`,
      yes: "change it",
      change: { is_public: false },
      done: "Only officers and those listed may enter now",
      mayEnter: (id, now) => now.allowed_users.includes(id),
    }, said(at));
  }
  at.open(confirmScreen, {
    title: `Open ${pod.name} to all`,
    lines:
      () => ["Every member of the organization may enter then, with a shell and the pod's files under /workspace."],
    yes: "open it",
    onYes: async (ui) => {
      const answer = await ui.call(`Open ${pod.name} to all`, putAccess(pod.id, { is_public: true }));
      if (answer === null) return;
      said(at)(answer.warnings);
      ui.say("All members may enter now");
    },
  });
}

const staysOpen = "The pod is open to all members, so they may still enter.";

function askRemove(at: AccessAt, pod: Pod, person: Person): void {
  const name = nameOf(person);
  askToTake(at, pod, {
    title: `Remove ${name}`,
    what: (now) => now.is_public ? staysOpen : `${name} may not enter ${pod.name} any more, unless as an officer.`,
    yes: "remove them",
    change: { remove_users: [person.id] },
    done: `${name} is removed`,
    mayEnter: (id, now) => now.is_public || id !== person.id,
  }, said(at));
}

function askClear(at: AccessAt, pod: Pod): void {
  askToTake(at, pod, {
    title: `Clear the list of ${pod.name}`,
    what: ({ allowed_users, is_public }) =>
      `All ${allowed_users.length} are taken off the list. ${is_public ? staysOpen : "Then only officers may enter."}`,
    yes: "clear it",
    change: { allowed_users: [] },
    done: "The list is empty",
    mayEnter: (_, now) => now.is_public,
  }, said(at));
}
