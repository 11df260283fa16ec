import { read } from "../../client/api.ts";
import { defineScreen, type Ui } from "../core/screen.ts";
import { personText } from "../data/members.ts";
import { type Webhook, webhooksResource } from "../data/settings.ts";
import { BLANK, type Line, span } from "../text/line.ts";
import { ago, localTime } from "../text/units.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { factLines } from "../widgets/facts.ts";
import { listOf, type ListState, NEW_LIST, upperHalf } from "../widgets/list.ts";
import { drawReading } from "../widgets/reading.ts";
import type { TableSpec } from "../widgets/table.ts";
import { deliveriesScreen } from "./deliveries.ts";
import { put, tell } from "./webhook_put.ts";

const NONE: readonly Webhook[] = [];
/** Their schema brings the rules for addresses along, which nothing else of the admin needs. */
const forms = () => import("./webhook_forms.ts");

const stateOf = (hook: Webhook) =>
  hook.is_enabled ? span("● on") : hook.disabled_at === null ? span("○ off") : span("! off by refusals", "bad");
const sentText = (hook: Webhook, now: number) => hook.last_sent_at === null ? "never" : ago(hook.last_sent_at, now);

const specOf = (ui: Ui): TableSpec<Webhook> => ({
  columns: [
    {
      id: "name",
      title: "NAME",
      width: 14,
      grow: 2,
      most: 40,
      priority: 0,
      cell: (one) => one.name,
      sortBy: (one) => one.name,
    },
    { id: "state", title: "STATE", width: 17, priority: 0, cell: stateOf, sortBy: (one) => stateOf(one).text },
    { id: "sent", title: "LAST SENT", width: 12, priority: 1, cell: (one) => sentText(one, ui.now) },
    {
      id: "error",
      title: "LAST ERROR",
      width: 14,
      grow: 2,
      priority: 2,
      cell: (one) => span(one.last_error ?? "", "warn"),
    },
    { id: "format", title: "FORMAT", width: 7, priority: 3, cell: (one) => one.format, sortBy: (one) => one.format },
    { id: "waiting", title: "WAITING", width: 7, priority: 4, align: "right", cell: (one) => String(one.waiting) },
  ],
  keyOf: (one) => String(one.id),
  textOf: (one) => `${one.name} ${one.format} ${one.url_hint} ${one.kinds.join(" ")} ${one.last_error ?? ""}`,
});

const list = listOf<null, ListState, Webhook>({
  spec: specOf,
  all: (at) => at.read(webhooksResource).value ?? NONE,
  height: upperHalf,
});

/** Where events are sent to. */
export const webhooksScreen = defineScreen<null, ListState>({
  id: "webhooks",
  command: { word: "webhooks", about: "where events are sent to", open: () => null },
  title: (at) => `Webhooks ${list.count(at)}`,
  about: "Where events are sent to. A webhook that refuses again and again is switched off; its addresses stay hidden.",
  init: () => NEW_LIST,
  hasFilter: true,
  actions: [
    {
      keys: ["enter"],
      label: "deliveries",
      about: "what was sent to the selected webhook, and sending it again",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => at.open(deliveriesScreen, { id: list.selected(at)!.id, name: list.selected(at)!.name }),
    },
    ...list.actions,
    {
      keys: ["n", "a"],
      word: "add-webhook",
      label: "add",
      about: "add a webhook",
      run: (at) => at.openLate(forms, ({ openAddForm }) => openAddForm(at)),
    },
    {
      keys: ["e"],
      word: "change",
      label: "change",
      about: "change name, address or events of the selected webhook",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => {
        const hook = list.selected(at)!;
        return at.openLate(forms, ({ openChangeForm }) => openChangeForm(at, hook));
      },
    },
    {
      keys: ["t"],
      word: "test",
      label: "test",
      about: "send a test now, and see what comes of it",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => test(at, list.selected(at)!),
    },
    {
      keys: ["x"],
      word: "switch-off",
      label: "off",
      about: "switch the selected webhook off; asks first",
      when: (at) => list.selected(at)?.is_enabled === true,
      run: (at) => confirmOff(at, list.selected(at)!),
    },
    {
      keys: ["s"],
      word: "switch-on",
      label: "on",
      about: "switch the selected webhook on again",
      when: (at) => list.selected(at)?.is_enabled === false,
      run: (at) => switchOn(at, list.selected(at)!),
    },
    {
      keys: ["N"],
      word: "new-secret",
      label: "new secret",
      about: "make a new signing secret; the old one ends at once, so it asks first",
      when: (at) => list.selected(at)?.format === "signed",
      run: (at) => confirmSecret(at, list.selected(at)!),
    },
    {
      keys: ["D"],
      word: "delete",
      label: "delete",
      about: "delete the selected webhook with its deliveries; asks first",
      when: (at) => list.selected(at) !== undefined,
      run: (at) => confirmDelete(at, list.selected(at)!),
    },
  ],
  view: (at) =>
    drawReading(at.read(webhooksResource), at.width, at.height, (): Line[] => {
      const table = list.draw(at, at.filter === "" ? "There is no webhook; n adds one." : "No webhook is like that.");
      const hook = list.selected(at);
      return hook === undefined ? table : [...table, BLANK, ...hookLines(at, hook)];
    }),
});

