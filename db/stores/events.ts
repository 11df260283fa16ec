import type { Database } from "../database.ts";

export interface EventRow {
  readonly id: number;
  readonly org_id: number;
  readonly kind: string;
  readonly pod_id: string | null;
  readonly runpod_id: string | null;
  readonly subject: string | null;
  readonly actor: string | null;
  readonly details: string;
  readonly once_key: string | null;
  readonly created_at: number;
}

export interface NewEvent {
  readonly orgId: number;
  readonly kind: string;
  /** Our own id of the pod. */
  readonly podId?: string | null;
  readonly runpodId?: string | null;
  /** What it is about, as people call it: the pod's name. */
  readonly subject?: string | null;
  /** Who, as people read it. */
  readonly actor?: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
  /** With a key, the org hears of it only once. */
  readonly onceKey?: string | null;
}

/** Stores an event; returns its id, or null when it was raised before. */
export function insertEvent(db: Database, event: NewEvent, now: number): number | null {
  return db.get<{ id: number }>(
    "insert into events (org_id, kind, pod_id, runpod_id, subject, actor, details, once_key, created_at) " +
      "values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning id",
    event.orgId,
    event.kind,
    event.podId ?? null,
    event.runpodId ?? null,
    event.subject ?? null,
    event.actor ?? null,
    JSON.stringify(event.details ?? {}),
    event.onceKey ?? null,
    now,
  )?.id ?? null;
}

export function eventById(db: Database, id: number): EventRow | undefined {
  return db.get("select * from events where id = ?", id);
}

/** Newest first; `beforeId` pages on, `kind` and `runpodId` keep to one kind or pod. */
export function eventPage(
  db: Database,
  orgId: number,
  page: {
    readonly limit: number;
    readonly beforeId: number | null;
    readonly kind: string | null;
    readonly runpodId: string | null;
  },
): EventRow[] {
  return db.all(
    "select * from events where org_id = ? and id < ? and (? is null or kind = ?) and (? is null or runpod_id = ?) " +
      "order by id desc limit ?",
    orgId,
    page.beforeId ?? Number.MAX_SAFE_INTEGER,
    page.kind,
    page.kind,
    page.runpodId,
    page.runpodId,
    page.limit,
  );
}

export function pruneEvents(db: Database, before: number): number {
  return db.run("delete from events where created_at < ?", before);
}
