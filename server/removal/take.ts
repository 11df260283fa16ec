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

/** Which of a person's certificates a removal is not about, and since when they hold those. */
export interface Reckoning {
  /** Their connections go on; those of every other certificate of the person for the pod end. */
  readonly spared: readonly string[];
  /** When the first of these was given: they were let in again. Null: none. */
  readonly letInAt: number | null;
}

/**
 * A removal is about the certificates that were taken back, and those from before it was asked for that ran out, because
 * sshd keeps a connection whose certificate ends. What was given afterwards, to somebody who was let in again, is spared;
 * so is what a member has, by a removal of root alone. When a row was written decides nothing about one that was taken
 * back: the server's clock may have been wrong.
 */
export function reckon(
  rows: readonly ConnectionRow[],
  removal: Pick<RemovalRow, "which" | "asked_at">,
  now: number,
): Reckoning {
  const isMeant = (row: ConnectionRow) =>
    row.revoked_at !== null ||
    (removal.which === "all" || row.is_admin === 1) && row.created_at <= removal.asked_at && row.valid_before <= now;
  const spared = rows.filter((row) => !isMeant(row));
  return {
    spared: spared.map(({ serial }) => serial),
    letInAt: spared.length === 0 ? null : Math.min(...spared.map((row) => row.created_at)),
  };
}
