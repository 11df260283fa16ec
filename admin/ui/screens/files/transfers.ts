import { defineScreen, type Ui } from "../../core/screen.ts";
import { isEnded, type Transfer } from "../../core/transfers.ts";
import { amountText } from "../../frame/transfer_text.ts";
import { wrap } from "../../text/cells.ts";
import { BLANK, type Line, line, type Span, span } from "../../text/line.ts";
import { factLines } from "../../widgets/facts.ts";
import { listOf, type ListState, NEW_LIST, upperHalf } from "../../widgets/list.ts";
import { progressLines } from "../../widgets/progress.ts";
import type { TableSpec } from "../../widgets/table.ts";

function stateSpan({ state, samples }: Transfer): Span {
  switch (state) {
    case "running":
      return span(`◐ ${amountText(samples)}`, "accent");
    case "stopping":
      return span("◐ stopping …", "warn");
    case "done":
      return span("● done", "good");
    case "cancelled":
      return span("○ cancelled", "dim");
    case "failed":
      return span("! failed", "bad");
  }
}

const SPEC: TableSpec<Transfer> = {
  columns: [
    { id: "what", title: "WHAT", width: 16, grow: 2, priority: 0, cell: (one) => one.title },
    { id: "state", title: "STATE", width: 14, grow: 1, most: 44, priority: 0, cell: stateSpan },
    { id: "place", title: "TO", width: 16, grow: 2, priority: 1, cell: (one) => one.place },
  ],
  keyOf: (one) => String(one.id),
  textOf: (one) => `${one.title} ${one.place} ${one.state}`,
};

const list = listOf<null, ListState, Transfer>({
  spec: () => SPEC,
  all: (at) => at.transfers.list(),
  height: upperHalf,
});
const hasEnded = (ui: Ui) => ui.transfers.list().some(isEnded);

/** Files on their way, and those that have been since the admin was opened. */
export const transfersScreen = defineScreen<null, ListState>({
  id: "transfers",
  command: { word: "transfers", about: "uploads and downloads, with cancel", open: () => null },
  title: (at) => `Transfers ${at.transfers.list().length}`,
  about: "Uploads, downloads and archives. They go on whatever screen is shown, until the admin is left.",
  init: () => NEW_LIST,
  hasFilter: true,
  actions: [
    {
      keys: ["c"],
      word: "cancel",
      label: "cancel",
      about: "stop the selected one; what is replaced by it stays as it was",
      when: (at) => list.selected(at)?.state === "running",
      run: (at) => at.transfers.cancel(list.selected(at)!.id),
    },
    ...list.actions,
    {
      keys: ["x"],
      word: "clear",
      label: "clear",
      about: "forget those that have ended",
      when: hasEnded,
      run: (at) => at.transfers.forgetEnded(),
    },
  ],
  view: (at) => {
    const table = list.draw(at, at.filter === "" ? "Nothing was sent or fetched yet." : "Nothing fits the filter.");
    const one = list.selected(at);
    return one === undefined ? table : [...table, BLANK, ...detailLines(one, at.width - 2)];
  },
});

function detailLines(one: Transfer, width: number): Line[] {
  const facts = factLines([["What", one.title], ["To", one.place]], width);
  if (!isEnded(one)) return [...facts, ...progressLines(one.samples, one.state === "stopping", width)];
  const tone = one.state === "failed" ? "bad" : undefined;
  return [...facts, ...wrap(one.note, width).map((text) => line(span(text, tone)))];
}
