import { DAY, HOUR } from "../../server/clock.ts";
import { AppError } from "../../server/errors.ts";
import type { Database } from "../database.ts";

/** How long a certificate may live whose record is gone: none is given out for longer. */
const LONGEST_VALIDITY_MS = 12 * HOUR;
/** A pod's clock may be behind, and a certificate is then good there for longer than here. */
const CLOCK_SLACK_MS = DAY;

/** The end of a revocation: nothing takes the certificate any more. */
const ENDS = `coalesce(c.valid_before, r.revoked_at + ${LONGEST_VALIDITY_MS}) + ${CLOCK_SLACK_MS}`;

/** A serial that no pod may let in. */
export interface Revocation {
  /** Decimal, 1 to 2^64-1. */
  readonly serial: string;
  readonly revoked_at: number;
  /** Discord id of the officer; null when the server did it by itself. */
  readonly revoked_by: string | null;
  readonly reason: string;
  /** Null when no record of the certificate is left (a backup from before it was given out). */
  readonly valid_before: number | null;
  /** Of the CA that signed it; null when that is not known. */
  readonly ca_fingerprint: string | null;
}

/**
 * Takes certificates back for good: their serials stand in the org's list from now until nothing takes them any more, and
 * their records say since when. The first reason stays. Returns the serials that were not revoked before. Serials
 * that the org has no record of are taken as well, as what is left of a certificate that a restored backup forgot.
 * Throws `internal_error` for text that is no serial; nothing is stored then.
 */
export function revokeSerials(
  db: Database,
  orgId: number,
  serials: readonly string[],
  reason: string,
  by: string | null,
  now: number,
): string[] {
  const wrong = serials.find((serial) => !isSerial(serial));
  if (wrong !== undefined) throw new AppError("internal_error", "A serial to be revoked is not between 1 and 2^64-1");
  const list = JSON.stringify(serials);
  return db.tx(() => {
    const added = db.all<{ serial: string }>(
      "insert into compute_revocations (org_id, serial, revoked_at, revoked_by, reason) " +
        "select ?, value, ?, ?, ? from json_each(?) where true on conflict do nothing returning serial",
      orgId,
      now,
      by,
      reason,
      list,
    );
    db.run(
      "update compute_connections set revoked_at = ? where org_id = ? and revoked_at is null " +
        "and serial in (select value from json_each(?))",
      now,
      orgId,
      list,
    );
    return added.map(({ serial }) => serial);
  });
}

/** The one way to write a serial: decimal without leading zeros. */
function isSerial(text: string): boolean {
  return /^[1-9]\d{0,19}$/.test(text) && BigInt(text) < 2n ** 64n;
}

/** What the pods of an org must refuse now, by serial. What nothing takes any more is left out. */
export function currentRevocations(db: Database, orgId: number, now: number): Revocation[] {
  return db.all(
    "select r.serial, r.revoked_at, r.revoked_by, r.reason, c.valid_before, c.ca_fingerprint " +
      "from compute_revocations r left join compute_connections c on c.serial = r.serial and c.org_id = r.org_id " +
      `where r.org_id = ? and ${ENDS} > ? order by length(r.serial), r.serial`,
    orgId,
    now,
  );
}

/** Removes revocations of certificates that nothing takes any more; the records keep when they were revoked. */
export function pruneRevocations(db: Database, now: number): number {
  return db.run(
    "delete from compute_revocations where (org_id, serial) in (select r.org_id, r.serial from compute_revocations r " +
      "left join compute_connections c on c.serial = r.serial and c.org_id = r.org_id " +
      `where ${ENDS} <= ?)`,
    now,
  );
}

/** The public lines of every CA that an org has or had, the oldest first. */
export function caLinesOf(db: Database, orgId: number): { readonly fingerprint: string; readonly line: string }[] {
  return db.all(
    "select fingerprint, public_key as line from compute_keys where org_id = ? and kind = 'user_ca' order by id",
    orgId,
  );
}
