import { type At, defineScreen, type Ui } from "../core/screen.ts";
import { accessText, machineText, nextText, onText, statusSpan, statusWord, troubleText } from "../data/pod_words.ts";
import { attentionResource, connectedResource, type Pod, podsResource } from "../data/pods.ts";
import { orgSessionsResource } from "../data/sessions.ts";
import { standingResource } from "../data/settings.ts";
import { widthOf, wrap } from "../text/cells.ts";
import { BLANK, fit, type Line, line, span } from "../text/line.ts";
import { ago, money, rate } from "../text/units.ts";
import { listOf, type ListState, NEW_LIST } from "../widgets/list.ts";
import { drawReading } from "../widgets/reading.ts";
import type { TableSpec } from "../widgets/table.ts";
import { attentionScreen } from "./attention.ts";
import { newPodForm, newPodScreen } from "./new_pod.ts";
import { filesAction } from "./files/browse.ts";
import { podActions } from "./pod_actions.ts";
import { podDetails } from "./pod_details.ts";
import { podScreen } from "./pod.ts";
import { openKeyForm } from "./runpod_key.ts";

type PodsAt = At<null, ListState>;

/** From here on the selected pod's details stand beside the list. */
const WIDE = 100;
const NO_PODS: readonly Pod[] = [];

const specOf = (ui: Ui): TableSpec<Pod> => ({
  columns: [
    {
      id: "name",
      title: "NAME",
      width: 12,
      grow: 3,
      most: 40,
      priority: 0,
      cell: (pod) => pod.name,
      sortBy: (pod) => pod.name,
    },
    {
      id: "status",
      title: "STATUS",
      // Room for `● Running 45s`, also in the smallest window.
      width: 13,
      grow: 1,
      most: 22,
      priority: 0,
      cell: (pod) => statusSpan(pod, ui.now),
      sortBy: (pod) => statusWord(pod.status),
    },
    {
      id: "cost",
      title: "COST",
      width: 9,
      priority: 1,
      align: "right",
      cell: (pod) => rate(pod.cost_per_hour),
      sortBy: (pod) => pod.cost_per_hour,
    },
    {
      id: "trouble",
      title: "TROUBLE",
      width: 12,
      grow: 1,
      most: 20,
      priority: 3,
      cell: (pod) => span(troubleText(pod, ui.now), "bad"),
      sortBy: (pod) => troubleText(pod, ui.now),
    },
    { id: "access", title: "ACCESS", width: 13, priority: 2, cell: accessText, sortBy: accessText },
    {
      id: "on",
      title: "ON",
      width: 2,
      priority: 4,
      align: "right",
      cell: (pod) => onText(pod, isAsked(pod) ? ui.read(connectedResource(pod.id)) : null),
    },
    {
      id: "machine",
      title: "MACHINE",
      width: 14,
      grow: 2,
      most: 28,
      priority: 5,
      cell: machineText,
      sortBy: machineText,
    },
    {
      id: "next",
      title: "NEXT",
      width: 12,
      grow: 4,
      most: 24,
      priority: 6,
      cell: (pod) => nextText(pod, ui.zone, ui.now),
      sortBy: (pod) => pod.stops_at ?? pod.next_session?.start_at ?? null,
    },
    {
      id: "month",
      title: "MONTH",
      width: 8,
      priority: 7,
      align: "right",
      cell: (pod) => money(pod.cost_this_month),
      sortBy: (pod) => pod.cost_this_month,
    },
    {
      id: "created",
      title: "CREATED",
      width: 12,
      priority: 8,
      cell: (pod) => ago(pod.created_at, ui.now),
      sortBy: (pod) => Date.parse(pod.created_at),
    },
    { id: "id", title: "POD ID", width: 14, priority: 9, cell: (pod) => pod.id, sortBy: (pod) => pod.id },
    {
      id: "forwarding",
      title: "FORWARD",
      width: 8,
      priority: 10,
      cell: (pod) => pod.port_forwarding === false ? span("! none", "warn") : "",
    },
    { id: "provider", title: "PROVIDER", width: 8, priority: 11, cell: (pod) => pod.provider },
  ],
  keyOf: (pod) => pod.id,
  textOf: (pod) =>
    [pod.name, pod.id, statusWord(pod.status), machineText(pod), accessText(pod), pod.trouble?.code ?? ""].join(" "),
});

/** Who is on a pod is asked of the pod itself, so only of one that answers. */
const isAsked = (pod: Pod) => pod.status === "RUNNING" && pod.reachable === true;

const list = listOf<null, ListState, Pod>({
  spec: specOf,
  all: (at) => at.read(podsResource).value?.pods ?? NO_PODS,
  height: (at) => at.height - headLines(at).length,
});
const lacksKey = (at: Ui) => at.read(podsResource).problem?.code === "runpod_key_missing";

