import { Hono } from "hono";
import type { Database } from "../../db/database.ts";
import { accountMoney } from "../../db/stores/account_money.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { rateOfOrg } from "../../db/stores/spend_sums.ts";
import { type Clock, isoTime } from "../clock.ts";
import { query } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import { hoursOfBalance } from "./account.ts";
import { billingCheck } from "./billing_check.ts";
import { budgetState, usd } from "./budget.ts";
import { spendReport } from "./report.ts";
import { spanOf, spendQuery } from "./span.ts";

interface SpendDeps {
  readonly db: Database;
  readonly clock: Clock;
}

/** `GET /spend` under `/api/compute/<org>`: what was spent, by pod, month or session, and how the org stands. */
export function spendRoutes(deps: SpendDeps & { readonly guards: Guards }) {
  return new Hono<Env>().get("/spend", deps.guards.officer, query(spendQuery), (c) => {
    const now = deps.clock.now();
    const org = orgOf(c);
    const { group, ...times } = c.req.valid("query");
    const span = spanOf(times, now);
    return c.json({
      currency: "USD" as const,
      group,
      from: isoTime(span.from),
      to: isoTime(span.to),
      ...spendReport(deps.db, org, span, group, now),
      ...standing(deps.db, org, now),
    });
  });
}

/** How the org stands now: budget, rate, balance, how long they last, and RunPod's own bill beside ours. */
function standing(db: Database, org: Org, now: number) {
  const account = accountMoney(db, org.id);
  const budget = budgetState(db, org, now);
  const rate = rateOfOrg(db, org.id);
  const balance = account?.balance ?? null;
  return {
    budget: {
      monthly_usd: budget.monthlyUsd,
      spent_usd: usd(budget.spentUsd),
      percent: budget.percent === null ? null : Math.round(budget.percent * 100) / 100,
      state: budget.state,
    },
    rate_per_hour: usd(rate),
    balance: {
      usd: balance === null ? null : usd(balance),
      read_at: timeOrNull(account?.read_at ?? null),
      error: account?.error ?? null,
    },
    ...hoursLeft({
      balance: balance === null ? null : hoursOfBalance(balance, rate, account?.spend_per_hour ?? null),
      budget: budget.monthlyUsd === null || rate === 0 ? null : Math.max(0, budget.monthlyUsd - budget.spentUsd) / rate,
    }),
    runpod_billing: billingCheck(db, org.id, account, now),
  };
}

/** The nearer of the two ends in hours, with one decimal, and which it is; null when neither is in sight. */
function hoursLeft(until: { readonly balance: number | null; readonly budget: number | null }) {
  const { balance, budget } = until;
  const isBudget = (budget ?? Infinity) <= (balance ?? Infinity);
  const hours = isBudget ? budget : balance;
  return {
    hours_left: hours === null ? null : Math.round(hours * 10) / 10,
    hours_left_until: hours === null ? null : isBudget ? "budget" as const : "balance" as const,
  };
}

const timeOrNull = (ms: number | null) => ms === null ? null : isoTime(ms);
