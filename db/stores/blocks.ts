import type { Database } from "../database.ts";

export interface BlockRow {
  /** Our id of the pod; the empty string blocks in the whole org. */
  readonly pod_id: string;
  readonly discord_id: string;
  readonly blocked_at: number;
  readonly blocked_by: string | null;
  readonly reason: string | null;
}

/** Everybody who is blocked in an org or on one of its pods, the newest first. */
export function blocksOf(db: Database, orgId: number): BlockRow[] {
  return db.all(
    "select pod_id, discord_id, blocked_at, blocked_by, reason from blocked_users where org_id = ? " +
      "order by blocked_at desc, discord_id",
    orgId,
  );
}

/** Blocks somebody; who blocked them first, and why, stays. False when they were blocked already. */
export function insertBlock(
  db: Database,
  orgId: number,
  block: { readonly podId: string; readonly discordId: string; readonly by: string; readonly reason: string | null },
  now: number,
): boolean {
  return db.run(
    "insert into blocked_users (org_id, pod_id, discord_id, blocked_at, blocked_by, reason) values (?, ?, ?, ?, ?, ?) " +
      "on conflict do nothing",
    orgId,
    block.podId,
    block.discordId,
    now,
    block.by,
    block.reason,
  ) > 0;
}

/** False when there was no such block. */
export function deleteBlock(db: Database, orgId: number, podId: string, discordId: string): boolean {
  return db.run(
    "delete from blocked_users where org_id = ? and pod_id = ? and discord_id = ?",
    orgId,
    podId,
    discordId,
  ) > 0;
}
