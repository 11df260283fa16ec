import type { Database } from "../database.ts";

export type SpendKind = "running" | "storage" | "unseen";

/** A stretch of time at one price, USD by the hour. `until_at` null: it goes on, last confirmed at `observed_at`. */
export interface SpendRow {
  readonly id: number;
  readonly org_id: number;
  readonly pod_id: string;
  readonly runpod_id: string;
  readonly kind: SpendKind;
  readonly hardware_per_hour: number;
  readonly disk_per_hour: number;
  /** 0: RunPod has not told the hardware's rate; what stands there is a guess. */
  readonly rate_known: number;
  readonly from_at: number;
  readonly until_at: number | null;
  readonly observed_at: number;
}

/** A stretch that is open is counted or not: never unseen. */
export type OpenRow = SpendRow & { readonly kind: "running" | "storage" };

export interface NewStretch {
  readonly orgId: number;
  readonly podId: string;
  readonly runpodId: string;
  readonly kind: SpendKind;
  readonly hardwarePerHour: number;
  readonly diskPerHour: number;
  readonly rateKnown: boolean;
  readonly from: number;
  readonly until: number | null;
  readonly observedAt: number;
}

export function openStretch(db: Database, podId: string): OpenRow | undefined {
  return db.get("select * from compute_spend where pod_id = ? and until_at is null", podId);
}

/** The newest stretch of a pod that is counted. */
export function lastStretch(db: Database, podId: string): OpenRow | undefined {
  return db.get(
    "select * from compute_spend where pod_id = ? and kind != 'unseen' order by from_at desc, id desc limit 1",
    podId,
  );
}

/** The hardware's rate in the newest run of the pod whose rate was known; undefined when there is none. */
export function lastKnownRate(db: Database, podId: string): number | undefined {
  return db.get<{ rate: number }>(
    "select hardware_per_hour as rate from compute_spend where pod_id = ? and kind = 'running' and rate_known = 1 " +
      "and hardware_per_hour > 0 order by from_at desc, id desc limit 1",
    podId,
  )?.rate;
}

export function insertStretch(db: Database, stretch: NewStretch): void {
  db.run(
    "insert into compute_spend (org_id, pod_id, runpod_id, kind, hardware_per_hour, disk_per_hour, rate_known, from_at, " +
      "until_at, observed_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    stretch.orgId,
    stretch.podId,
    stretch.runpodId,
    stretch.kind,
    stretch.hardwarePerHour,
    stretch.diskPerHour,
    stretch.rateKnown ? 1 : 0,
    stretch.from,
    stretch.until,
    stretch.observedAt,
  );
}

/** An open stretch was seen to go on. One that begins after `at` was begun by a clock that was wrong. */
export function confirmStretch(db: Database, id: number, at: number): void {
  db.run("update compute_spend set observed_at = ? where id = ?", at, id);
  // By itself, because it is rare and the indexes hold it.
  db.run("update compute_spend set from_at = ? where id = ? and from_at > ?", at, id, at);
}

/** The pods of an org that cost something now. */
export function podsWithOpenStretch(db: Database, orgId: number): Set<string> {
  const rows = db.all<{ pod_id: string }>(
    "select pod_id from compute_spend where org_id = ? and until_at is null",
    orgId,
  );
  return new Set(rows.map((row) => row.pod_id));
}

/** The open stretches of many pods were seen to go on, as by `confirmStretch`. */
export function confirmStretches(db: Database, podIds: readonly string[], at: number): void {
  const ids = JSON.stringify(podIds);
  const open = "where until_at is null and pod_id in (select value from json_each(?2))";
  db.run(`update compute_spend set observed_at = ?1 ${open}`, at, ids);
  db.run(`update compute_spend set from_at = ?1 ${open} and from_at > ?1`, at, ids);
}

/** Ends a stretch; one that lasted no time is not kept. */
export function closeStretch(db: Database, id: number, until: number): void {
  db.run("delete from compute_spend where id = ? and from_at >= ?", id, until);
  db.run("update compute_spend set until_at = ?, observed_at = ? where id = ?", until, until, id);
}

/** Takes the end of a pod's last stretch back, and what was held for unseen after it. */
export function reopenStretch(db: Database, stretch: SpendRow, at: number): void {
  db.run(
    "delete from compute_spend where pod_id = ? and kind = 'unseen' and from_at >= ?",
    stretch.pod_id,
    stretch.until_at ?? at,
  );
  db.run("update compute_spend set until_at = null, observed_at = ? where id = ?", at, stretch.id);
}

/** RunPod told the rate of the open run: runs of this pod that ended before it was told get it too. */
export function correctRates(db: Database, podId: string, hardwarePerHour: number): void {
  db.run(
    "update compute_spend set hardware_per_hour = ?, rate_known = 1 " +
      "where pod_id = ? and kind = 'running' and rate_known = 0",
    hardwarePerHour,
    podId,
  );
}

/**
 * The newest action of ours on one incarnation of a pod that was sent after `after` and not after `until`, and did not
 * fail.
 */
export function ownAction(
  db: Database,
  podId: string,
  runpodId: string | null,
  after: number,
  until: number,
): { action: string; sentAt: number } | undefined {
  return db.get(
    "select action, sent_at as sentAt from compute_intents where pod_id = ? and runpod_id = ? and sent_at > ? " +
      "and sent_at <= ? and state != 'failed' order by sent_at desc, rowid desc limit 1",
    podId,
    runpodId,
    after,
    until,
  );
}

/**
 * Stretches that end in the future were written by a clock that was wrong. One that began before `now` ends now; one that
 * lies in the future as a whole is moved back, because the time it stands for did pass. Returns how many there were.
 */
export function pullBackFuture(db: Database, now: number): number {
  return db.tx(() => {
    const moved = db.run(
      "update compute_spend set from_at = max(0, ? - (until_at - from_at)), until_at = ?, observed_at = ? " +
        "where from_at > ? and until_at is not null",
      now,
      now,
      now,
      now,
    );
    return moved + db.run("update compute_spend set until_at = ?, observed_at = ? where until_at > ?", now, now, now);
  });
}
