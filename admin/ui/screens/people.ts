import { SECOND } from "../../../server/clock.ts";
import { type At, defineScreen, type Ui } from "../core/screen.ts";
import { type Certificate, type Person, podMembersResource } from "../data/members.ts";
import { accessText } from "../data/pod_words.ts";
import { onNow } from "../data/on_now.ts";
import { type Connected, connectedResource, type Pod, podsResource } from "../data/pods.ts";
import { wrap } from "../text/cells.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { ago, duration, localTime } from "../text/units.ts";
import { factLines } from "../widgets/facts.ts";
import { pagerScreen } from "../widgets/pager.ts";
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
import { accessScreen } from "./access.ts";
import { askToDisconnect, blockedOn, chooseUnblock } from "./disconnect.ts";
import { connectedSpec, recentSpec } from "./people_tables.ts";
import type { PodParams } from "./pod_params.ts";
import { saidAction, saidLines } from "./said.ts";

type Part = "now" | "recent";

interface State {
  /** The list that the keys move in. */
  readonly part: Part;
  readonly now: TableState;
  readonly recent: TableState;
  /** What the server said of the last person who was disconnected. */
  readonly said: readonly string[];
}

type PeopleAt = At<PodParams, State>;

/** In a lower window only the list that the keys move in is drawn. */
const BOTH = 14;
/** A pod's clock that is off by less is nothing that anybody notices. */
const CLOCK_OFF_S = 30;
const NO_CERTIFICATES: readonly Certificate[] = [];

const podOf = (at: PeopleAt): Pod | undefined =>
  at.read(podsResource).value?.pods.find(({ id }) => id === at.params.id);
const connectedOf = (at: PeopleAt) => at.read(connectedResource(at.params.id));
const nowRows = (at: PeopleAt) => arrange(connectedSpec(at.now), at.state.now, onNow(connectedOf(at)), at.filter);
const recentRows = (at: PeopleAt) =>
  arrange(
    recentSpec(at),
    at.state.recent,
    at.read(podMembersResource(at.params.id)).value?.recent ?? NO_CERTIFICATES,
    at.filter,
  );
const selectedNow = (at: PeopleAt) => selectedRow(connectedSpec(at.now), at.state.now, nowRows(at));
const selectedCertificate = (at: PeopleAt) => selectedRow(recentSpec(at), at.state.recent, recentRows(at));

/** The selected person; nobody where the pod tells an account that is not known here. */
function selectedPerson(at: PeopleAt): Person | undefined {
  if (podOf(at) === undefined) return undefined;
  if (at.state.part === "recent") {
    const one = selectedCertificate(at);
    return one === undefined ? undefined : { id: one.discord_id, name: one.name };
  }
  const one = selectedNow(at);
  return one === undefined || one.discordId === null ? undefined : { id: one.discordId, name: one.name };
}

const disconnect = (at: PeopleAt, block: boolean) =>
  askToDisconnect(at, podOf(at)!, selectedPerson(at)!, block, (said) => at.set((state) => ({ ...state, said })));

/** A name for an id, from what is on the screen anyway. */
function nameFor(at: PeopleAt, id: string): string {
  const members = at.read(podMembersResource(at.params.id)).value;
  const known = [...members?.recent ?? [], ...members?.access.allowed ?? []].find((one) => one.discord_id === id);
  return known?.name ?? id;
}

/** Who is on a pod now, and who got a certificate for it in the last 90 days. */
export const peopleScreen = defineScreen<PodParams, State>({
  id: "pod-people",
  title: () => "People",
  about:
    "Who is on the pod now, as the pod itself tells, and the last 100 certificates given for it. Root marks officers, who " +
    "log in as root. Until a certificate ends, its owner can log in with it any number of times.",
  init: () => ({ part: "now", now: NEW_TABLE, recent: NEW_TABLE, said: [] }),
  hasFilter: true,
  actions: [
    {
      keys: ["tab"],
      label: "other list",
      about: "from who is on now to the recent certificates, and back",
      run: (at) => at.set((state) => ({ ...state, part: state.part === "now" ? "recent" : "now" })),
    },
    {
      keys: ["enter"],
      label: "details",
      about: "all about the selected certificate",
      when: (at) => at.state.part === "recent" && selectedCertificate(at) !== undefined,
      run: (at) => showCertificate(at, selectedCertificate(at)!),
    },
    {
      keys: ["a"],
      word: "access",
      label: "change access",
      about: "say who may enter the pod",
      when: (at) => podOf(at) !== undefined,
      run: (at) => at.open(accessScreen, at.params),
    },
    {
      keys: ["x"],
      word: "disconnect",
      label: "disconnect",
      about: "end everything that the selected person has on the pod; asks first",
      when: (at) => selectedPerson(at) !== undefined,
      run: (at) => disconnect(at, false),
    },
    {
      keys: ["B"],
      word: "block",
      label: "block",
      about: "the same, and keep them off this pod from then on; asks first",
      when: (at) => selectedPerson(at) !== undefined,
      run: (at) => disconnect(at, true),
    },
    {
      keys: ["u"],
      word: "unblock",
      label: "unblock",
      about: "let somebody who is blocked on this pod in again",
      when: (at) => podOf(at) !== undefined && blockedOn(at, at.params.id).length > 0,
      run: (at) => chooseUnblock(at, podOf(at)!, (id) => nameFor(at, id)),
    },
    saidAction<PodParams, State>(),
    ...partActions("now", (at) => connectedSpec(at.now), nowRows),
    ...partActions("recent", recentSpec, recentRows),
  ],
  view: (at) => {
    const head = headLines(at);
    const height = at.height - head.length;
    if (height < BOTH) {
      const other = at.state.part === "now" ? recentTitle(at) : nowTitle(at);
      return [...head, ...partLines(at, at.state.part, height - 1), line(span(` tab: ${other}`, "dim"))];
    }
    const most = Math.max(4, Math.floor(height / 2) - 1);
    const now = partLines(at, "now", Math.min(most, Math.max(4, nowRows(at).length + 2)));
    return [...head, ...now, BLANK, ...partLines(at, "recent", height - now.length - 1)];
  },
});

