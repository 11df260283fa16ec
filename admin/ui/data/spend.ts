import { SECOND } from "../../../server/clock.ts";
import { monthOf } from "../../../server/spend/months.ts";
import { type Api, read } from "../../client/api.ts";
import type { Resource } from "../core/cache.ts";

/** What spend is listed by. */
export type SpendGroup = "pod" | "month" | "session";

/** Months that the list by month goes back, with the one it ends with; the API takes spans of 400 days. */
export const MONTHS = 13;

/** The month (UTC) so many months after one; both such as `2026-11`. */
export function monthAfter(month: string, months: number): string {
  const [year, number] = month.split("-").map(Number) as [number, number];
  return monthOf(Date.UTC(year, number - 1 + months)).name;
}

/** What was spent in a month (UTC), or (by month) in the months up to it; and how the org stands now. USD. */
export function spendResource(group: SpendGroup, month: string) {
  const from = group === "month" ? monthAfter(month, 1 - MONTHS) : month;
  return {
    key: `spend ${group} ${month}`,
    everyMs: 30 * SECOND,
    load: async (api: Api, org: string) => {
      const query = { group, from, to: monthAfter(month, 1) };
      return (await read(api.org.spend.$get({ param: { org }, query }))).value;
    },
  } satisfies Resource<unknown>;
}

export type Spend = Awaited<ReturnType<ReturnType<typeof spendResource>["load"]>>;
export type SpendRow = Spend["rows"][number];

/** The org's settings of money. */
export const budgetSettingsResource = {
  key: "settings of money",
  everyMs: 30 * SECOND,
  load: async (api: Api, org: string) => {
    const { settings } = (await read(api.org.settings.$get({ param: { org } }))).value;
    return { monthly_budget_usd: settings.monthly_budget_usd, stop_at_budget: settings.stop_at_budget };
  },
} satisfies Resource<unknown>;

export type BudgetSettings = Awaited<ReturnType<typeof budgetSettingsResource.load>>;
