import type { Database } from "../database.ts";
import { setAllowedUsers } from "./pod_access.ts";
import type { PodKeyColumns } from "./pod_keys.ts";
import type { PodSetupColumns } from "./pod_setup.ts";

export type PodRowState = "creating" | "live" | "failed" | "terminated";

/** A pod of ours with the state RunPod last reported. `id` is ours; `runpod_id` is its present incarnation. */
export interface PodRow extends PodSetupColumns, PodKeyColumns {
  readonly id: string;
  readonly org_id: number;
  readonly name: string;
  readonly provider: string;
  readonly runpod_name: string;
  readonly runpod_id: string | null;
  readonly state: PodRowState;
  readonly is_public: number;
  readonly config: string;
  readonly keeps_files: number;
  readonly created_by: string | null;
  readonly created_at: number;
  readonly status: string | null;
  readonly host: string | null;
  readonly port: number | null;
  readonly machine: string | null;
  readonly cost_per_hour: number | null;
  readonly gpu_count: number | null;
  readonly start_key: string | null;
  readonly started_at: number | null;
  readonly as_of: number | null;
  readonly missing_count: number;
  readonly missing_since: number | null;
  readonly forwarding: "refused" | "allowed" | null;
  readonly forwarding_start: string | null;
  readonly reachable_at: number | null;
  readonly reachable_start: string | null;
  readonly unreachable_reason: string | null;
  /** Since when it is up without a break. */
  readonly up_since: number | null;
  /** 1: an officer asked for this run although the month's budget was spent. */
  readonly run_over_budget: number;
  /** The pod's own rules; null takes the org's, 0 switches the rule off. */
  readonly auto_stop_after_minutes: number | null;
  readonly max_run_hours: number | null;
  /** An officer put the stops by itself off until then. */
  readonly keep_until: number | null;
  readonly active_at: number | null;
  readonly active_why: string | null;
  readonly gpu_percent: number | null;
  readonly cpu_percent: number | null;
  readonly use_at: number | null;
  /** Since when RunPod reports the use without a gap; the same of who is on. */
  readonly use_since: number | null;
  readonly presence_at: number | null;
  readonly presence_since: number | null;
  readonly presence_error: string | null;
  readonly presence_failing_since: number | null;
  readonly warned_stop_at: number | null;
  readonly warned_minutes: number | null;
  readonly auto_stop_failing_since: number | null;
  readonly auto_stop_next_at: number | null;
  readonly auto_stop_error: string | null;
  readonly trouble: string | null;
  readonly trouble_since: number | null;
  /** Why it is in its state, as people read it. */
  readonly status_why: string | null;
  readonly status_since: number | null;
  readonly terminated_at: number | null;
}

/** A pod that RunPod knows (or knew): it has an id there. */
export type LivePod = PodRow & { readonly runpod_id: string };

export interface NewPod {
  readonly id: string;
  readonly orgId: number;
  readonly name: string;
  readonly runpodName: string;
  readonly isPublic: boolean;
  readonly allowedUsers: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
  readonly keepsFiles: boolean;
  readonly createdBy: string | null;
}

/** Stores a pod that RunPod has not been asked for yet. */
export function insertPod(db: Database, pod: NewPod, now: number): void {
  db.run(
    "insert into compute_pods (id, org_id, name, runpod_name, state, is_public, config, keeps_files, created_by, " +
      "created_at) values (?, ?, ?, ?, 'creating', ?, ?, ?, ?, ?)",
    pod.id,
    pod.orgId,
    pod.name,
    pod.runpodName,
    pod.isPublic ? 1 : 0,
    JSON.stringify(pod.config),
    pod.keepsFiles ? 1 : 0,
    pod.createdBy,
    now,
  );
  setAllowedUsers(db, pod.id, pod.allowedUsers);
}

export function podById(db: Database, id: string): PodRow | undefined {
  return db.get("select * from compute_pods where id = ?", id);
}

/** A live pod by RunPod's id, the present one or an older one of the same pod. */
export function podByRunpodId(db: Database, orgId: number, runpodId: string): LivePod | undefined {
  return db.get<LivePod>(
    "select * from compute_pods where org_id = ? and runpod_id = ? and state = 'live'",
    orgId,
    runpodId,
  ) ?? db.get<LivePod>(
    "select p.* from compute_pod_incarnations i join compute_pods p on p.id = i.pod_id " +
      "where i.runpod_id = ? and p.org_id = ? and p.state = 'live'",
    runpodId,
    orgId,
  );
}