/** All pods of the org, live. */
export const podsScreen = defineScreen<null, ListState>({
  id: "pods",
  command: { word: "pods", about: "all pods of the organization", open: () => null },
  title: (at) => `Pods ${list.count(at)}`,
  about:
    "All pods of the organization. ● runs, ○ is stopped, ◐ is on its way, ! needs a look; ~ says that RunPod was not " +
    "heard since. ON counts who is on a pod now.",
  init: () => NEW_LIST,
  hasFilter: true,
  actions: [
    {
      keys: ["enter"],
      label: "open",
      about: "open the selected pod",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => at.open(podScreen, { id: list.selected(at)!.id, name: list.selected(at)!.name }),
    },
    ...list.actions,
    {
      keys: ["a"],
      label: "attention",
      about: "what is not settled, and what to do about it",
      when: (at) => (at.read(attentionResource).value ?? []).length > 0,
      run: (at) => at.open(attentionScreen, null),
    },
    {
      keys: ["n"],
      label: "new pod",
      about: "make a new pod; its cost is shown before it is sent",
      when: (at) => !lacksKey(at),
      run: (at) => at.open(newPodScreen, newPodForm()),
    },
    {
      keys: ["k"],
      word: "connect-runpod",
      label: "RunPod key",
      about: "connect the organization's RunPod account",
      when: lacksKey,
      run: (at) => openKeyForm(at, { isSet: false }),
    },
    ...podActions<null, ListState>(list.selected),
    filesAction<null, ListState>(list.selected),
  ],
  view: (at) => {
    const reading = at.read(podsResource);
    if (lacksKey(at)) return noKeyLines(at.width);
    const head = headLines(at);
    const height = at.height - head.length;
    return [
      ...head,
      ...drawReading(reading, at.width, height, (_, height) => listLines(at, height)),
    ];
  },
});

function listLines(at: PodsAt, height: number): Line[] {
  const empty = at.filter === "" ? "There are no pods yet; n makes one." : "No pod fits the filter; esc shows all.";
  if (list.rows(at).length === 0) return list.draw(at, empty);
  const pane = at.width >= WIDE ? Math.min(60, Math.max(36, Math.floor(at.width * 0.3))) : 0;
  const table = list.draw(at, empty, { width: at.width - (pane === 0 ? 0 : pane + 3), height });
  if (pane === 0) return table;
  const pod = list.selected(at);
  const details = pod === undefined ? [] : [line(span(pod.name, "strong")), ...podDetails(at, pod, pane)];
  return Array.from({ length: height }, (_, row) => [
    ...fit(table[row] ?? BLANK, at.width - pane - 3),
    span(" │ ", "dim"),
    ...fit(details[row] ?? BLANK, pane),
  ]);
}

/** Totals, and what needs attention, above the list. */
function headLines(at: PodsAt): Line[] {
  const reading = at.read(podsResource).value;
  if (reading === undefined) return [];
  const { pods } = reading;
  const running = pods.filter(({ status }) => status === "RUNNING");
  const perHour = running.reduce((sum, pod) => sum + (pod.cost_per_hour ?? 0), 0);
  const sessions = at.read(orgSessionsResource).value?.sessions.filter(({ state }) => state === "scheduled").length;
  const stopped = pods.filter(({ status }) => status === "EXITED" || status === "STOPPED").length;
  const totals = [
    `${running.length} running / ${stopped} stopped`,
    rate(perHour),
    ...monthTexts(at),
    ...(sessions === undefined ? [] : [`${sessions} upcoming ${sessions === 1 ? "session" : "sessions"}`]),
  ];
  const attention = at.read(attentionResource).value ?? [];
  const first = attention[0];
  const notes = reading.warnings.flatMap((text) => noteLines(text, at.width));
  const open = first === undefined ? [] : [line(
    span(` ! ${attention.length === 1 ? "1 thing needs" : `${attention.length} things need`} attention (a): `, "bad"),
    span(`${first.name ?? first.pod_id ?? ""}: ${first.what}`, "bad"),
  )];
  const text = ` ${totals.join("   ")}`;
  return [line(widthOf(text) <= at.width ? text : text.replace(" upcoming", "")), ...notes, ...open];
}

/** What the month has cost with the pods that are terminated since, and its budget; nothing until it is known. */
function monthTexts(at: PodsAt): string[] {
  const budget = at.read(standingResource).value?.budget;
  if (budget === undefined) return [];
  return [
    `${money(budget.spent_usd)}${budget.monthly_usd === null ? "" : ` of ${money(budget.monthly_usd)}`} this month`,
  ];
}

/** A warning of the server as it wrote it; it must leave room for the list. */
function noteLines(text: string, width: number): Line[] {
  return wrap(text, Math.max(10, width - 3)).slice(0, 3).map((part, at) =>
    line(span(`${at === 0 ? " ! " : "   "}${part}`, "warn"))
  );
}

function noKeyLines(width: number): Line[] {
  const text =
    "This organization has no RunPod API key yet, so there is nothing to show. Make a key in RunPod's console " +
    "(Settings > API Keys; read and write), then press k and paste it. It is stored encrypted and never shown again.";
  return [
    BLANK,
    line(span("  Connect a hosting provider", "strong")),
    BLANK,
    ...wrap(text, Math.max(10, width - 4)).map((one) => line(`  ${one}`)),
  ];
}
