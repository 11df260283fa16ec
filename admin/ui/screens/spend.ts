import { monthOf } from "../../../server/spend/months.ts";
import { type At, defineScreen, type Ui } from "../core/screen.ts";
import { podsResource } from "../data/pods.ts";
import {
  budgetSettingsResource,
  monthAfter,
  MONTHS,
  type Spend,
  type SpendGroup,
  spendResource,
  type SpendRow,
} from "../data/spend.ts";
import {
  amountText,
  budgetLine,
  hoursText,
  leftText,
  spendFacts,
  spendName,
  spendWarnings,
  unsureText,
  warningLines,
} from "../data/spend_words.ts";
import { wrap } from "../text/cells.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { localTime, money } from "../text/units.ts";
import { bar } from "../widgets/bars.ts";
import { factLines } from "../widgets/facts.ts";
import { pagerScreen } from "../widgets/pager.ts";
import { listOf, type ListState, NEW_LIST } from "../widgets/list.ts";
import { drawReading } from "../widgets/reading.ts";
import type { Column, TableSpec } from "../widgets/table.ts";
import { openBudgetForm } from "./budget_form.ts";

interface State extends ListState {
  readonly group: SpendGroup;
  /** Such as `2026-11`; null for the present one, whichever that is. */
  readonly month: string | null;
}

type SpendAt = At<null, State>;

/** Earlier months cannot have cost anything. */
const FIRST_MONTH = "2020-01";
const NONE: readonly SpendRow[] = [];

const thisMonth = (at: Ui) => monthOf(at.now).name;
const monthIn = (at: SpendAt) => at.state.month ?? thisMonth(at);
const readingOf = (at: SpendAt) => at.read(spendResource(at.state.group, monthIn(at)));

const newestFirst = new WeakMap<readonly SpendRow[], readonly SpendRow[]>();

/** Pods come by their amount; months and sessions are turned round, so that the newest stands first. */
function allOf(at: SpendAt): readonly SpendRow[] {
  const rows = readingOf(at).value?.rows ?? NONE;
  if (at.state.group === "pod") return rows;
  let turned = newestFirst.get(rows);
  if (turned === undefined) newestFirst.set(rows, turned = rows.toReversed());
  return turned;
}

const podName = (ui: Ui, id: string | null) =>
  ui.read(podsResource).value?.pods.find((pod) => pod.id === id)?.name ?? null;

function specOf(at: SpendAt): TableSpec<SpendRow> {
  const { group } = at.state;
  const most = Math.max(0, ...(readingOf(at).value?.rows ?? NONE).map(({ amount }) => amount));
  const barWidth = at.width < 60 ? 8 : at.width < 100 ? 16 : 30;
  const ofSession: Column<SpendRow>[] = [
    {
      id: "pod",
      title: "POD",
      width: 10,
      grow: 1,
      most: 24,
      priority: 2,
      cell: ({ pod_id }) => podName(at, pod_id) ?? pod_id ?? "",
    },
    {
      id: "started",
      title: "STARTED",
      width: 16,
      priority: 3,
      cell: ({ started_at }) => started_at === null ? "" : localTime(started_at, at.zone, at.now),
      sortBy: ({ started_at }) => started_at,
    },
  ];
  return {
    columns: [
      {
        id: "name",
        title: { pod: "POD", month: "MONTH", session: "SESSION" }[group],
        width: 12,
        grow: 3,
        most: 40,
        priority: 0,
        cell: (row) => spendName({ group }, row),
        sortBy: (row) => spendName({ group }, row),
      },
      ...(group === "session" ? ofSession : []),
      {
        id: "amount",
        title: "SPENT",
        width: 9,
        priority: 0,
        align: "right",
        cell: amountText,
        sortBy: ({ amount }) => amount,
      },
      {
        id: "bar",
        title: "",
        width: barWidth,
        priority: 1,
        cell: ({ amount }) => span(bar(most === 0 ? 0 : amount / most, barWidth), "accent"),
      },
      {
        id: "hours",
        title: "RUNNING",
        width: 9,
        priority: 4,
        align: "right",
        cell: ({ running_hours }) => hoursText(running_hours),
        sortBy: ({ running_hours }) => running_hours,
      },
      {
        id: "storage",
        title: "STORAGE",
        width: 9,
        priority: 6,
        align: "right",
        cell: ({ storage_amount }) => money(storage_amount),
        sortBy: ({ storage_amount }) => storage_amount,
      },
      {
        id: "unsure",
        title: "NOT SURE",
        width: 16,
        priority: 5,
        cell: (row) => span(unsureText(row), "warn"),
        sortBy: ({ unsure }) => unsure,
      },
    ],
    keyOf: ({ key }) => key,
    textOf: (row) => `${spendName({ group }, row)} ${row.key} ${row.pod_id ?? ""} ${podName(at, row.pod_id) ?? ""}`,
    isDim: ({ amount }) => amount === 0,
  };
}

