/** The SSH host key that a pod showed first in a start of its container, and the one that was refused since. */
import type { Database } from "../database.ts";

export interface PinRow {
  readonly fingerprint: string;
  readonly public_key: string;
  readonly refused_fingerprint: string | null;
}

export function hostKeyPin(db: Database, podId: string, startKey: string): PinRow | undefined {
  return db.get("select * from host_key_pins where pod_id = ? and start_key = ?", podId, startKey);
}

export function insertHostKeyPin(
  db: Database,
  pin: { podId: string; startKey: string; fingerprint: string; publicKey: string },
  now: number,
): void {
  db.run(
    "insert into host_key_pins (pod_id, start_key, fingerprint, public_key, first_seen_at) values (?, ?, ?, ?, ?)",
    pin.podId,
    pin.startKey,
    pin.fingerprint,
    pin.publicKey,
    now,
  );
}

export function forgetRefusedHostKey(db: Database, podId: string, startKey: string): void {
  db.run(
    "update host_key_pins set refused_fingerprint = null, refused_at = null where pod_id = ? and start_key = ?",
    podId,
    startKey,
  );
}

export function storeRefusedHostKey(
  db: Database,
  podId: string,
  startKey: string,
  fingerprint: string,
  now: number,
): void {
  db.run(
    "update host_key_pins set refused_fingerprint = ?, refused_at = ? where pod_id = ? and start_key = ?",
    fingerprint,
    now,
    podId,
    startKey,
  );
}
