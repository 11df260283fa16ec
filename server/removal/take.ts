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
    const live = had.filter((row) => row.valid_before > now && row.revoked_at === null);
    revokeSerials(db, pod.org_id, live.map(({ serial }) => serial), reason, by, now);
    const hadRoot = had.some((row) => row.is_admin === 1);
    const id = openRemoval(db, { orgId: pod.org_id, podId: pod.id, discordId, which, hadRoot, reason, by }, now);
    return { id, podId: pod.id, discordId, hadRoot, certificates: live.length };
  });
}

/**
 * The serials whose connections are to end: those taken back, and those that ran out, because sshd keeps a connection whose
 * certificate ends. A certificate given afterwards, to somebody who was let in again, is not among them.
 */
export function endingSerials(rows: readonly ConnectionRow[], which: Which, now: number): string[] {
  return rows.filter((row) => which === "all" || row.is_admin === 1)
    .filter((row) => row.revoked_at !== null || row.valid_before <= now)
    .map(({ serial }) => serial);
}