function hookLines(at: Ui & { readonly width: number }, hook: Webhook): Line[] {
  const { disabled_at, disabled_why, last_error, last_error_at } = hook;
  const time = (iso: string) => localTime(iso, at.zone, at.now);
  return factLines([
    ["Address", hook.url_hint],
    ["Events", hook.kinds.join(", ") || "all"],
    ["Switched off", disabled_at === null ? null : span(`${time(disabled_at)}: ${disabled_why ?? ""}`, "bad")],
    [
      "Last error",
      last_error === null
        ? null
        : span(`${last_error_at === null ? "" : `${time(last_error_at)}: `}${last_error}`, "warn"),
    ],
    ["Last sent", hook.last_sent_at === null ? "never" : time(hook.last_sent_at)],
    ["Waiting", hook.waiting === 0 ? null : String(hook.waiting)],
    ["Dropped", hook.dropped_24h === 0 ? null : `${hook.dropped_24h} in 24 hours`],
    ["Added", `${time(hook.created_at)} by ${hook.created_by === null ? "somebody" : personText(at, hook.created_by)}`],
  ], at.width - 2).map((one) => [span(" "), ...one]);
}

async function test(ui: Ui, hook: Webhook): Promise<void> {
  const delivery = await ui.call(
    `Test ${hook.name}`,
    async (api, org) =>
      (await read(api.org.webhooks[":id"].test.$post({ param: { org, id: String(hook.id) } }))).value.delivery,
  );
  if (delivery === null) return;
  if (delivery.state === "sent") ui.say(`The test was sent to ${hook.name} (status ${delivery.last_status})`);
  else ui.say(`The test of ${hook.name} failed: ${delivery.last_error ?? "no reason is known"}`, "bad");
}

function confirmOff(ui: Ui, hook: Webhook): void {
  ui.open(confirmScreen, {
    title: `Switch ${hook.name} off`,
    lines: () => [
      "It gets no events until it is switched on again; those of the meantime are not sent later.",
      ...(hook.waiting === 0
        ? []
        : [{ text: `${hook.waiting} that wait to be sent are dropped.`, isWarning: true } as const]),
    ],
    yes: "switch it off",
    onYes: async (at) => {
      if (await at.call(`Switch ${hook.name} off`, (api, org) => put(api, org, hook, { is_enabled: false })) !== null) {
        at.say(`${hook.name} is off`);
      }
    },
  });
}

async function switchOn(ui: Ui, hook: Webhook): Promise<void> {
  const done = await ui.call(`Switch ${hook.name} on`, (api, org) => put(api, org, hook, { is_enabled: true }));
  if (done !== null) ui.say(`${hook.name} is on`);
}

function confirmSecret(ui: Ui, hook: Webhook): void {
  ui.open(confirmScreen, {
    title: `New secret for ${hook.name}`,
    lines: () => ["The old secret ends at once: until your program has the new one, it refuses what is sent."],
    yes: "make a new one",
    onYes: async (at) => {
      const done = await at.call(
        `New secret for ${hook.name}`,
        (api, org) => put(api, org, hook, { rotate_secret: true }),
      );
      if (done !== null) tell(at, done, "has a new secret");
    },
  });
}

function confirmDelete(ui: Ui, hook: Webhook): void {
  ui.open(confirmScreen, {
    title: `Delete ${hook.name}`,
    lines: () => ["It gets no events any more, and the list of what was sent to it goes, too."],
    yes: "delete it",
    onYes: async (at) => {
      const done = await at.call(
        `Delete ${hook.name}`,
        (api, org) => read(api.org.webhooks[":id"].$delete({ param: { org, id: String(hook.id) } })),
      );
      if (done !== null) at.say(`The webhook ${hook.name} is deleted`);
    },
  });
}