/** Who may enter, what the server said last, and what makes the times doubtful. */
function headLines(at: PeopleAt): Line[] {
  const pod = podOf(at);
  if (pod === undefined) {
    return at.read(podsResource).value === undefined
      ? []
      : [BLANK, line(span("  ! This pod is not in the list any more; esc goes back.", "warn"))];
  }
  const blocked = blockedOn(at, pod.id).length;
  const offset = connectedOf(at).value?.clock_offset_seconds ?? 0;
  const clock = `The pod's clock is ${duration(Math.abs(offset) * SECOND)} ${
    offset > 0 ? "ahead of" : "behind"
  } the server's.`;
  return [
    line(` Access: ${accessText(pod)}${blocked === 0 ? "" : `, ${blocked} blocked`}`),
    ...(Math.abs(offset) < CLOCK_OFF_S
      ? []
      : wrap(`! ${clock}`, at.width - 2).map((text) => line(span(` ${text}`, "warn")))),
    ...saidLines(at.state.said, at.width, at.height),
  ];
}

/** The keys of one of the lists, which work while one is in it. */
function partActions<R>(part: Part, spec: (at: PeopleAt) => TableSpec<R>, rows: (at: PeopleAt) => readonly R[]) {
  return tableActions<PodParams, State, R>({
    spec,
    rows,
    table: (state) => state[part],
    keep: (state, table) => ({ ...state, [part]: table }),
    height: (at) => Math.max(3, Math.floor(at.height / 2) - 2),
  }).map((action) => ({
    ...action,
    when: (at: PeopleAt) => at.state.part === part && (action.when?.(at) ?? true),
  }));
}

const nowTitle = (at: PeopleAt) => {
  const { value } = connectedOf(at);
  return `Connected now${value === undefined || value.state === "unknown" ? "" : ` ${onNow(connectedOf(at)).length}`}`;
};
const recentTitle = (at: PeopleAt) => {
  const count = at.read(podMembersResource(at.params.id)).value?.recent.length;
  return `Recent certificates${count === undefined ? "" : ` ${count}`}`;
};

/** One of the lists with its heading; the one that the keys move in has a mark. */
function partLines(at: PeopleAt, part: Part, height: number): Line[] {
  const isHere = at.state.part === part;
  const title = part === "now" ? nowTitle(at) : recentTitle(at);
  const heading = line(span(isHere ? ` [${title}]` : `  ${title}`, isHere ? "strong" : "dim"));
  const body = part === "now" ? nowLines(at, height - 1) : recentLines(at, height - 1);
  return [heading, ...body].slice(0, Math.max(1, height));
}

function nowLines(at: PeopleAt, height: number): Line[] {
  const pod = podOf(at);
  if (pod !== undefined && pod.status !== "RUNNING") return [emptyLine("Nobody: the pod is not running.")];
  return drawReading(connectedOf(at), at.width, height, (value, room): Line[] => {
    if (value.state === "unknown") {
      return wrap(`Unknown: ${value.reason}.`, at.width - 4).map((text) => line(span(`  ${text}`, "warn")));
    }
    const rows = nowRows(at);
    if (rows.length === 0) return [emptyLine(at.filter === "" ? nobodyText(value) : "Nobody fits the filter.")];
    return drawTable(connectedSpec(at.now), tableOf(at, "now"), rows, at.width, room);
  });
}

function recentLines(at: PeopleAt, height: number): Line[] {
  return drawReading(at.read(podMembersResource(at.params.id)), at.width, height, (_, room): Line[] => {
    const rows = recentRows(at);
    if (rows.length === 0) return [emptyLine(at.filter === "" ? "None in the last 90 days." : "None fits the filter.")];
    return drawTable(recentSpec(at), tableOf(at, "recent"), rows, at.width, room);
  });
}

/** The list that the keys do not move in is drawn without a selected row. */
const tableOf = (at: PeopleAt, part: Part): TableState =>
  at.state.part === part ? at.state[part] : { ...at.state[part], selected: null, index: -1 };

function nobodyText({ connections }: Connected): string {
  return connections === null || connections === 0
    ? "Nobody is on it."
    : `Nobody has a shell, but ${connections} SSH ${connections === 1 ? "connection is" : "connections are"} open.`;
}

function showCertificate(ui: Ui, one: Certificate): void {
  const isOver = Date.parse(one.valid_before) <= ui.now;
  ui.open(pagerScreen, {
    title: "Certificate",
    lines: (width) =>
      factLines([
        ["Given to", one.name ?? one.discord_id],
        ["Discord id", one.discord_id],
        ["Folder", one.username],
        ["Root", one.is_admin ? "yes: logs in as root" : "no"],
        ["Given", `${localTime(one.created_at, ui.zone, ui.now)} (${ago(one.created_at, ui.now)})`],
        ["Valid until", `${localTime(one.valid_before, ui.zone, ui.now)}${isOver ? " (over)" : ""}`],
        ["Taken back", one.revoked_at === null ? null : localTime(one.revoked_at, ui.zone, ui.now)],
        ["Serial", one.serial],
      ], width),
  });
}
