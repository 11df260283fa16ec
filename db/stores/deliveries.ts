import type { Database } from "../database.ts";

export type DeliveryState = "waiting" | "sent" | "failed" | "dropped";

export interface DeliveryRow {
  readonly id: number;
  readonly webhook_id: number;
  /** Null for a test. */
  readonly event_id: number | null;
  readonly state: DeliveryState;
  /** Tries since it was queued, or sent again by a person. */
  readonly attempts: number;
  readonly created_at: number;
  readonly next_at: number;
  readonly last_at: number | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly settled_at: number | null;
}

/** Queues an event for each webhook of the org that is on and wants its kind. */
export function queueDeliveries(db: Database, orgId: number, eventId: number, kind: string, now: number): void {
  db.run(
    "insert into webhook_deliveries (webhook_id, event_id, created_at, next_at) " +
      "select w.id, ?, ?, ? from webhooks w where w.org_id = ? and w.is_enabled = 1 and w.disabled_at is null " +
      "and (w.kinds = '[]' or exists (select 1 from json_each(w.kinds) where value = ?))",
    eventId,
    now,
    now,
    orgId,
    kind,
  );
}

/** Stores a test that is about to be sent; returns it. */
export function insertTest(db: Database, webhookId: number, now: number): DeliveryRow {
  return db.get<DeliveryRow>(
    "insert into webhook_deliveries (webhook_id, created_at, next_at) values (?, ?, ?) returning *",
    webhookId,
    now,
    now,
  )!;
}

export function testsSince(db: Database, webhookId: number, since: number): number {
  return db.get<{ n: number }>(
    "select count(*) as n from webhook_deliveries where webhook_id = ? and event_id is null and created_at > ?",
    webhookId,
    since,
  )!.n;
}

/**
 * The deliveries that may go once their time has come, tests apart, of one webhook or of all (`null`): the oldest of each
 * webhook that failed fewer than `passedAfter` times, then those that failed more often and hold up nothing.
 */
export function sendableDeliveries(db: Database, webhookId: number | null, passedAfter: number): DeliveryRow[] {
  const waiting = "state = 'waiting' and event_id is not null and (?1 is null or webhook_id = ?1)";
  return db.all(
    "select * from webhook_deliveries where id in " +
      `(select min(id) from webhook_deliveries where ${waiting} and attempts < ?2 group by webhook_id) ` +
      `or ${waiting} and attempts >= ?2 order by attempts >= ?2, id`,
    webhookId,
    passedAfter,
  );
}

export function deliveryOf(db: Database, webhookId: number, id: number): DeliveryRow | undefined {
  return db.get("select * from webhook_deliveries where webhook_id = ? and id = ?", webhookId, id);
}

export type DeliveryChange = Partial<Omit<DeliveryRow, "id" | "webhook_id" | "event_id" | "created_at">>;

/** Changes the given columns of a delivery, and none else. */
export function updateDelivery(db: Database, id: number, change: DeliveryChange): void {
  for (const [column, value] of Object.entries(change) as [keyof DeliveryChange, string | number | null][]) {
    db.run(`update webhook_deliveries set ${column} = ? where id = ?`, value, id);
  }
}

/** Drops everything of a webhook that waits, with the reason; returns how many there were. */
export function dropWaiting(db: Database, webhookId: number, why: string, now: number): number {
  return db.run(
    "update webhook_deliveries set state = 'dropped', last_error = ?, settled_at = ? " +
      "where webhook_id = ? and state = 'waiting' and event_id is not null",
    why,
    now,
    webhookId,
  );
}

/** How many events of a kind the webhook was sent between two times. */
export function sentBetween(db: Database, webhookId: number, kind: string, after: number, until: number): number {
  return db.get<{ n: number }>(
    "select count(*) as n from webhook_deliveries d join events e on e.id = d.event_id " +
      "where d.webhook_id = ? and d.state = 'sent' and d.settled_at > ? and d.settled_at <= ? and e.kind = ?",
    webhookId,
    after,
    until,
    kind,
  )!.n;
}

export interface DeliveryCounts {
  readonly waiting: number;
  /** Dropped since the given time. */
  readonly dropped: number;
}

export function countDeliveries(db: Database, webhookId: number, droppedSince: number): DeliveryCounts {
  return db.get<DeliveryCounts>(
    "select (select count(*) from webhook_deliveries where webhook_id = ?1 and state = 'waiting') as waiting, " +
      "(select count(*) from webhook_deliveries where webhook_id = ?1 and state = 'dropped' and settled_at > ?2) " +
      "as dropped",
    webhookId,
    droppedSince,
  )!;
}

/** A delivery with the kind of its event; null for a test. */
export type ListedDelivery = DeliveryRow & { readonly kind: string | null };

/** Newest first; `beforeId` pages on. */
export function deliveryPage(
  db: Database,
  webhookId: number,
  page: { readonly limit: number; readonly beforeId: number | null },
): ListedDelivery[] {
  return db.all(
    "select d.*, e.kind as kind from webhook_deliveries d left join events e on e.id = d.event_id " +
      "where d.webhook_id = ? and d.id < ? order by d.id desc limit ?",
    webhookId,
    page.beforeId ?? Number.MAX_SAFE_INTEGER,
    page.limit,
  );
}

/** Tests whose answer never came because the server stopped meanwhile. */
export function failTestsBefore(db: Database, before: number, why: string, now: number): number {
  return db.run(
    "update webhook_deliveries set state = 'failed', last_error = ?, settled_at = ? " +
      "where state = 'waiting' and event_id is null and created_at < ?",
    why,
    now,
    before,
  );
}

export function pruneDeliveries(db: Database, before: number): number {
  return db.run("delete from webhook_deliveries where state <> 'waiting' and settled_at < ?", before);
}
