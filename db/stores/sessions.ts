import type { Database } from "../database.ts";
import type { PodRow } from "./pods.ts";

export type SessionState = "scheduled" | "starting" | "running" | "done" | "missed" | "failed";

/** A time when a pod must run. Times are milliseconds UTC, booleans 0 or 1. */
export interface SessionRow {
  readonly id: number;
  readonly org_id: number;
  /** Our own id of the pod. */
  readonly pod_id: string;
  readonly title: string | null;
  readonly start_at: number;
  readonly stop_at: number;
  readonly started: number;
  readonly finished: number;
  readonly state: SessionState;
  readonly error: string | null;
  readonly error_at: number | null;
  /** Since when the present step (start or stop) fails. */
  readonly failing_since: number | null;
  /** When the schedule first asked for the start. */
  readonly starting_at: number | null;
  /** When the pod was known to run for this session. */
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly series_id: string | null;
  readonly extended_minutes: number;
  readonly over_budget: number;
  readonly on_gpu_taken: "wait" | "fresh_pod";
  readonly created_by: string | null;
  readonly created_at: number;
}

export interface NewSession {
  readonly orgId: number;
  readonly podId: string;
  readonly title: string | null;
  readonly startAt: number;
  readonly stopAt: number;
  readonly seriesId: string | null;
  readonly overBudget: boolean;
  readonly onGpuTaken: "wait" | "fresh_pod";
  readonly createdBy: string | null;
}

export function insertSession(db: Database, session: NewSession, now: number): SessionRow {
  return db.get<SessionRow>(
    "insert into compute_sessions (org_id, pod_id, title, start_at, stop_at, series_id, over_budget, on_gpu_taken, " +
      "created_by, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning *",
    session.orgId,
    session.podId,
    session.title,
    session.startAt,
    session.stopAt,
    session.seriesId,
    session.overBudget ? 1 : 0,
    session.onGpuTaken,
    session.createdBy,
    now,
  )!;
}

export function sessionById(db: Database, podId: string, id: number): SessionRow | undefined {
  return db.get("select * from compute_sessions where pod_id = ? and id = ?", podId, id);
}

/** Unfinished sessions that begin before `startsBefore`, of all pods of an org, by start. */
export function dueSessions(db: Database, orgId: number, startsBefore: number): SessionRow[] {
  return db.all(
    "select * from compute_sessions where finished = 0 and org_id = ? and start_at <= ? order by start_at, id",
    orgId,
    startsBefore,
  );
}

/** All unfinished sessions of a pod, by start. */
export function openSessions(db: Database, podId: string): SessionRow[] {
  return db.all("select * from compute_sessions where finished = 0 and pod_id = ? order by start_at, id", podId);
}

/** How many sessions of a pod are not finished. */
export function countOpenSessions(db: Database, podId: string): number {
  return db.get<{ n: number }>("select count(*) as n from compute_sessions where finished = 0 and pod_id = ?", podId)!
    .n;
}

/**
 * All sessions of a pod by start, or the last `limit` of them; `before` pages back to those that come before that
 * session.
 */
export function sessionsOfPod(
  db: Database,
  podId: string,
  page: { readonly limit: number | null; readonly before: SessionRow | null },
): SessionRow[] {
  const { before } = page;
  return db.all<SessionRow>(
    "select * from compute_sessions where pod_id = ? and (? is null or (start_at, id) < (?, ?)) " +
      "order by start_at desc, id desc limit ?",
    podId,
    before?.id ?? null,
    before?.start_at ?? null,
    before?.id ?? null,
    page.limit ?? -1,
  ).reverse();
}

/** A session with its pod's present RunPod id and name. */
export type OrgSessionRow = SessionRow & { readonly runpod_id: string | null; readonly pod_name: string };

export interface OrgSessionFilter {
  /** Sessions that end later. */
  readonly from: number;
  /** Unfinished ones are listed however long ago they should have ended. */
  readonly withUnfinished: boolean;
  /** Sessions that begin earlier; null for no bound. */
  readonly to: number | null;
  readonly state: SessionState | null;
  readonly limit: number;
}