export function livePods(db: Database, orgId: number): LivePod[] {
  return db.all("select * from compute_pods where org_id = ? and state = 'live' order by created_at, id", orgId);
}

/** Live pods that are not simply stopped, or of which something was wrong: the few that need a look at every turn. */
export function unsettledPods(db: Database, orgId: number): LivePod[] {
  return db.all(
    "select * from compute_pods where org_id = ? and state = 'live' and (status is not 'EXITED' or trouble is not null) " +
      "order by created_at, id",
    orgId,
  );
}

/** Live pods the person may use: all for an officer, else public ones and those that list the person, less blocked. */
export function usablePods(db: Database, orgId: number, who: { discordId: string; isOfficer: boolean }): PodRow[] {
  if (who.isOfficer) return livePods(db, orgId);
  return db.all(
    "select p.* from compute_pods p where p.org_id = ? and p.state = 'live' " +
      "and (p.is_public = 1 or exists (select 1 from compute_pod_members m where m.pod_id = p.id and m.discord_id = ?)) " +
      "and not exists (select 1 from blocked_users b where b.org_id = p.org_id and b.pod_id in ('', p.id) " +
      "and b.discord_id = ?) order by p.created_at, p.id",
    orgId,
    who.discordId,
    who.discordId,
  );
}

/** Gives a pod its (next) RunPod id. Throws on an id that any pod of any org has or had. */
export function bindRunpodId(db: Database, podId: string, runpodId: string, why: string, now: number): void {
  db.run("update compute_pod_incarnations set until = ? where pod_id = ? and until is null", now, podId);
  db.run(
    "insert into compute_pod_incarnations (runpod_id, pod_id, since, why) values (?, ?, ?, ?)",
    runpodId,
    podId,
    now,
    why,
  );
  db.run(
    "update compute_pods set runpod_id = ?, state = 'live', missing_count = 0, missing_since = null where id = ?",
    runpodId,
    podId,
  );
}

/** True when a pod of any org has (or had) this name at RunPod. */
export function runpodNameTaken(db: Database, runpodName: string): boolean {
  return db.get("select 1 from compute_pods where runpod_name = ?", runpodName) !== undefined;
}

export function incarnationKnown(db: Database, runpodId: string): boolean {
  return db.get("select 1 from compute_pod_incarnations where runpod_id = ?", runpodId) !== undefined;
}

/**
 * Since when a pod has had its present RunPod id; milliseconds UTC. A pod that was put in the place of another one is as
 * young as a new one.
 */
export function incarnationSince(db: Database, pod: Pick<PodRow, "runpod_id" | "created_at">): number {
  return db.get<{ since: number }>("select since from compute_pod_incarnations where runpod_id = ?", pod.runpod_id)
    ?.since ?? pod.created_at;
}

/** Is this RunPod id the one that a pod in the list has now? */
export function isPresentIncarnation(db: Database, runpodId: string): boolean {
  return db.get("select 1 from compute_pods where runpod_id = ? and state = 'live'", runpodId) !== undefined;
}

/** Is this RunPod id the last one that its pod had, whether the pod is in the list or terminated? */
export function isLatestIncarnation(db: Database, runpodId: string): boolean {
  return db.get("select 1 from compute_pods where runpod_id = ?", runpodId) !== undefined;
}

export interface SeenState {
  readonly status: string;
  readonly host: string | null;
  readonly port: number | null;
  readonly machine: string | null;
  readonly costPerHour: number | null;
  readonly gpuCount: number | null;
  readonly startKey: string | null;
  readonly startedAt: number | null;
  readonly upSince: number | null;
}

/** Stores what RunPod said about a pod. With a run ends what an officer allowed that run. */
export function storeSeen(db: Database, podId: string, seen: SeenState, now: number): void {
  db.run(
    "update compute_pods set status = ?, host = ?, port = ?, machine = ?, cost_per_hour = ?, gpu_count = ?, " +
      "start_key = ?, started_at = ?, run_over_budget = iif(up_since is not null and ? is null, 0, run_over_budget), " +
      "up_since = ?, as_of = ?, missing_count = 0, missing_since = null where id = ?",
    seen.status,
    seen.host,
    seen.port,
    seen.machine,
    seen.costPerHour,
    seen.gpuCount,
    seen.startKey,
    seen.startedAt,
    seen.upSince,
    seen.upSince,
    now,
    podId,
  );
}

