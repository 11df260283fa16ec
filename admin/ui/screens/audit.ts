import { shortAction, whoText } from "../../commands/audit.ts";
import { type At, defineScreen, type Ui } from "../core/screen.ts";
import { readPages } from "../data/pages.ts";
import { type AuditEntry, auditPages } from "../data/records.ts";
import { line, span } from "../text/line.ts";
import { localTime } from "../text/units.ts";
import { factLines } from "../widgets/facts.ts";
import { pagedActions } from "../widgets/paged_actions.ts";
import { pagerScreen } from "../widgets/pager.ts";
import { drawReading } from "../widgets/reading.ts";
import {
  arrange,
  countText,
  drawTable,
  emptyLine,
  NEW_TABLE,
  selectedRow,
  type TableSpec,
  type TableState,
} from "../widgets/table.ts";
import { detailFacts, detailLine, exactTime, pickPod, type PodFilter, rowsOfPod } from "./record_filters.ts";

interface State {
  readonly table: TableState;
  /** Pages that are wanted. */
  readonly pages: number;
  readonly pod: PodFilter | null;
}

type AuditAt = At<null, State>;

const NONE: readonly AuditEntry[] = [];

const specOf = (ui: Ui): TableSpec<AuditEntry> => ({
  columns: [
    { id: "when", title: "WHEN", width: 16, priority: 0, cell: (one) => localTime(one.at, ui.zone, ui.now) },
    { id: "who", title: "WHO", width: 16, grow: 1, most: 28, priority: 0, cell: whoText, sortBy: whoText },
    {
      id: "action",
      title: "ACTION",
      width: 18,
      grow: 2,
      most: 44,
      priority: 1,
      cell: (one) => shortAction(one.action, ui.org),
      sortBy: (one) => shortAction(one.action, ui.org),
    },
    {
      id: "outcome",
      title: "OUTCOME",
      width: 10,
      grow: 1,
      most: 24,
      priority: 2,
      cell: (one) => one.status < 400 ? one.outcome : span(`! ${one.outcome}`, "warn"),
      sortBy: (one) => one.outcome,
    },
    {
      id: "pod",
      title: "POD ID",
      width: 14,
      priority: 4,
      cell: (one) => one.pod_id ?? "",
      sortBy: (one) => one.pod_id,
    },
    { id: "what", title: "WHAT", width: 14, grow: 3, priority: 3, cell: (one) => detailLine(ui, one.details) },
    { id: "address", title: "ADDRESS", width: 15, priority: 5, cell: (one) => one.address ?? "" },
  ],
  keyOf: (one) => String(one.id),
  textOf: (one) =>
    [
      whoText(one),
      one.actor_id,
      one.action,
      one.pod_id,
      one.outcome,
      one.status,
      one.address,
      detailLine(ui, one.details),
    ]
      .join(" "),
});

const pagesOf = (at: AuditAt) => readPages(at, auditPages, at.state.pages);
const allOf = (at: AuditAt) => rowsOfPod(pagesOf(at).reading.value ?? NONE, at.state.pod);
const rowsOf = (at: AuditAt) => arrange(specOf(at), at.state.table, allOf(at), at.filter);

/** Who did what, newest first. */
export const auditScreen = defineScreen<null, State>({
  id: "audit",
  command: { word: "audit", about: "who did what, and what was refused", open: () => null },
  title: (at) => {
    const { pod } = at.state;
    return `Audit ${countText(rowsOf(at).length, allOf(at).length)}${pod === null ? "" : `, pod ${pod.name}`}`;
  },
  about:
    "Who did what, newest first: each change, certificate and sign-in, and what was refused to whom. / looks through " +
    "the entries that are loaded.",
  init: () => ({ table: NEW_TABLE, pages: 1, pod: null }),
  hasFilter: true,
  actions: [
    {
      keys: ["enter"],
      label: "details",
      about: "all that is known of the selected entry",
      when: (at) => rowsOf(at).length > 0,
      run: (at) => openDetails(at, selectedRow(specOf(at), at.state.table, rowsOf(at))!),
    },
    ...pagedActions<null, State, AuditEntry>({
      spec: specOf,
      rows: rowsOf,
      table: (state) => state.table,
      keep: (state, table) => ({ ...state, table }),
      hasMore: (at) => pagesOf(at).hasMore,
      more: (state) => ({ ...state, pages: state.pages + 1 }),
    }),
    {
      keys: ["p"],
      word: "pod-filter",
      label: "pod",
      about: "show only what was done to one pod, or all",
      run: (at) =>
        pickPod(
          at,
          () =>
            new Map(
              (pagesOf(at).reading.value ?? NONE).flatMap(({ pod_id }) => pod_id === null ? [] : [[pod_id, null]]),
            ),
          (pod) => at.set((state) => ({ ...state, pod, table: NEW_TABLE })),
        ),
    },
  ],
  view: (at) => {
    const { reading, isLoadingMore, hasMore } = pagesOf(at);
    return drawReading(reading, at.width, at.height, (_, height) => {
      const rows = rowsOf(at);
      const foot = isLoadingMore ? [line(span("  Loading older ones …", "dim"))] : [];
      if (rows.length > 0) {
        return [...drawTable(specOf(at), at.state.table, rows, at.width, height - foot.length), ...foot];
      }
      return [
        emptyLine(hasMore ? "None that is loaded; m loads older." : "No entry is like that."),
        ...foot,
      ];
    });
  },
});

function openDetails(ui: Ui, entry: AuditEntry): void {
  ui.open(pagerScreen, {
    title: shortAction(entry.action, ui.org),
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
