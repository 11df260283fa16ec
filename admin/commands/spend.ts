import { usdText } from "../../server/spend/usd_text.ts";
import { type Api, read } from "../client/api.ts";
import { withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { facts, shortTime, table } from "./text.ts";

export interface SpendFlags {
  readonly from?: string;
  readonly to?: string;
  readonly group: string;
}

type Spend = Awaited<ReturnType<Awaited<ReturnType<Api["org"]["spend"]["$get"]>>["json"]>>;

const KEYS: Readonly<Record<Spend["group"], string>> = {
  pod: "POD",
  month: "MONTH",
  session: "SESSION",
  org: "ORG",
};

/** `orgpods spend`: what was spent, and how the org stands. Amounts are USD. */
export async function showSpend(shell: Shell, flags: SpendFlags): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const query = {
      ...(flags.from === undefined ? {} : { from: flags.from }),
      ...(flags.to === undefined ? {} : { to: flags.to }),
      // The server names the groups it knows when it gets another.
      group: flags.group as Spend["group"],
    };
    const answer = await read(api.org.spend.$get({ param: { org }, query }));
    for (const line of remarksOn(answer.value)) await shell.say(line);
    await shell.result(answer, (spend) => `${rowsOf(spend)}\n\n${standingOf(spend)}`);
  });
}

function rowsOf(spend: Spend): string {
  const amounts = (row: Spend["total"]) => [
    usdText(row.amount),
    usdText(row.running_amount),
    usdText(row.storage_amount),
    row.running_hours.toFixed(1),
    row.unsure === 0 ? null : `up to ${usdText(row.unsure)}`,
  ];
  return table(
    [KEYS[spend.group], "NAME", "USD", "RUNNING", "STORAGE", "HOURS", "UNSURE"],
    [
      ...spend.rows.map((row) => [
        row.key,
        row.terminated === true ? `${row.name ?? ""} (terminated)` : row.name,
        ...amounts(row),
      ]),
      ["total", null, ...amounts(spend.total)],
    ],
  );
}

function standingOf(spend: Spend): string {
  const { budget, rate_per_hour, balance, hours_left, hours_left_until, runpod_billing: bill } = spend;
  return facts([
    ["Time", `${shortTime(spend.from)} to ${shortTime(spend.to)}`],
    [
      "Budget",
      budget.monthly_usd === null
        ? `none; ${usdText(budget.spent_usd)} spent this month`
        : `${usdText(budget.spent_usd)} of ${usdText(budget.monthly_usd)} spent this month, ${budget.percent} %`,
    ],
    ["USD per hour now", usdText(rate_per_hour)],
    ["Balance", balance.usd === null ? null : `${usdText(balance.usd)} (as of ${shortTime(balance.read_at)})`],
    ["Hours left", hours_left === null ? null : `${hours_left} (until the ${hours_left_until})`],
    [
      "RunPod's bill",
      bill.from === null ? null : `${usdText(bill.runpod_usd)}, counted here ${usdText(bill.own_usd)} ` +
        `(${shortTime(bill.from)} to ${shortTime(bill.to)})`,
    ],
  ]);
}

/** What an officer should not overlook. */
function remarksOn({ budget, balance, runpod_billing: bill }: Spend): string[] {
  return [
    ...(budget.state === "reached" ? ["warning: The month's budget is spent: starts and creates are refused."] : []),
    ...(budget.state === "warning" ? ["warning: Most of the month's budget is spent."] : []),
    ...(balance.error === null ? [] : [`The balance could not be read: ${balance.error}.`]),
    ...(bill.error === null ? [] : [`RunPod's bill could not be read: ${bill.error}.`]),
    ...(bill.differs ? [`warning: RunPod's bill differs from what was counted here${percentOf(bill)}.`] : []),
    ...bill.pods.map((pod) =>
      `warning: ${pod.name ?? pod.pod_id}: RunPod billed ${usdText(pod.runpod_usd)}, counted here ${
        usdText(pod.own_usd)
      }` +
      `${percentOf(pod)}.`
    ),
  ];
}

function percentOf({ difference_percent: percent }: { difference_percent: number | null }): string {
  return percent === null ? "" : ` (${percent > 0 ? "+" : ""}${percent} %)`;
}