/** The sessions of an org by start. */
export function sessionsOfOrg(db: Database, orgId: number, filter: OrgSessionFilter): OrgSessionRow[] {
  return db.all(
    "select s.*, p.runpod_id, p.name as pod_name from compute_sessions s join compute_pods p on p.id = s.pod_id " +
      "where s.org_id = ? and (s.stop_at > ? or (? and s.finished = 0)) and (? is null or s.start_at < ?) " +
      "and (? is null or s.state = ?) order by s.start_at, s.id limit ?",
    orgId,
    filter.from,
    filter.withUnfinished ? 1 : 0,
    filter.to,
    filter.to,
    filter.state,
    filter.state,
    filter.limit,
  );
}

/** The next session of each pod of an org that begins after `now`, by our pod id. */
export function nextSessions(
  db: Database,
  orgId: number,
  now: number,
): Map<string, Pick<SessionRow, "title" | "start_at" | "stop_at">> {
  const rows = db.all<Pick<SessionRow, "pod_id" | "title" | "start_at" | "stop_at">>(
    "select s.pod_id, s.title, s.start_at, s.stop_at from (" +
      "select pod_id, min(start_at) as start_at from compute_sessions " +
      "where finished = 0 and org_id = ? and start_at > ? group by pod_id" +
      ") n join compute_sessions s on s.pod_id = n.pod_id and s.start_at = n.start_at and s.finished = 0",
    orgId,
    now,
  );
  return new Map(rows.map((row) => [row.pod_id, row]));
}

/** All unfinished sessions of those pods of an org that have one that has begun, by start. */
export function sessionsOfBegunPods(
  db: Database,
  orgId: number,
  now: number,
): Pick<SessionRow, "pod_id" | "start_at" | "stop_at" | "started">[] {
  return db.all(
    "select pod_id, start_at, stop_at, started from compute_sessions where finished = 0 and pod_id in (" +
      "select pod_id from compute_sessions where finished = 0 and org_id = ?1 " +
      "and start_at <= ?2 + 3600000 and (started = 1 or start_at <= ?2)" +
      ") order by start_at, id",
    orgId,
    now,
  );
}

export type SessionOutOfOrder =
  & SessionRow
  & Pick<PodRow, "runpod_id" | "status_why" | "status_since">
  & { readonly pod_name: string };

/**
 * Unfinished sessions of an org whose start or stop fails, and those that should run now while their pod was stopped outside
 * orgpods.
 */
export function sessionsOutOfOrder(db: Database, orgId: number, now: number): SessionOutOfOrder[] {
  return db.all(
    "select s.*, p.runpod_id, p.name as pod_name, p.status_why, p.status_since from compute_sessions s " +
      "join compute_pods p on p.id = s.pod_id where s.finished = 0 and s.org_id = ? and (s.error is not null " +
      "or s.started = 1 and s.stop_at > ? and p.status in ('EXITED', 'ERROR') and p.status_why like '% outside orgpods%') " +
      "order by s.start_at, s.id",
    orgId,
    now,
  );
}

/** Forgets sessions that finished before a time. */
export function pruneSessions(db: Database, before: number): number {
  return db.run(
    "delete from compute_sessions where finished = 1 and max(stop_at, coalesce(finished_at, 0)) < ?",
    before,
  );
}

export type SessionChange = Partial<
  Pick<
    SessionRow,
    | "title"
    | "start_at"
    | "stop_at"
    | "started"
    | "finished"
    | "state"
    | "error"
    | "error_at"
    | "failing_since"
    | "starting_at"
    | "started_at"
    | "finished_at"
    | "extended_minutes"
    | "over_budget"
    | "on_gpu_taken"
  >
>;

/** Changes the given columns of a session, and none else. */
export function updateSession(db: Database, id: number, change: SessionChange): void {
  for (const [column, value] of Object.entries(change)) {
    if (value !== undefined) db.run(`update compute_sessions set ${column} = ? where id = ?`, value, id);
  }
}

/**
 * A pod was stopped, and sessions of it were put off after that stop had been asked for: they wait for a start again.
 */
export function resumeSessions(db: Database, podId: string, now: number): void {
  db.run(
    "update compute_sessions set state = 'scheduled', started = 0, starting_at = null, error = null, error_at = null, " +
      "failing_since = null where pod_id = ? and finished = 0 and started = 1 and stop_at > ?",
    podId,
    now,
  );
}

export function deleteSession(db: Database, id: number): void {
  db.run("delete from compute_sessions where id = ?", id);
}
