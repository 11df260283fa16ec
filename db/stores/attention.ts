import type { Database } from "../database.ts";

export interface AttentionRow {
  readonly id: string;
  readonly org_id: number;
  readonly kind: string;
  readonly runpod_id: string | null;
  readonly pod_id: string | null;
  readonly details: string;
  readonly found_at: number;
}

/** Opens an entry; when the same one is open already, its details are brought up to date. */
export function openAttention(
  db: Database,
  entry: {
    id: string;
    orgId: number;
    kind: string;
    runpodId: string;
    podId: string | null;
    details: Readonly<Record<string, unknown>>;
  },
  now: number,
): void {
  db.run(
    "insert into attention (id, org_id, kind, runpod_id, pod_id, details, found_at) values (?, ?, ?, ?, ?, ?, ?) " +
      "on conflict (org_id, kind, runpod_id) where closed_at is null " +
      "do update set details = excluded.details where details is not excluded.details",
    entry.id,
    entry.orgId,
    entry.kind,
    entry.runpodId,
    entry.podId,
    JSON.stringify(entry.details),
    now,
  );
}

export function openAttentionRows(db: Database, orgId: number): AttentionRow[] {
  return db.all("select * from attention where org_id = ? and closed_at is null order by found_at", orgId);
}

export function attentionById(db: Database, orgId: number, id: string): AttentionRow | undefined {
  return db.get("select * from attention where org_id = ? and id = ? and closed_at is null", orgId, id);
}

export function closeAttention(db: Database, id: string, by: string, how: string, now: number): void {
  db.run("update attention set closed_at = ?, closed_by = ?, closed_how = ? where id = ?", now, by, how, id);
}

/** An officer said once that this pod on the account is none of ours; it is not brought up again. */
export function wasForgotten(db: Database, orgId: number, kind: string, runpodId: string): boolean {
  return db.get(
    "select 1 from attention where org_id = ? and kind = ? and runpod_id = ? and closed_how = 'forget'",
    orgId,
    kind,
    runpodId,
  ) !== undefined;
}
