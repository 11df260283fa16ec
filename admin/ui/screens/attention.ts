import { read } from "../../client/api.ts";
import { attentionActionSchema } from "../../../server/pods/attention_request.ts";
import { type At, defineScreen, type Ui } from "../core/screen.ts";
import { type Attention, attentionResource } from "../data/pods.ts";
import { BLANK, type Line, span } from "../text/line.ts";
import { ago } from "../text/units.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { factLines } from "../widgets/facts.ts";
import { formScreen } from "../widgets/form/screen.ts";
import { listOf, type ListState, NEW_LIST, upperHalf } from "../widgets/list.ts";
import { drawReading } from "../widgets/reading.ts";
import type { TableSpec } from "../widgets/table.ts";

type AttentionAt = At<null, ListState>;

const NONE: readonly Attention[] = [];

const specOf = (ui: Ui): TableSpec<Attention> => ({
  columns: [
    {
      id: "kind",
      title: "WHAT",
      width: 18,
      priority: 0,
      cell: (one) => span(`! ${one.kind.replaceAll("_", " ")}`, "bad"),
      sortBy: (one) => one.kind,
    },
    {
      id: "name",
      title: "POD",
      width: 12,
      grow: 1,
      most: 30,
      priority: 0,
      cell: (one) => one.name ?? one.pod_id ?? "",
      sortBy: (one) => one.name,
    },
    {
      id: "since",
      title: "SINCE",
      width: 12,
      priority: 1,
      cell: (one) => ago(one.since, ui.now),
      sortBy: (one) => Date.parse(one.since),
    },
    { id: "text", title: "", width: 20, grow: 3, priority: 2, cell: (one) => one.what },
  ],
  keyOf: (one) => one.id,
  textOf: (one) => `${one.kind} ${one.name ?? ""} ${one.pod_id ?? ""} ${one.what}`,
});

const list = listOf<null, ListState, Attention>({
  spec: specOf,
  all: (at) => at.read(attentionResource).value ?? NONE,
  height: upperHalf,
});
const offers = (at: AttentionAt, action: "adopt" | "forget") => list.selected(at)?.actions.includes(action) === true;

/** What is not settled, or not as it should be, with what to do. */
export const attentionScreen = defineScreen<null, ListState>({
  id: "attention",
  command: { word: "attention", about: "what is not settled, and what to do about it", open: () => null },
  title: (at) => `Attention ${list.count(at)}`,
  about:
    "Creates and actions of which it is not known what came of them, pods that nobody here made, and pods that are " +
    "not as they should be. Entries go by themselves when the matter is settled.",
  init: () => NEW_LIST,
  hasFilter: true,
  actions: [
    ...list.actions,
    {
      keys: ["a"],
      word: "adopt",
      label: "adopt",
      about: "take the pod into the list, to see and control it here",
      when: (at) => offers(at, "adopt"),
      run: (at) => adopt(at, list.selected(at)!),
    },
    {
      keys: ["f"],
      word: "forget",
      label: "forget",
      about: "take the entry off the list; asks first",
      when: (at) => offers(at, "forget"),
      run: (at) => forget(at, list.selected(at)!),
    },
  ],
  view: (at) =>
    drawReading(at.read(attentionResource), at.width, at.height, (): Line[] => {
      const table = list.draw(at, at.filter === "" ? "All is settled." : "Nothing fits the filter; esc shows all.");
      const one = list.selected(at);
      if (one === undefined) return table;
      return [
        ...table,
        BLANK,
        ...factLines([
          ["What", span(one.what, "bad")],
          ["What to do", one.todo],
          ["Pod", [one.name, one.pod_id].filter(Boolean).join(", ")],
          ["Asked by", one.asked_by],
        ], at.width - 2),
      ];
    }),
});

/** A create whose answer was lost is adopted by the id that RunPod's console shows; for others the id is known. */
function adopt(ui: Ui, one: Attention): void {
  if (one.pod_id === null) {
    ui.open(formScreen, {
      title: `Adopt ${one.name ?? "a pod"}`,
      fields: [{ name: "runpod_id", label: "RunPod id", kind: "text", hint: "As RunPod's console shows it." }],
      schema: attentionActionSchema,
      body: (values) => ({ action: "adopt", ...values }),
      send: "Adopt",
      work: (body) => (api, org) =>
        read(
          api.org.attention[":id"].$post({
            param: { org, id: one.id },
            json: body as { action: "adopt"; runpod_id: string },
          }),
        ),
      done: (_, at) => at.say("The pod is adopted"),
    });
    return;
  }
  ui.open(confirmScreen, {
    title: `Adopt ${one.name ?? one.pod_id}`,
    lines: () => [one.what, "It is then in the list, and officers can use, stop and terminate it here."],
    yes: "adopt it",
    onYes: async (at) => {
      const done = await at.call(
        "Adopt",
        (api, org) => read(api.org.attention[":id"].$post({ param: { org, id: one.id }, json: { action: "adopt" } })),
      );
      if (done !== null) at.say("The pod is adopted");
    },
  });
}

function forget(ui: Ui, one: Attention): void {
  ui.open(confirmScreen, {
    title: "Forget this entry",
    lines: () => [one.what, {
      text: "Nothing is done to the pod. If it exists, it goes on costing money.",
      isWarning: true,
    }],
    yes: "forget it",
    onYes: async (at) => {
      const done = await at.call(
        "Forget",
        (api, org) => read(api.org.attention[":id"].$post({ param: { org, id: one.id }, json: { action: "forget" } })),
      );
      if (done !== null) at.say("The entry is forgotten");
    },
  });
}
