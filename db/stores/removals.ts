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
  /** When all they had there had ended for the first time since it was asked for: what begins later is another login's. */
  readonly ended_at: number | null;
  /** Settled while the pod did not run: RunPod's time of its last start, empty where that is not known. */
  readonly off_start: string | null;
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

/**
 * Writes a removal down; one that is open for the same person and pod begins anew. Returns its id. `asked_at` grows with
 * each request, so that it tells what a try was for.
 */
export function openRemoval(db: Database, removal: NewRemoval, now: number): number {
  const row = db.get<{ id: number }>(
    "insert into access_removals (org_id, pod_id, discord_id, which, had_root, reason, asked_by, asked_at) " +
      "values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (pod_id, discord_id) where state = 'open' do update set " +
      "which = min(which, excluded.which), had_root = max(had_root, excluded.had_root), reason = excluded.reason, " +
      "asked_by = excluded.asked_by, asked_at = max(excluded.asked_at, asked_at + 1), tried_at = null, error = null, " +
      "ended_at = null " +
      "returning id",
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

/** True while what a person had on a pod is to be ended and no try of it is over. */
export function isRemovalUntried(db: Database, podId: string, discordId: string): boolean {
  return db.get(
    "select 1 from access_removals where pod_id = ? and discord_id = ? and state = 'open' and tried_at is null",
    podId,
    discordId,
  ) !== undefined;
}

/** The newest first. */
export function recentRemovals(db: Database, orgId: number, limit: number): RemovalRow[] {
  return db.all("select * from access_removals where org_id = ? order by id desc limit ?", orgId, limit);
}

const REOPEN = "update access_removals set state = 'open', tried_at = null, error = null, report = null, " +
  "settled_at = null, ended_at = null, off_start = null";
/** Done, and the last one of that person on that pod: a newer one stands for the older. */
const IS_LAST = "state = 'done' and id = (select max(n.id) from access_removals n " +
  "where n.pod_id = access_removals.pod_id and n.discord_id = access_removals.discord_id)";

/**
 * Opens what was settled while a pod did not run again where the pod runs in the start from before that: RunPod was wrong
 * about it, or has it back, and what they had there may never have ended.
 */
export function reopenInSameStart(db: Database, orgId: number): number {
  return db.run(
    `${REOPEN} where org_id = ? and ${IS_LAST} and off_start is not null and exists (select 1 from compute_pods p ` +
      "where p.id = access_removals.pod_id and p.state = 'live' and p.status = 'RUNNING' " +
      "and access_removals.off_start in ('', coalesce(cast(p.started_at as text), '')))",
    orgId,
  );
}

/**
 * Opens what was done again for pods that were set up since: until its set-up a pod lets in by its own rules, so somebody
 * whose certificate was taken back may have come in. Not where the image's own rules keep them out from the first moment.
 */
export function reopenAfterSetup(db: Database, orgId: number, now: number): number {
  return db.run(
    `${REOPEN} where org_id = ? and ${IS_LAST} ` +
      "and exists (select 1 from compute_pods p where p.id = access_removals.pod_id and p.state = 'live' " +
      "and p.setup_start = p.start_key and p.setup_state in ('pushed', 'refused') " +
      "and p.setup_at > access_removals.settled_at) and exists (select 1 from compute_connections c " +
      "where c.pod_id = access_removals.pod_id and c.discord_id = access_removals.discord_id " +
      "and c.revoked_at is not null and c.valid_before > ? and (access_removals.which = 'all' or c.is_admin = 1))",
    orgId,
    now,
  );
}

/** Stores a try that did not bring it to its end; of one that was asked for anew meanwhile, only what was done. */
export function storeRemovalTry(
  db: Database,
  removal: Pick<RemovalRow, "id" | "asked_at">,
  tried: { readonly error: string | null; readonly report: string | null; readonly hasEndedAll: boolean },
  now: number,
): void {
  db.run(
    "update access_removals set tried_at = iif(asked_at = ?1, ?2, tried_at), error = iif(asked_at = ?1, ?3, error), " +
      "ended_at = iif(asked_at = ?1 and ?6, coalesce(ended_at, ?2), ended_at), report = ?4 " +
      "where id = ?5 and state = 'open'",
    removal.asked_at,
    now,
    tried.error,
    tried.report,
    removal.id,
    tried.hasEndedAll ? 1 : 0,
  );
}

/**
 * Stores that everything of it is done; `offStart` as in the row. False, and nothing is stored, when it was asked for anew
 * meanwhile.
 */
export function settleRemoval(
  db: Database,
  removal: Pick<RemovalRow, "id" | "asked_at">,
  report: string | null,
  offStart: string | null,
  now: number,
): boolean {
  return db.run(
    "update access_removals set state = 'done', error = null, settled_at = ?, report = ?, off_start = ? " +
      "where id = ? and asked_at = ? and state = 'open'",
    now,
    report,
    offStart,
    removal.id,
    removal.asked_at,
  ) > 0;
}

export function pruneRemovals(db: Database, before: number): number {
  return db.run("delete from access_removals where state = 'done' and asked_at < ?", before);
}
