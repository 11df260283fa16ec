import type { Database } from "../database.ts";

/** What RunPod's account told of its money, and what kept it from being told. USD, milliseconds UTC. */
export interface AccountMoney {
  readonly balance: number | null;
  readonly spend_per_hour: number | null;
  readonly read_at: number | null;
  readonly error: string | null;
  readonly error_at: number | null;
  /** Since when the balance is too low; null while it is not. */
  readonly low_since: number | null;
  /** The limit that held when it was last found too low. */
  readonly low_limit: number | null;
  readonly billing_read_at: number | null;
  readonly billing_error: string | null;
  readonly billing_error_at: number | null;
}

export function accountMoney(db: Database, orgId: number): AccountMoney | undefined {
  return db.get("select * from org_balance where org_id = ?", orgId);
}

export function storeBalance(
  db: Database,
  orgId: number,
  read: { readonly balance: number; readonly spendPerHour: number | null },
  now: number,
): void {
  db.run(
    "insert into org_balance (org_id, balance, spend_per_hour, read_at) values (?, ?, ?, ?) on conflict (org_id) " +
      "do update set balance = excluded.balance, spend_per_hour = excluded.spend_per_hour, " +
      "read_at = excluded.read_at, error = null, error_at = null",
    orgId,
    read.balance,
    read.spendPerHour,
    now,
  );
}

export function storeBalanceError(db: Database, orgId: number, error: string, now: number): void {
  db.run(
    "insert into org_balance (org_id, error, error_at) values (?, ?, ?) on conflict (org_id) " +
      "do update set error = excluded.error, error_at = excluded.error_at",
    orgId,
    error,
    now,
  );
}

/** Stores since when and by which limit the balance is too low; null when it has recovered. */
export function storeLow(db: Database, orgId: number, low: { since: number; limit: number } | null): void {
  db.run(
    "update org_balance set low_since = ?, low_limit = ? where org_id = ?",
    low?.since ?? null,
    low?.limit ?? null,
    orgId,
  );
}

export interface BilledDay {
  readonly runpodId: string;
  readonly dayAt: number;
  readonly usd: number;
}

/**
 * Stores a reading of whole days in place of what was read of them before. Only pods that this org has or had are kept:
 * the account may have others. Call it in a transaction.
 */
export function storeBilling(
  db: Database,
  orgId: number,
  span: { readonly from: number; readonly to: number },
  days: readonly BilledDay[],
  now: number,
): void {
  db.run("delete from billing_days where org_id = ? and day_at >= ? and day_at < ?", orgId, span.from, span.to);
  for (const { runpodId, dayAt, usd } of days) {
    db.run(
      "insert into billing_days (org_id, runpod_id, day_at, amount, read_at) select ?, ?, ?, ?, ? where exists " +
        "(select 1 from compute_pod_incarnations i join compute_pods p on p.id = i.pod_id " +
        "where i.runpod_id = ? and p.org_id = ?)",
      orgId,
      runpodId,
      dayAt,
      usd,
      now,
      runpodId,
      orgId,
    );
  }
  db.run(
    "insert into org_balance (org_id, billing_read_at) values (?, ?) on conflict (org_id) " +
      "do update set billing_read_at = excluded.billing_read_at, billing_error = null, billing_error_at = null",
    orgId,
    now,
  );
}

export function storeBillingError(db: Database, orgId: number, error: string, now: number): void {
  db.run(
    "insert into org_balance (org_id, billing_error, billing_error_at) values (?, ?, ?) on conflict (org_id) " +
      "do update set billing_error = excluded.billing_error, billing_error_at = excluded.billing_error_at",
    orgId,
    error,
    now,
  );
}

/** What RunPod billed by its own record within whole days, by RunPod's id of the pod. */
export function billedByRunpodId(
  db: Database,
  orgId: number,
  from: number,
  to: number,
): { runpodId: string; usd: number }[] {
  return db.all(
    "select runpod_id as runpodId, total(amount) as usd from billing_days " +
      "where org_id = ? and day_at >= ? and day_at < ? group by runpod_id",
    orgId,
    from,
    to,
  );
}

export function pruneBilling(db: Database, before: number): number {
  return db.run("delete from billing_days where day_at < ?", before);
}
