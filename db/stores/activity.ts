/** What is known of the work on a pod, the rules that stop it by itself, and how such a stop went. */
import type { Database } from "../database.ts";
import type { LivePod } from "./pods.ts";
import type { SessionRow } from "./sessions.ts";

/** RunPod's report of a pod's use at a time; per cent. `since`: it is reported without a gap from then on. */
export interface UseReport {
  readonly gpuPercent: number | null;
  readonly cpuPercent: number;
  readonly at: number;
  readonly since: number;
}

export function storeUse(db: Database, podId: string, use: UseReport): void {
  db.run(
    "update compute_pods set gpu_percent = ?, cpu_percent = ?, use_at = ?, use_since = ? where id = ?",
    use.gpuPercent,
    use.cpuPercent,
    use.at,
    use.since,
    podId,
  );
}

/** Somebody or something was at work on the pod at `at`. */
export function storeActive(db: Database, podId: string, why: string, at: number): void {
  db.run("update compute_pods set active_at = ?, active_why = ? where id = ?", at, why, podId);
}

/** Who is on the pod was read at `at`, and could be read without a gap since `since`. */
export function storePresence(db: Database, podId: string, at: number, since: number): void {
  db.run(
    "update compute_pods set presence_at = ?, presence_since = ?, presence_error = null, " +
      "presence_failing_since = null where id = ?",
    at,
    since,
    podId,
  );
}

/** Who is on the pod could not be read, and has not been since `since`. */
export function storePresenceError(db: Database, podId: string, error: string, since: number): void {
  db.run(
    "update compute_pods set presence_error = ?, presence_failing_since = ? where id = ?",
    error,
    since,
    podId,
  );
}

/** The people on the pod were told of its stop at `stopAt`, at most so many minutes before. */
export function storeWarned(db: Database, podId: string, stopAt: number, minutes: number): void {
  db.run("update compute_pods set warned_stop_at = ?, warned_minutes = ? where id = ?", stopAt, minutes, podId);
}

export interface AutoStopFailure {
  readonly since: number;
  /** When it is tried again; null: it was given up. */
  readonly nextAt: number | null;
  readonly error: string;
}

export function storeAutoStopFailure(db: Database, podId: string, failure: AutoStopFailure | null): void {
  db.run(
    "update compute_pods set auto_stop_failing_since = ?, auto_stop_next_at = ?, auto_stop_error = ? where id = ?",
    failure?.since ?? null,
    failure?.nextAt ?? null,
    failure?.error ?? null,
    podId,
  );
}

/** Pods whose stop by itself failed, with their last known state. */
export function failingAutoStops(db: Database): { readonly id: string; readonly status: string | null }[] {
  return db.all("select id, status from compute_pods where auto_stop_failing_since is not null");
}

/** The pod's own rules; null takes the org's, 0 switches a rule off, undefined leaves it as it is. */
export interface OwnRules {
  readonly auto_stop_after_minutes?: number | null | undefined;
  readonly max_run_hours?: number | null | undefined;
}

export function setOwnRules(db: Database, podId: string, rules: OwnRules): void {
  if (rules.auto_stop_after_minutes !== undefined) {
    db.run("update compute_pods set auto_stop_after_minutes = ? where id = ?", rules.auto_stop_after_minutes, podId);
  }
  if (rules.max_run_hours !== undefined) {
    db.run("update compute_pods set max_run_hours = ? where id = ?", rules.max_run_hours, podId);
  }
}

export function setKeepUntil(db: Database, podId: string, until: number): void {
  db.run("update compute_pods set keep_until = ? where id = ?", until, podId);
}

/** The pods of an org that are up, or were up when they were last seen. */
export function upPods(db: Database, orgId: number): LivePod[] {
  return db.all(
    "select * from compute_pods where org_id = ? and state = 'live' and up_since is not null order by created_at, id",
    orgId,
  );
}

const OF_THIS_RUN = "(s.finished = 0 or s.stop_at > p.up_since)";

/** The sessions that bear on a pod's present run: unfinished ones, and those that ended in it; by start. */
export function sessionsOfRun(db: Database, podId: string): SessionRow[] {
  return db.all(
    `select s.* from compute_pods p join compute_sessions s on s.pod_id = p.id where p.id = ? and ${OF_THIS_RUN} ` +
      "order by s.start_at, s.id",
    podId,
  );
}

/** The same for all pods of an org that are up, by our pod id. */
export function sessionsOfRuns(db: Database, orgId: number): Map<string, SessionRow[]> {
  return Map.groupBy(
    db.all<SessionRow>(
      "select s.* from compute_pods p cross join compute_sessions s on s.pod_id = p.id " +
        `where p.org_id = ? and p.state = 'live' and p.up_since is not null and ${OF_THIS_RUN} ` +
        "order by s.start_at, s.id",
      orgId,
    ),
    (session) => session.pod_id,
  );
}
