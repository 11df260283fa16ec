import type { Database } from "../../db/database.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { sumOfOrg, sumsByPod } from "../../db/stores/spend_sums.ts";
import { AppError } from "../errors.ts";
import { settingsOf } from "../identity/org_settings.ts";
import { monthOf } from "./months.ts";
import { LOOK_MS } from "./stretches.ts";
import { usdText } from "./usd_text.ts";

/** At this part of the budget the org is warned. */
const WARNING_PERCENT = 80;

/** How an org stands with its budget in the month (UTC) of `now`. USD; `none` where the org has no budget. */
export interface BudgetState {
  readonly month: string;
  readonly monthlyUsd: number | null;
  readonly spentUsd: number;
  readonly percent: number | null;
  readonly state: "none" | "ok" | "warning" | "reached";
}

/** Reads the state of an org's budget: one query. */
export function budgetState(db: Database, org: Org, now: number): BudgetState {
  const { name, from, to } = monthOf(now);
  const { running, storage } = sumOfOrg(db, { orgId: org.id, from, to, now, lookMs: LOOK_MS });
  const spentUsd = running + storage;
  const monthlyUsd = settingsOf(org).monthly_budget_usd;
  if (monthlyUsd === null) return { month: name, monthlyUsd, spentUsd, percent: null, state: "none" };
  const percent = spentUsd / monthlyUsd * 100;
  const state = percent >= 100 ? "reached" : percent >= WARNING_PERCENT ? "warning" : "ok";
  return { month: name, monthlyUsd, spentUsd, percent, state };
}

/** Is the month's budget spent? No query where the org has no budget. */
export function budgetReached(db: Database, org: Org, now: number): boolean {
  return settingsOf(org).monthly_budget_usd !== null && budgetState(db, org, now).state === "reached";
}

/**
 * Refuses what would cost money once the month's budget is spent, with `budget_reached`, unless the caller says
 * `over_budget`.
 */
export function refuseOverBudget(db: Database, org: Org, now: number, overBudget: boolean): void {
  if (overBudget || settingsOf(org).monthly_budget_usd === null) return;
  const { state, spentUsd, monthlyUsd, month } = budgetState(db, org, now);
  if (state !== "reached" || monthlyUsd === null) return;
  throw new AppError(
    "budget_reached",
    `The budget of ${month} is spent: ${usdText(spentUsd)} of ${usdText(monthlyUsd)} USD; ` +
      'send "over_budget": true to go on all the same',
  );
}

/** What each pod of an org cost in the month (UTC) of `now`, in USD, by our own id of the pod: one query. */
export function monthCostByPod(db: Database, orgId: number, now: number): Map<string, number> {
  const { from, to } = monthOf(now);
  const sums = sumsByPod(db, { orgId, from, to, now, lookMs: LOOK_MS });
  return new Map(sums.map(({ podId, running, storage }) => [podId, usd(running + storage)]));
}

/** An amount as answers give it: four decimals. */
export function usd(amount: number): number {
  return Math.round(amount * 10_000) / 10_000;
}
