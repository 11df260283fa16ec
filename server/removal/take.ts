import type { Database } from "../../db/database.ts";
import { type ConnectionRow, connectionsOf } from "../../db/stores/connections.ts";
import type { LivePod } from "../../db/stores/pods.ts";
import { openRemoval, type RemovalRow } from "../../db/stores/removals.ts";
import { revokeSerials } from "../../db/stores/revocations.ts";

export type Which = RemovalRow["which"];

export interface Taken {
  /** Of the removal that was written down. */
  readonly id: number;
  readonly podId: string;
  readonly discordId: string;
  readonly hadRoot: boolean;
  /** How many certificates that still worked were taken back. */
  readonly certificates: number;
}

/**
 * Takes a person's certificates for a pod back and writes down that what they have running there is to end. Call it in
 * the transaction of the change that takes the access away. Null when they never had a certificate for it.
 */
export function takeAccess(
  db: Database,
  taking: {
    readonly pod: LivePod;
    readonly discordId: string;
    readonly which: Which;
    readonly reason: string;
    readonly by: string | null;
  },
  now: number,
): Taken | null {
  const { pod, discordId, which, reason, by } = taking;
  return db.tx(() => {
    const had = connectionsOf(db, pod.id, discordId).filter((row) => which === "all" || row.is_admin === 1);
    if (had.length === 0) return null;
    // What ran out is taken back too: its connection may be open, and the pod's clock may be behind.
    const untaken = had.filter((row) => row.revoked_at === null);
    revokeSerials(db, pod.org_id, untaken.map(({ serial }) => serial), reason, by, now);
    const hadRoot = had.some((row) => row.is_admin === 1);
    const id = openRemoval(db, { orgId: pod.org_id, podId: pod.id, discordId, which, hadRoot, reason, by }, now);
    return {
      id,
      podId: pod.id,
      discordId,
      hadRoot,
      certificates: untaken.filter((row) => row.valid_before > now).length,
    };
  });
}

/** What of a person's certificates a removal is about, and since when they hold others. */
export interface Reckoning {
  /** Their connections are to end. */
  readonly serials: readonly string[];
  /** When the first certificate was given to them that the removal is not about: they were let in again. Null: none. */
  readonly letInAt: number | null;
}

/**
 * A removal is about the certificates that were there when it was asked for: those taken back, and those that ran out,
 * because sshd keeps a connection whose certificate ends. What was given afterwards, to somebody who was let in again, is
 * left alone.
 */
export function reckon(
  rows: readonly ConnectionRow[],
  removal: Pick<RemovalRow, "which" | "asked_at">,
  now: number,
): Reckoning {
  const isMeant = (row: ConnectionRow) =>
    (removal.which === "all" || row.is_admin === 1) && row.created_at <= removal.asked_at &&
    (row.revoked_at !== null || row.valid_before <= now);
  const others = rows.filter((row) => row.revoked_at === null && !isMeant(row));
  return {
    serials: rows.filter(isMeant).map(({ serial }) => serial),
    letInAt: others.length === 0 ? null : Math.min(...others.map((row) => row.created_at)),
  };
}