const list = listOf<null, State, SpendRow>({
  spec: specOf,
  all: allOf,
  height: (at) => at.height - headLines(at).length,
});
const canGoOn = (at: SpendAt) => monthIn(at) < thisMonth(at);

/** Another month; `to` is the present one when it is not over yet. */
function goTo(at: SpendAt, month: string, group: SpendGroup = at.state.group): void {
  at.set({ month: month >= thisMonth(at) ? null : month < FIRST_MONTH ? FIRST_MONTH : month, group, ...NEW_LIST });
}

const groupAction = (key: string, group: SpendGroup, label: string, about: string) => ({
  keys: [key],
  word: label.replace(" ", "-"),
  label,
  about,
  when: (at: SpendAt) => at.state.group !== group,
  run: (at: SpendAt) => at.set({ group, ...NEW_LIST }),
});

/** What was spent, by pod, month or session, and how long the money lasts. */
export const spendScreen = defineScreen<null, State>({
  id: "spend",
  command: { word: "spend", about: "what was spent, budget and hours left", open: () => null },
  title: (at) => {
    const { group } = at.state;
    if (group === "month") return `Spend of ${MONTHS} months to ${monthIn(at)}`;
    return `Spend of ${monthIn(at)} by ${group}`;
  },
  about:
    "What was spent, in USD; months are those of UTC. A ? behind an amount says that up to so much more (NOT SURE) may " +
    "have been spent, in times when nobody looked. Hours left are those until the budget is spent or the balance of the " +
    "RunPod account is used up, whichever is nearer.",
  init: () => ({ ...NEW_LIST, group: "pod", month: null }),
  hasFilter: true,
  actions: [
    {
      keys: ["b"],
      word: "budget",
      label: "budget",
      about: "set the month's budget, and what happens when it is spent",
      when: (at) => at.read(budgetSettingsResource).value !== undefined && readingOf(at).value !== undefined,
      run: (at) => openBudgetForm(at, at.read(budgetSettingsResource).value!, readingOf(at).value!.budget.spent_usd),
    },
    groupAction("p", "pod", "by pod", "one row for each pod"),
    groupAction("m", "month", "by month", "one row for each month"),
    groupAction("s", "session", "by session", "one row for each session, and one for all outside of them"),
    {
      keys: ["left", "["],
      label: "earlier",
      about: "the month before",
      when: (at) => monthIn(at) > FIRST_MONTH,
      run: (at) => goTo(at, monthAfter(monthIn(at), -1)),
    },
    {
      keys: ["right", "]"],
      label: "later",
      about: "the month after",
      when: canGoOn,
      run: (at) => goTo(at, monthAfter(monthIn(at), 1)),
    },
    {
      word: "month",
      takes: "<2026-11>",
      label: "month",
      about: "go to a month",
      run: (at, text) => {
        if (/^20\d\d-(0[1-9]|1[0-2])$/.test(text)) goTo(at, text);
        else at.say(`A month is written such as 2026-11: ${text}`, "bad");
      },
    },
    {
      keys: ["enter"],
      label: "open",
      about: "the month's pods, or all that is known of the selected row",
      when: (at) => list.selected(at) !== undefined,
      run: (at) =>
        at.state.group === "month" ? goTo(at, list.selected(at)!.key, "pod") : openRow(at, list.selected(at)!),
    },
    ...list.actions,
  ],
  view: (at) => {
    const head = headLines(at);
    return [
      ...head,
      ...drawReading(readingOf(at), at.width, at.height - head.length, (_, height) => {
        return list.draw(at, at.filter === "" ? "Nothing was spent." : "Nothing fits the filter; esc shows all.", {
          height,
        });
      }),
    ];
  },
});

/** The total, budget and hours left, then what should not be overlooked, as far as there is room beside the list. */
function headLines(at: SpendAt): Line[] {
  const spend = readingOf(at).value;
  if (spend === undefined) return [];
  const { total } = spend;
  const lines: Line[] = [
    line(
      span(` ${money(total.amount)}`, "strong"),
      ` spent, running ${money(total.running_amount)}, storage ${money(total.storage_amount)}`,
    ),
    budgetLine(spend, at.width),
    ...wrap(leftText(spend), at.width - 2).map((text) => line(` ${text}`)),
    ...warningLines(spendWarnings(spend, at.read(budgetSettingsResource).value), at.width),
  ];
  const room = Math.max(3, Math.floor(at.height / 2));
  return at.height < 12 ? lines.slice(0, room) : [...lines.slice(0, room), BLANK];
}

function openRow(at: SpendAt, row: SpendRow): void {
  const spend: Spend = readingOf(at).value!;
  const warnings = spendWarnings(spend, at.read(budgetSettingsResource).value);
  const name = podName(at, row.pod_id);
  const { zone, now } = at;
  at.open(pagerScreen, {
    title: spendName(spend, row),
    lines: (width) => [
      ...factLines(spendFacts(spend, row, name, now, (iso) => localTime(iso, zone, now)), width),
      BLANK,
      ...wrap(leftText(spend), width).map((text) => line(text)),
      ...warningLines(warnings, width),
    ],
  });
}
