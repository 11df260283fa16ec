import { read } from "../../client/api.ts";
import { type At, defineScreen, type Ui } from "../core/screen.ts";
import { readPages } from "../data/pages.ts";
import { type Delivery, deliveryPages } from "../data/records.ts";
import { span } from "../text/line.ts";
import { localTime } from "../text/units.ts";
import { factLines } from "../widgets/facts.ts";
import { NEW_PAGED_LIST, pagedListOf, type PagedState } from "../widgets/paged_list.ts";
import { pagerScreen } from "../widgets/pager.ts";
import type { TableSpec } from "../widgets/table.ts";

export interface DeliveriesParams {
  /** The number of the webhook. */
  readonly id: number;
  readonly name: string;
}

function stateSpan({ state, attempts }: Delivery) {
  switch (state) {
    case "sent":
      return span("sent");
    case "waiting":
      return attempts === 0 ? span("◐ waiting") : span("◐ retrying", "warn");
    default:
      return span(`! ${state}`, "bad");
  }
}

const specOf = (ui: Ui): TableSpec<Delivery> => ({
  columns: [
    { id: "when", title: "WHEN", width: 16, priority: 0, cell: (one) => localTime(one.created_at, ui.zone, ui.now) },
    { id: "kind", title: "EVENT", width: 16, priority: 1, cell: (one) => one.kind, sortBy: (one) => one.kind },
    {
      id: "state",
      title: "STATE",
      width: 10,
      grow: 1,
      most: 20,
      priority: 0,
      cell: stateSpan,
      sortBy: (one) => one.state,
    },
    {
      id: "status",
      title: "STATUS",
      width: 6,
      priority: 3,
      align: "right",
      cell: (one) => one.last_status === null ? "" : String(one.last_status),
    },
    { id: "tries", title: "TRIES", width: 5, priority: 4, align: "right", cell: (one) => String(one.attempts) },
    { id: "error", title: "ERROR", width: 12, grow: 3, priority: 2, cell: (one) => span(one.last_error ?? "", "warn") },
  ],
  keyOf: (one) => String(one.id),
  textOf: (one) => `${one.kind} ${one.state} ${one.last_status ?? ""} ${one.last_error ?? ""} ${one.delivery_id}`,
});

const list = pagedListOf<DeliveriesParams, PagedState, Delivery>({
  spec: specOf,
  pages: (at) => readPages(at, deliveryPages(at.params.id), at.state.pages),
  empty: (at) => at.filter === "" ? "Nothing was sent to it yet." : "No delivery is like that.",
});
/** A test is sent anew by `t` in the list of webhooks, and what waits is sent anyway. */
const canResend = (one: Delivery | undefined) => one !== undefined && one.event_id !== null && one.state !== "waiting";

/** What was sent to one webhook, newest first. */
export const deliveriesScreen = defineScreen<DeliveriesParams, PagedState>({
  id: "deliveries",
  title: (at) => `Deliveries to ${at.params.name} ${list.count(at)}`,
  about: "What was sent to the webhook, newest first, and what came of it. What fails is tried again for a while.",
  init: () => NEW_PAGED_LIST,
  hasFilter: true,
  actions: [
    {
      keys: ["enter"],
      label: "details",
      about: "all that is known of the selected delivery",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => openDetails(at, list.selected(at)!),
    },
    ...list.actions,
    {
      keys: ["r"],
      word: "resend",
      label: "send again",
      about: "send the selected event again, under the same delivery id",
      when: (at) => canResend(list.selected(at)),
      run: (at) => resend(at, list.selected(at)!),
    },
  ],
  view: (at) => list.view(at),
});

async function resend(at: At<DeliveriesParams, PagedState>, delivery: Delivery): Promise<void> {
  const param = { id: String(at.params.id), delivery: String(delivery.id) };
  const done = await at.call(
    `Send ${delivery.kind} again`,
    (api, org) => read(api.org.webhooks[":id"].deliveries[":delivery"].resend.$post({ param: { org, ...param } })),
  );
  if (done !== null) at.say(`${delivery.kind} is being sent again; the list shows what comes of it`);
}

function openDetails(ui: Ui, one: Delivery): void {
  const time = (iso: string | null) => iso === null ? null : localTime(iso, ui.zone, ui.now);
  ui.open(pagerScreen, {
    title: `Delivery ${one.id}`,
    lines: (width) =>
      factLines([
        ["Event", `${one.kind}${one.event_id === null ? "" : ` (number ${one.event_id})`}`],
        ["State", stateSpan(one)],
        ["Queued", time(one.created_at)],
        ["Last try", time(one.last_at)],
        ["Tries", String(one.attempts)],
        ["Next try", time(one.next_at)],
        ["Status", one.last_status === null ? null : String(one.last_status)],
        ["Error", one.last_error],
        ["Settled", time(one.settled_at)],
        ["Delivery id", one.delivery_id],
      ], width).map((line) => [span(" "), ...line]),
  });
}
