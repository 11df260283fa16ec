import type { Database } from "../database.ts";

export type ActorKind = "local" | "officer" | "member" | "stranger" | "server" | "external";

export interface AuditEntry {
  readonly source: "api" | "http" | "job" | "local";
  readonly action: string;
  readonly orgPrefix: string | null;
  readonly podId?: string | null;
  readonly actorKind: ActorKind;
  readonly actorId: string | null;
  readonly actorName?: string | null;
  readonly address?: string | null;
  readonly status: number;
  readonly outcome: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditRow {
  readonly id: number;
  readonly created_at: number;
  readonly source: string;
  readonly action: string;
  readonly org_prefix: string | null;
  readonly pod_id: string | null;
  readonly actor_kind: string;
  readonly actor_id: string | null;
  readonly actor_name: string | null;
  readonly address: string | null;
  readonly status: number;
  readonly outcome: string;
  readonly details: string;
}

export function insertAudit(db: Database, entry: AuditEntry, now: number): void {
  db.run(
    "insert into audit_log (created_at, source, action, org_prefix, pod_id, actor_kind, actor_id, actor_name, address, " +
      "status, outcome, details, org_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " +
      "(select id from organizations where prefix = ?))",
    now,
    entry.source,
    entry.action.slice(0, 255),
    entry.orgPrefix,
    entry.podId ?? null,
    entry.actorKind,
    entry.actorId,
    entry.actorName ?? null,
    entry.address ?? null,
    entry.status,
    entry.outcome,
    JSON.stringify(entry.details ?? {}),
    entry.orgPrefix,
  );
}

/** Newest first; `beforeId` pages on, `podId` keeps to one pod. By the org itself: a later org of the same prefix is another. */
export function auditPage(
  db: Database,
  orgId: number,
  page: { readonly limit: number; readonly beforeId: number | null; readonly podId: string | null },
): AuditRow[] {
  return db.all(
    "select * from audit_log where org_id = ? and id < ? and (? is null or pod_id = ?) order by id desc limit ?",
    orgId,
    page.beforeId ?? Number.MAX_SAFE_INTEGER,
    page.podId,
    page.podId,
    page.limit,
  );
}

export function pruneAudit(db: Database, before: number): number {
  return db.run("delete from audit_log where created_at < ?", before);
}
