import type { Database } from "../database.ts";

/** How a pod keeps the rules about who comes in, in one start. */
export type SetupState = "image" | "pushed" | "refused";

/** The columns of a pod that hold for the start `setup_start`. */
export interface PodSetupColumns {
  readonly setup_start: string | null;
  readonly setup_state: SetupState | null;
  readonly setup_reason: string | null;
  readonly setup_at: number | null;
  readonly trust_digest: string | null;
  readonly trust_error: string | null;
  readonly clock_offset_ms: number | null;
}

/** Stores what became of the set-up of one start. Nothing that was delivered in an earlier start is there any more. */
export function storeSetup(
  db: Database,
  podId: string,
  setup: { readonly start: string; readonly state: SetupState; readonly reason: string | null },
  now: number,
): void {
  db.run(
    "update compute_pods set trust_digest = case when setup_start = ?1 then trust_digest end, " +
      "trust_error = case when setup_start = ?1 then trust_error end, setup_start = ?1, setup_state = ?2, " +
      "setup_reason = ?3, setup_at = ?4 where id = ?5",
    setup.start,
    setup.state,
    setup.reason,
    now,
    podId,
  );
}

/** Stores that list and keys with this digest are on the pod, in the start they were delivered in. */
export function storeTrust(db: Database, podId: string, start: string, digest: string): void {
  db.run(
    "update compute_pods set trust_digest = ?, trust_error = null where id = ? and setup_start = ?",
    digest,
    podId,
    start,
  );
}

/** Stores why list and keys could not be delivered. What was delivered before stays. */
export function storeTrustError(db: Database, podId: string, start: string, error: string): void {
  db.run("update compute_pods set trust_error = ? where id = ? and setup_start = ?", error, podId, start);
}

/** Stores how far the pod's clock is ahead of the server's (behind: negative). */
export function storeClockOffset(db: Database, podId: string, offsetMs: number): void {
  db.run("update compute_pods set clock_offset_ms = ? where id = ?", offsetMs, podId);
}
