import type { Database } from "../database.ts";

/** Access of one person to one pod that is being taken away, or was. */
export interface RemovalRow {
  readonly id: number;
  readonly org_id: number;
  readonly pod_id: string;
  readonly discord_id: string;
  /** `root`: only what they have by certificates that give root; they may still use the pod as a member. */
  readonly which: "all" | "root";
  readonly had_root: number;
  readonly reason: string;
  /** Discord id of the officer; null when the server did it by itself. */
  readonly asked_by: string | null;
  readonly asked_at: number;
  readonly state: "open" | "done";
  readonly tried_at: number | null;
  /** Why it is not done yet. */
  readonly error: string | null;
  readonly settled_at: number | null;
  /** What was done, in one sentence. */
  readonly report: string | null;
}

export interface NewRemoval {
  readonly orgId: number;
  readonly podId: string;
  readonly discordId: string;
  readonly which: RemovalRow["which"];
  readonly hadRoot: boolean;
  readonly reason: string;
  readonly by: string | null;
}

/** Writes a removal down; one that is open for the same person and pod begins anew. Returns its id. */
export function openRemoval(db: Database, removal: NewRemoval, now: number): number {
  const row = db.get<{ id: number }>(
    "insert into access_removals (org_id, pod_id, discord_id, which, had_root, reason, asked_by, asked_at) " +
      "values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (pod_id, discord_id) where state = 'open' do update set " +
      "which = min(which, excluded.which), reason = excluded.reason, asked_by = excluded.asked_by, " +
      "asked_at = excluded.asked_at, tried_at = null returning id",
    removal.orgId,
    removal.podId,
    removal.discordId,
    removal.which,
    removal.hadRoot ? 1 : 0,
    removal.reason,
    removal.by,
    now,
  );
  return row!.id;
}

export function removalById(db: Database, id: number): RemovalRow | undefined {
  return db.get("select * from access_removals where id = ?", id);
}

export function openRemovals(db: Database, orgId: number): RemovalRow[] {
  return db.all("select * from access_removals where org_id = ? and state = 'open' order by id", orgId);
}

/** The newest first. */
export function recentRemovals(db: Database, orgId: number, limit: number): RemovalRow[] {
  return db.all("select * from access_removals where org_id = ? order by id desc limit ?", orgId, limit);
}

/** Stores a try that did not bring it to its end. Nothing when it was asked for anew meanwhile. */
export function storeRemovalTry(
  db: Database,
  removal: Pick<RemovalRow, "id" | "asked_at">,
  tried: { readonly error: string | null; readonly report: string | null },
  now: number,
): void {
  db.run(
    "update access_removals set tried_at = ?, error = ?, report = coalesce(?, report) " +
      "where id = ? and asked_at = ? and state = 'open'",
    now,
    tried.error,
    tried.report,
    removal.id,
    removal.asked_at,
  );
}

/** Stores that everything of it is done. Nothing when it was asked for anew meanwhile. */
export function settleRemoval(
  db: Database,
  removal: Pick<RemovalRow, "id" | "asked_at">,
  report: string | null,
  now: number,
): void {
  db.run(
    "update access_removals set state = 'done', error = null, settled_at = ?, report = coalesce(report, ?) " +
      "where id = ? and asked_at = ? and state = 'open'",
    now,
    report,
    removal.id,
    removal.asked_at,
  );
}

export function pruneRemovals(db: Database, before: number): number {
  return db.run("delete from access_removals where state = 'done' and asked_at < ?", before);
}