/** Stores of many pods at once that RunPod shows them as they were. */
export function confirmPods(db: Database, podIds: readonly string[], now: number): void {
  db.run(
    "update compute_pods set as_of = ? where id in (select value from json_each(?))",
    now,
    JSON.stringify(podIds),
  );
}

/** Stores that RunPod did not show a pod when it was asked at `now`, unless it was heard of since. */
export function storeMissing(db: Database, podId: string, gone: boolean, now: number): void {
  const changed = db.run(
    "update compute_pods set missing_count = missing_count + 1, missing_since = coalesce(missing_since, ?) " +
      "where id = ? and coalesce(as_of, 0) <= ?",
    now,
    podId,
    now,
  );
  if (gone && changed > 0) {
    db.run(
      "update compute_pods set status = 'GONE', host = null, port = null, cost_per_hour = null, up_since = null, " +
        "run_over_budget = 0, as_of = ? where id = ?",
      now,
      podId,
    );
  }
}

/**
 * Once a stop or restart was asked for, the address and the pinned host key of this start are worth nothing. The pin goes
 * because RunPod may report the next start under the same times, and its new key would look like an attack.
 */
export function dropAddress(db: Database, podId: string): void {
  db.run(
    "delete from host_key_pins where pod_id = ? and start_key = (select start_key from compute_pods where id = ?)",
    podId,
    podId,
  );
  // Nor what was learnt of its keys: the next start may come under the same times.
  db.run("update compute_pods set host = null, port = null, keys_start = null where id = ?", podId);
}

/** An officer asked, or did not, for the pod's run although the month's budget was spent. */
export function storeRunOverBudget(db: Database, podId: string, isOver: boolean): void {
  db.run("update compute_pods set run_over_budget = ? where id = ?", isOver ? 1 : 0, podId);
}

export function storeStatusWhy(db: Database, podId: string, why: string, now: number): void {
  db.run("update compute_pods set status_why = ?, status_since = ? where id = ?", why, now, podId);
}

export function storeTrouble(db: Database, podId: string, trouble: string | null, since: number | null): void {
  db.run("update compute_pods set trouble = ?, trouble_since = ? where id = ?", trouble, since, podId);
}

export function storeReachable(db: Database, podId: string, startKey: string, now: number): void {
  db.run(
    "update compute_pods set reachable_at = ?, reachable_start = ?, unreachable_reason = null where id = ?",
    now,
    startKey,
    podId,
  );
}

export function storeUnreachable(db: Database, podId: string, reason: string): void {
  db.run("update compute_pods set unreachable_reason = ? where id = ?", reason, podId);
}

export function storeForwarding(
  db: Database,
  podId: string,
  startKey: string,
  verdict: "refused" | "allowed",
): void {
  db.run("update compute_pods set forwarding = ?, forwarding_start = ? where id = ?", verdict, startKey, podId);
}

export function markFailed(db: Database, podId: string): void {
  db.run("update compute_pods set state = 'failed' where id = ? and state = 'creating'", podId);
}

/** A soft delete: the pod leaves the lists; its certificates, money and evidence stay. Upcoming sessions go. */
export function markTerminated(db: Database, podId: string, by: string, now: number): void {
  db.run(
    "update compute_pods set state = 'terminated', status = 'TERMINATED', host = null, port = null, " +
      "cost_per_hour = 0, up_since = null, run_over_budget = 0, terminated_at = ?, terminated_by = ? where id = ?",
    now,
    by,
    podId,
  );
  db.run("update compute_pod_incarnations set until = ? where pod_id = ? and until is null", now, podId);
  db.run("delete from compute_sessions where pod_id = ? and finished = 0 and started = 0", podId);
  db.run(
    "update compute_sessions set finished = 1, state = 'done', finished_at = ? where pod_id = ? and finished = 0",
    now,
    podId,
  );
}

/**
 * Takes a terminated pod back into the list, because RunPod still has it and bills it; only one that was terminated
 * before `before`. Returns our id of it, if there was one.
 */
export function reviveTerminated(db: Database, orgId: number, runpodId: string, before: number): string | undefined {
  return db.get<{ id: string }>(
    "update compute_pods set state = 'live', terminated_at = null, terminated_by = null " +
      "where org_id = ? and runpod_id = ? and state = 'terminated' and terminated_at < ? returning id",
    orgId,
    runpodId,
    before,
  )?.id;
}
