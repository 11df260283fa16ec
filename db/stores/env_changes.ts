import type { Database } from "../database.ts";

/** One change of a stopped pod's env at RunPod. `unsettled`: the answer was lost and is being looked for. */
export interface EnvChangeRow {
  readonly id: string;
  readonly org_id: number;
  readonly pod_id: string;
  readonly runpod_id: string;
  readonly backend: string;
  readonly user_ca: string;
  readonly state: "sent" | "unsettled" | "done" | "failed";
  readonly asked_at: number;
  readonly settled_at: number | null;
  readonly error: string | null;
}

export interface NewEnvChange {
  readonly id: string;
  readonly orgId: number;
  readonly podId: string;
  readonly runpodId: string;
  /** The fingerprints that the env is to have. */
  readonly backend: string;
  readonly userCa: string;
}

export function insertEnvChange(db: Database, change: NewEnvChange, now: number): void {
  db.run(
    "insert into env_changes (id, org_id, pod_id, runpod_id, backend, user_ca, asked_at) values (?, ?, ?, ?, ?, ?, ?)",
    change.id,
    change.orgId,
    change.podId,
    change.runpodId,
    change.backend,
    change.userCa,
    now,
  );
}

export function openEnvChange(db: Database, podId: string): EnvChangeRow | undefined {
  return db.get("select * from env_changes where pod_id = ? and state in ('sent', 'unsettled')", podId);
}

/** The last change of a pod's env of which it is known what became of it. */
export function lastSettledChange(db: Database, podId: string): EnvChangeRow | undefined {
  return db.get(
    "select * from env_changes where pod_id = ? and state in ('done', 'failed') order by rowid desc limit 1",
    podId,
  );
}

export function markEnvUnsettled(db: Database, id: string, error: string): void {
  db.run("update env_changes set state = 'unsettled', error = ? where id = ?", error, id);
}

export function settleEnvChange(
  db: Database,
  id: string,
  outcome: { readonly state: "done" | "failed"; readonly error: string | null },
  now: number,
): void {
  db.run(
    "update env_changes set state = ?, settled_at = ?, error = ? where id = ?",
    outcome.state,
    now,
    outcome.error,
    id,
  );
}

/** Removes settled changes from before `before`. */
export function pruneEnvChanges(db: Database, before: number): number {
  return db.run("delete from env_changes where state in ('done', 'failed') and asked_at < ?", before);
}
