import { type At, defineScreen, type Ui } from "../core/screen.ts";
import { type Certificate, podMembersResource } from "../data/members.ts";
import { accessText } from "../data/pod_words.ts";
import { type Connected, connectedResource, type Pod, podsResource } from "../data/pods.ts";
import { wrap } from "../text/cells.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { ago, localTime } from "../text/units.ts";
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
import { connectedSpec, onNow, recentSpec } from "./people_tables.ts";
import type { PodParams } from "./pod.ts";

type Part = "now" | "recent";

interface State {
  /** The list that the keys move in. */
  readonly part: Part;
  readonly now: TableState;
  readonly recent: TableState;
}

type PeopleAt = At<PodParams, State>;

/** In a lower window only the list that the keys move in is drawn. */
const BOTH = 14;
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
const selectedCertificate = (at: PeopleAt) => selectedRow(recentSpec(at), at.state.recent, recentRows(at));

/** Who is on a pod now, and who got a certificate for it in the last 90 days. */
export const peopleScreen = defineScreen<PodParams, State>({
  id: "pod-people",
  title: () => "People",
  about:
    "Who is on the pod now, as the pod itself tells, and the last 100 certificates given for it. Root marks officers, who " +
    "log in as root. A certificate is for one login after the other until its end.",
  init: () => ({ part: "now", now: NEW_TABLE, recent: NEW_TABLE }),
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
    ...partActions("now", (at) => connectedSpec(at.now), nowRows),
    ...partActions("recent", recentSpec, recentRows),
  ],
  view: (at) => {
    const pod = podOf(at);
    const isGone = pod === undefined && at.read(podsResource).value !== undefined;
    const head = isGone
      ? [BLANK, line(span("  ! This pod is not in the list any more; esc goes back.", "warn"))]
      : pod === undefined
      ? []
      : [line(` Access: ${accessText(pod)}`)];
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
  return `Connected now${value === undefined || value.state === "unknown" ? "" : ` ${value.sessions.length}`}`;
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
        ["Serial", one.serial],
      ], width),
  });
}
