import { whoText } from "../../commands/audit.ts";
import { defineScreen, type Ui } from "../core/screen.ts";
import { readPages } from "../data/pages.ts";
import { actionWords, podText, shortWho } from "../data/audit_words.ts";
import { podsResource } from "../data/pods.ts";
import { type AuditEntry, auditPages } from "../data/records.ts";
import { span } from "../text/line.ts";
import { localTime } from "../text/units.ts";
import { factLines } from "../widgets/facts.ts";
import { NEW_PAGED_LIST, pagedListOf, type PagedState } from "../widgets/paged_list.ts";
import { pagerScreen } from "../widgets/pager.ts";
import type { TableSpec } from "../widgets/table.ts";
import { detailFacts, detailLine, exactTime, pickPod, type PodFilter } from "./record_filters.ts";

interface State extends PagedState {
  readonly pod: PodFilter | null;
}

const podNames = (ui: Ui) =>
  new Map((ui.read(podsResource).value?.pods ?? []).map(({ id, name }) => [id, name] as const));

const specOf = (ui: Ui, names = podNames(ui)): TableSpec<AuditEntry> => ({
  columns: [
    { id: "when", title: "WHEN", width: 16, priority: 0, cell: (one) => localTime(one.at, ui.zone, ui.now) },
    { id: "who", title: "WHO", width: 12, grow: 1, most: 28, priority: 0, cell: shortWho, sortBy: shortWho },
    {
      id: "action",
      title: "ACTION",
      width: 20,
      grow: 2,
      most: 28,
      priority: 1,
      cell: (one) => actionWords(one, ui.org),
      sortBy: (one) => actionWords(one, ui.org),
    },
    {
      id: "pod",
      title: "POD",
      width: 12,
      grow: 1,
      most: 24,
      priority: 3,
      cell: (one) => podText(one, names),
      sortBy: (one) => podText(one, names),
    },
    {
      id: "outcome",
      title: "OUTCOME",
      width: 8,
      grow: 1,
      most: 24,
      priority: 2,
      cell: (one) => one.status < 400 ? one.outcome : span(`! ${one.outcome}`, "warn"),
      sortBy: (one) => one.outcome,
    },
    { id: "what", title: "WHAT", width: 14, grow: 3, priority: 4, cell: (one) => detailLine(ui, one.details) },
    { id: "address", title: "ADDRESS", width: 15, priority: 5, cell: (one) => one.address ?? "" },
  ],
  keyOf: (one) => String(one.id),
  textOf: (one) =>
    [
      whoText(one),
      one.actor_id,
      actionWords(one, ui.org),
      one.action,
      podText(one, names),
      one.pod_id,
      one.outcome,
      one.status,
      one.address,
      detailLine(ui, one.details),
    ]
      .join(" "),
});

const list = pagedListOf<null, State, AuditEntry>({
  spec: specOf,
  pages: (at) => readPages(at, auditPages(at.state.pod?.id ?? null), at.state.pages),
  empty: (_, hasMore) => hasMore ? "None that is loaded; m loads older." : "No entry is like that.",
});

/** Who did what, newest first. */
export const auditScreen = defineScreen<null, State>({
  id: "audit",
  command: { word: "audit", about: "who did what, and what was refused", open: () => null },
  title: (at) => {
    const { pod } = at.state;
    return `Audit ${list.count(at)}${pod === null ? "" : `, pod ${pod.name}`}`;
  },
  about:
    "Who did what, newest first: each change, certificate and sign-in, and what was refused to whom. / looks through " +
    "the entries that are loaded.",
  init: () => ({ ...NEW_PAGED_LIST, pod: null }),
  hasFilter: true,
  actions: [
    {
      keys: ["enter"],
      label: "details",
      about: "all that is known of the selected entry",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => openDetails(at, list.selected(at)!),
    },
    ...list.actions,
    {
      keys: ["p"],
      word: "pod-filter",
      label: "pod",
      about: "show only what was done to one pod, or all",
      run: (at) =>
        pickPod(
          at,
          (ui) => {
            const newest = ui.read(auditPages(null)(null)).value ?? [];
            return new Map(newest.flatMap(({ pod_id }) => pod_id === null ? [] : [[pod_id, null]]));
          },
          (pod) => at.set({ ...NEW_PAGED_LIST, pod }),
        ),
    },
  ],
  view: (at) => list.view(at),
});

function openDetails(ui: Ui, entry: AuditEntry): void {
  ui.open(pagerScreen, {
    title: actionWords(entry, ui.org),
    lines: (width) =>
      factLines([
        ["When", exactTime(ui, entry.at)],
        ["Who", whoText(entry)],
        ["Their id", entry.actor_id],
        ["Kind", entry.actor_kind],
        ["Address", entry.address],
        ["Action", entry.action],
        ["By way of", entry.source],
        ["Outcome", `${entry.outcome} (${entry.status})`],
        ["Pod id", entry.pod_id],
        ...detailFacts(ui, entry.details),
        ["Number", String(entry.id)],
      ], width).map((one) => [span(" "), ...one]),
  });
}
