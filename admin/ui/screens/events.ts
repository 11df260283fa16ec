import { EVENT_KINDS, type EventKind } from "../../../server/events/kinds.ts";
import { type At, defineScreen, type Ui } from "../core/screen.ts";
import { readPages } from "../data/pages.ts";
import type { Event } from "../data/pods.ts";
import { eventPages } from "../data/records.ts";
import { span } from "../text/line.ts";
import { localTime } from "../text/units.ts";
import { factLines } from "../widgets/facts.ts";
import { NEW_PAGED_LIST, pagedListOf, type PagedState } from "../widgets/paged_list.ts";
import { pagerScreen } from "../widgets/pager.ts";
import { pickerScreen } from "../widgets/picker.ts";
import type { TableSpec } from "../widgets/table.ts";
import { detailFacts, detailLine, exactTime, pickPod, type PodFilter } from "./record_filters.ts";

export interface EventsParams {
  /** The pod to begin with; null for all. */
  readonly pod: PodFilter | null;
}

interface State extends PagedState {
  readonly kind: EventKind | null;
  readonly pod: PodFilter | null;
}

type EventsAt = At<EventsParams, State>;

const specOf = (ui: Ui): TableSpec<Event> => ({
  columns: [
    { id: "when", title: "WHEN", width: 16, priority: 0, cell: (one) => localTime(one.created_at, ui.zone, ui.now) },
    { id: "kind", title: "EVENT", width: 16, priority: 0, cell: (one) => one.kind, sortBy: (one) => one.kind },
    {
      id: "subject",
      title: "POD",
      width: 12,
      grow: 1,
      most: 30,
      priority: 1,
      cell: (one) => one.subject ?? one.pod_id ?? "",
      sortBy: (one) => one.subject,
    },
    {
      id: "actor",
      title: "BY",
      width: 10,
      grow: 1,
      most: 24,
      priority: 3,
      cell: (one) => one.actor ?? "",
      sortBy: (one) => one.actor,
    },
    { id: "what", title: "WHAT", width: 22, grow: 3, priority: 2, cell: (one) => detailLine(ui, one.details) },
  ],
  keyOf: (one) => String(one.id),
  textOf: (one) =>
    `${one.kind} ${one.subject ?? ""} ${one.pod_id ?? ""} ${one.actor ?? ""} ${detailLine(ui, one.details)}`,
});

const list = pagedListOf<EventsParams, State, Event>({
  spec: specOf,
  pages: (at) => readPages(at, eventPages(at.state.kind, at.state.pod?.id ?? null), at.state.pages),
  empty: emptyText,
});

/** What happened in the org, newest first; of one pod when it is opened with one. */
export const eventsScreen = defineScreen<EventsParams, State>({
  id: "events",
  command: { word: "events", about: "what happened: starts, stops, budget, settings", open: () => ({ pod: null }) },
  title: (at) => {
    const { kind, pod } = at.state;
    const only = [kind, pod === null ? null : `pod ${pod.name}`].filter((one) => one !== null);
    return [`Events ${list.count(at)}`, ...only].join(", ");
  },
  about:
    "What happened, newest first, as webhooks are told of it. Who asked for what is in the audit. / looks through the " +
    "events that are loaded.",
  init: ({ pod }) => ({ ...NEW_PAGED_LIST, kind: null, pod }),
  hasFilter: true,
  actions: [
    {
      keys: ["enter"],
      label: "details",
      about: "all that is known of the selected event",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => openDetails(at, list.selected(at)!),
    },
    ...list.actions,
    {
      keys: ["f"],
      word: "kind",
      label: "kind",
      about: "show only one kind of events, or all",
      run: (at) => pickKind(at),
    },
    {
      keys: ["p"],
      word: "pod-filter",
      label: "pod",
      about: "show only the events of one pod, or all",
      run: (at) =>
        pickPod(
          at,
          (ui) => {
            const newest = ui.read(eventPages(null, null)(null)).value ?? [];
            return new Map(newest.flatMap((one) => one.pod_id === null ? [] : [[one.pod_id, one.subject]]));
          },
          (pod) => at.set((state) => ({ ...state, ...NEW_PAGED_LIST, pod })),
        ),
    },
  ],
  view: (at) => list.view(at),
});

function emptyText(at: EventsAt, hasMore: boolean): string {
  if (at.filter === "" && at.state.pod === null && at.state.kind === null) return "Nothing has happened yet.";
  return hasMore ? "None that is loaded; m loads older." : "No event is like that.";
}

function pickKind(at: EventsAt): void {
  at.open(pickerScreen, {
    title: "Kind of events",
    rows: () => [{ key: "", text: "All kinds" }, ...EVENT_KINDS.map((kind) => ({ key: kind, text: kind }))],
    onPick: (key) =>
      at.set((state) => ({ ...state, ...NEW_PAGED_LIST, kind: EVENT_KINDS.find((kind) => kind === key) ?? null })),
  });
}

function openDetails(ui: Ui, event: Event): void {
  ui.open(pagerScreen, {
    title: event.kind,
    lines: (width) =>
      factLines([
        ["When", exactTime(ui, event.created_at)],
        ["Event", event.kind],
        ["About", event.subject],
        ["Pod id", event.pod_id],
        ["By", event.actor],
        ...detailFacts(ui, event.details),
        ["Number", String(event.id)],
      ], width).map((one) => [span(" "), ...one]),
  });
}
