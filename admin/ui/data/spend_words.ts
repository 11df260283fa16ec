/** Money in the words that officers read. */
import { wrap } from "../text/cells.ts";
import { type Line, line, type Span, span } from "../text/line.ts";
import { ago, money, rate } from "../text/units.ts";
import { bar } from "../widgets/bars.ts";
import type { Fact } from "../widgets/facts.ts";
import type { BudgetSettings, Spend, SpendRow } from "./spend.ts";

/** What would be written as $0.000 is not worth a warning. */
const isTold = (unsure: number) => unsure >= 0.0005;

/** An amount; `?` says that more may have been spent. */
export function amountText({ amount, unsure }: Pick<SpendRow, "amount" | "unsure">): string {
  return `${money(amount)}${isTold(unsure) ? "?" : ""}`;
}

/** What may have been spent beside an amount; empty when all is sure. */
export function unsureText({ unsure }: Pick<SpendRow, "unsure">): string {
  return isTold(unsure) ? `up to ${money(unsure)} more` : "";
}

export function hoursText(hours: number): string {
  return `${hours.toFixed(1)} h`;
}

/** The name of a row: the pod, the month, or the session. */
export function spendName({ group }: Pick<Spend, "group">, row: SpendRow): string {
  if (group === "month") return row.key;
  if (row.name !== null) return `${row.name}${row.terminated === true ? " (terminated)" : ""}`;
  return group === "session" && row.pod_id !== null ? `session ${row.key}` : row.key;
}

/** How the budget stands: a bar, the amounts, the part that is spent. */
export function budgetLine({ budget }: Spend, width: number): Line {
  const { monthly_usd, spent_usd, percent, state } = budget;
  if (monthly_usd === null) return line(` Budget: none; ${money(spent_usd)} spent this month`);
  const tone: Span["tone"] = state === "reached" ? "bad" : state === "warning" ? "warn" : "good";
  const mark = state === "ok" ? "" : "! ";
  const text = `${mark}${money(spent_usd)} of ${money(monthly_usd)} (${Math.floor(percent ?? 0)} %)`;
  const room = Math.min(30, width - text.length - 12);
  return line(" Budget  ", ...(room < 4 ? [] : [span(bar((percent ?? 0) / 100, room), tone), "  "]), span(text, tone));
}

/** How long the money lasts: the nearer of budget and balance. */
export function leftText({ hours_left, hours_left_until, rate_per_hour, balance }: Spend): string {
  const now = `now ${rate(rate_per_hour)} with disks`;
  const has = balance.usd === null ? "" : `, balance ${money(balance.usd)}`;
  if (hours_left === null) return `${now}${has}`;
  const end = hours_left_until === "budget" ? "the budget is spent" : "the balance is used up";
  return `${hoursLeftText(hours_left, end)}; ${now}${has}`;
}

/** How many hours are left, from two days on in days too: `3,156 hours left until … (131 days)`. */
function hoursLeftText(hours: number, end: string): string {
  if (hours < 48) return `${hours.toFixed(1)} hours left until ${end}`;
  return `${Math.floor(hours).toLocaleString("en-US")} hours left until ${end} (${Math.floor(hours / 24)} days)`;
}

/** What an officer should not overlook. */
export function spendWarnings(
  { budget, balance, runpod_billing: bill, total }: Spend,
  money_: BudgetSettings | undefined,
) {
  const stops = money_?.stop_at_budget === true ? ", and running pods are stopped" : "";
  const percent = (value: number | null) => value === null ? "" : ` (${value > 0 ? "+" : ""}${value} %)`;
  return [
    ...(budget.state === "reached" ? [`The month's budget is spent: starts and creates are refused${stops}.`] : []),
    ...(budget.state === "warning"
      ? [`Most of the month's budget is spent; at 100 % starts are refused${stops}.`]
      : []),
    ...(isTold(total.unsure)
      ? [`Up to ${money(total.unsure)} more may have been spent: nobody looked for a while, and RunPod does not tell.`]
      : []),
    ...(balance.error === null ? [] : [`The balance could not be read: ${balance.error}.`]),
    ...(bill.error === null ? [] : [`RunPod's bill could not be read: ${bill.error}.`]),
    ...(bill.differs ? [`RunPod's bill differs from what was counted here${percent(bill.difference_percent)}.`] : []),
    ...bill.pods.map((pod) =>
      `${pod.name ?? pod.pod_id}: RunPod billed ${money(pod.runpod_usd)}, counted here ${money(pod.own_usd)}${
        percent(pod.difference_percent)
      }.`
    ),
  ];
}

export function warningLines(texts: readonly string[], width: number): Line[] {
  return texts.flatMap((text) => wrap(`! ${text}`, width - 2)).map((text) => line(span(` ${text}`, "warn")));
}

/** All that is known of one row and of the org's money. */
export function spendFacts(
  spend: Spend,
  row: SpendRow,
  podName: string | null,
  now: number,
  time: (iso: string) => string,
) {
  const { balance, runpod_billing: bill } = spend;
  const facts: Fact[] = [
    ["What", spendName(spend, row)],
    ["Pod", spend.group === "session" ? podName ?? row.pod_id : row.pod_id],
    ["Spent", money(row.amount)],
    ["Not sure", isTold(row.unsure) ? span(unsureText(row), "warn") : null],
    ["Running", `${money(row.running_amount)} for ${hoursText(row.running_hours)}`],
    ["Storage", money(row.storage_amount)],
    ["Started", row.started_at === null ? null : time(row.started_at)],
    ["Ended", row.finished_at === null ? null : time(row.finished_at)],
    [
      "Balance",
      balance.usd === null
        ? null
        : `${money(balance.usd)}${balance.read_at === null ? "" : `, as of ${ago(balance.read_at, now)}`}`,
    ],
    [
      "RunPod's bill",
      bill.from === null || bill.to === null
        ? null
        : `${money(bill.runpod_usd)}, counted here ${money(bill.own_usd)}, ${time(bill.from)} to ${time(bill.to)}`,
    ],
  ];
  return facts;
}
