import type { Database } from "../../db/database.ts";
import {
  type AccountMoney,
  accountMoney,
  pruneBilling,
  storeBalance,
  storeBalanceError,
  storeBilling,
  storeBillingError,
  storeLow,
} from "../../db/stores/account_money.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { rateOfOrg } from "../../db/stores/spend_sums.ts";
import { type Clock, DAY, HOUR, MINUTE, SECOND } from "../clock.ts";
import { AppError, asClause } from "../errors.ts";
import { raise } from "../events/raise.ts";
import { settingsOf } from "../identity/org_settings.ts";
import type { RunpodAccounts } from "../runpod/accounts.ts";
import { type Balance, RunpodError, toAppError } from "../runpod/client.ts";
import { usd } from "./budget.ts";

const BALANCE_EVERY_MS = 15 * MINUTE;
const BILLING_EVERY_MS = 6 * HOUR;
/** After a failure it is tried again sooner. */
const BILLING_AGAIN_MS = HOUR;
const BALANCE_TIMEOUT_MS = 10 * SECOND;
const BILLING_TIMEOUT_MS = 20 * SECOND;
/** How many whole days are compared with RunPod's bill, up to the last midnight (UTC). */
export const BILLED_DAYS = 3;
const BILLING_KEPT_MS = 400 * DAY;
/** An account that lasts for less than this at the present rate is low. */
const LOW_HOURS = 24;

export interface AccountDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly runpod: Pick<RunpodAccounts, "clientOf" | "hasKey">;
}

/** True when something last done at `then` is due again; a time ahead of the clock counts as never. */
function isDue(now: number, then: number | null, everyMs: number): boolean {
  return then === null || then > now || now - then >= everyMs;
}

/**
 * Reads the balance of an org's RunPod account when it is due (every 15 minutes), and raises `balance.low` once until
 * it has recovered. That RunPod does not tell it is stored as a text and disturbs nothing else.
 */
export async function lookAtBalance(deps: AccountDeps, org: Org, signal: AbortSignal): Promise<void> {
  const { db, clock } = deps;
  const known = accountMoney(db, org.id);
  if (!isDue(clock.now(), latest(known?.read_at, known?.error_at), BALANCE_EVERY_MS)) return;
  const read = await told(() => deps.runpod.clientOf(org).balance({ timeoutMs: BALANCE_TIMEOUT_MS, signal }));
  if (signal.aborted) return;
  const now = clock.now();
  db.tx(() => {
    if ("error" in read) return storeBalanceError(db, org.id, read.error, now);
    storeBalance(db, org.id, read.value, now);
    judgeBalance(db, org, read.value, known, now);
  });
}

/** Reads RunPod's bill of the last three whole days when it is due (every 6 hours). Failures as with the balance. */
export async function lookAtBilling(deps: AccountDeps, org: Org, signal: AbortSignal): Promise<void> {
  const { db, clock } = deps;
  const known = accountMoney(db, org.id);
  const askedAt = clock.now();
  if (!isDue(askedAt, known?.billing_read_at ?? null, BILLING_EVERY_MS)) return;
  if (!isDue(askedAt, known?.billing_error_at ?? null, BILLING_AGAIN_MS)) return;
  const span = billedSpan(askedAt);
  const read = await told(() => deps.runpod.clientOf(org).billing(span, { timeoutMs: BILLING_TIMEOUT_MS, signal }));
  if (signal.aborted) return;
  db.tx(() => {
    if ("error" in read) return storeBillingError(db, org.id, read.error, clock.now());
    storeBilling(db, org.id, span, read.value, askedAt);
    pruneBilling(db, askedAt - BILLING_KEPT_MS);
  });
}

/** The last whole days (UTC) before a time. */
export function billedSpan(at: number): { readonly from: number; readonly to: number } {
  const to = Math.floor(at / DAY) * DAY;
  return { from: to - BILLED_DAYS * DAY, to };
}

const latest = (...times: readonly (number | null | undefined)[]) => {
  const known = times.filter((time) => time !== null && time !== undefined);
  return known.length === 0 ? null : Math.max(...known);
};

/** What RunPod told, or why it did not: one sentence for officers. */
async function told<T>(ask: () => Promise<T>): Promise<{ readonly value: T } | { readonly error: string }> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (error instanceof RunpodError) return { error: asClause(toAppError(error).message) };
    if (error instanceof AppError) return { error: asClause(error.message) };
    throw error;
  }
}

/** Hours that a balance lasts at the present rate; null when nothing is being spent. */
export function hoursOfBalance(balance: number, ratePerHour: number, accountPerHour: number | null): number | null {
  // The account may pay for more than this org's pods.
  return ratePerHour > 0 ? Math.max(0, balance) / Math.max(ratePerHour, accountPerHour ?? 0) : null;
}

/**
 * Raises `balance.low` when the balance falls below the org's limit, or below 24 hours at the present rate. It has
 * recovered when neither holds after a payment, or by another limit: that pods were stopped for the night is no recovery.
 */
function judgeBalance(db: Database, org: Org, read: Balance, before: AccountMoney | undefined, now: number): void {
  const limit = settingsOf(org).balance_low_usd;
  if (limit === null) return storeLow(db, org.id, null);
  const since = before?.low_since ?? null;
  const rate = rateOfOrg(db, org.id);
  const hours = hoursOfBalance(read.balance, rate, read.spendPerHour);
  if (read.balance >= limit && (hours === null || hours >= LOW_HOURS)) {
    const wasPaid = read.balance > (before?.balance ?? Infinity);
    if (since !== null && (wasPaid || before?.low_limit !== limit)) storeLow(db, org.id, null);
    return;
  }
  storeLow(db, org.id, { since: since ?? now, limit });
  if (since !== null) return;
  raise(db, {
    orgId: org.id,
    kind: "balance.low",
    subject: org.name,
    details: {
      balance_usd: usd(read.balance),
      limit_usd: limit,
      rate_per_hour: usd(rate),
      hours_left: hours === null ? null : Math.round(hours * 10) / 10,
      what_happens: "At 0 RunPod stops pods and deletes those without a network volume, with their files.",
    },
  }, now);
}
