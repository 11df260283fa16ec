import type { Database } from "../database.ts";

export type PodAction = "start" | "stop" | "restart" | "terminate";
export type IntentAction = "create" | PodAction;

/**
 * `saved`: written, RunPod certainly not asked. `sent`: the call may be on its way. `unsettled`: the answer was lost
 * and is being looked for. `done`, `failed`: known. `forgotten`: an officer gave it up.
 */
export type IntentState = "saved" | "sent" | "unsettled" | "done" | "failed" | "forgotten";

export interface IntentRow {
  readonly id: string;
  readonly org_id: number;
  readonly pod_id: string;
  readonly runpod_id: string | null;
  readonly action: IntentAction;
  readonly state: IntentState;
  readonly request: string;
  readonly idempotency_key: string | null;
  readonly request_hash: string | null;
  readonly asked_by: string;
  readonly asked_at: number;
  readonly sent_at: number | null;
  readonly settled_at: number | null;
  readonly error_code: string | null;
  readonly error: string | null;
}

export interface NewIntent {
  readonly id: string;
  readonly orgId: number;
  readonly podId: string;
  readonly runpodId: string | null;
  readonly action: IntentAction;
  /** What was asked, env names only. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly idempotencyKey?: string | null;
  readonly requestHash?: string | null;
  readonly askedBy: string;
}

export function insertIntent(db: Database, intent: NewIntent, now: number): void {
  db.run(
    "insert into compute_intents (id, org_id, pod_id, runpod_id, action, state, request, idempotency_key, request_hash, " +
      "asked_by, asked_at) values (?, ?, ?, ?, ?, 'saved', ?, ?, ?, ?, ?)",
    intent.id,
    intent.orgId,
    intent.podId,
    intent.runpodId,
    intent.action,
    JSON.stringify(intent.request),
    intent.idempotencyKey ?? null,
    intent.requestHash ?? null,
    intent.askedBy,
    now,
  );
}

export function markSent(db: Database, id: string, now: number): void {
  db.run("update compute_intents set state = 'sent', sent_at = ? where id = ?", now, id);
}

export function markUnsettled(db: Database, id: string, error: string): void {
  db.run("update compute_intents set state = 'unsettled', error = ? where id = ?", error, id);
}

export function settleIntent(
  db: Database,
  id: string,
  outcome: { state: "done" | "failed" | "forgotten"; errorCode?: string; error?: string },
  now: number,
): void {
  db.run(
    "update compute_intents set state = ?, settled_at = ?, error_code = ?, error = ? where id = ?",
    outcome.state,
    now,
    outcome.errorCode ?? null,
    outcome.error ?? null,
    id,
  );
}

export function intentById(db: Database, id: string): IntentRow | undefined {
  return db.get("select * from compute_intents where id = ?", id);
}

export function intentByIdempotencyKey(db: Database, orgId: number, key: string): IntentRow | undefined {
  return db.get("select * from compute_intents where org_id = ? and idempotency_key = ?", orgId, key);
}

/** Is the outcome of this intent still not known? */
export function isOpen(intent: IntentRow | undefined): boolean {
  return intent !== undefined && ["saved", "sent", "unsettled"].includes(intent.state);
}

/** Intents whose outcome is not known, oldest first; of one org or of all. */
export function openIntents(db: Database, orgId?: number): IntentRow[] {
  const open = "state in ('saved', 'sent', 'unsettled')";
  return orgId === undefined
    ? db.all(`select * from compute_intents where ${open} order by asked_at`)
    : db.all(`select * from compute_intents where ${open} and org_id = ? order by asked_at`, orgId);
}

/** What was asked of the same pod after this intent, if it was something else; the newest. */
export function laterAction(db: Database, intent: Pick<IntentRow, "id" | "pod_id" | "action">): PodAction | undefined {
  return db.get<{ action: PodAction }>(
    "select action from compute_intents where pod_id = ? and action != ? and state != 'failed' " +
      "and rowid > (select rowid from compute_intents where id = ?) order by rowid desc limit 1",
    intent.pod_id,
    intent.action,
    intent.id,
  )?.action;
}

/** The unsettled action of a pod, if there is one; what was asked of a pod that it replaced does not count. */
export function openIntentOf(db: Database, podId: string): IntentRow | undefined {
  return db.get(
    "select i.* from compute_intents i join compute_pods p on p.id = i.pod_id where i.pod_id = ? " +
      "and i.state in ('saved', 'sent', 'unsettled') and (i.runpod_id is null or i.runpod_id = p.runpod_id) limit 1",
    podId,
  );
}

/** All unsettled actions and creates of the present incarnation of a pod. */
export function openIntentsOf(db: Database, podId: string): IntentRow[] {
  return db.all(
    "select i.* from compute_intents i join compute_pods p on p.id = i.pod_id where i.pod_id = ? " +
      "and i.state in ('saved', 'sent', 'unsettled') and (i.runpod_id is null or i.runpod_id = p.runpod_id)",
    podId,
  );
}

/** An unsettled create of a pod with this name. */
export function openCreateNamed(db: Database, orgId: number, name: string): IntentRow | undefined {
  return db.get(
    "select i.* from compute_intents i join compute_pods p on p.id = i.pod_id where i.org_id = ? and i.action = 'create' " +
      "and i.state in ('saved', 'sent', 'unsettled') and p.name = ? limit 1",
    orgId,
    name,
  );
}

/**
 * Was one of these actions asked of this pod here, and not settled before `since`, so that RunPod may have done it? What it
 * refused outright moves no pod; a start that found no GPU is stopped again by us.
 */
export function actionTouching(
  db: Database,
  podId: string,
  since: number,
  actions: readonly IntentAction[],
): boolean {
  return db.get(
    "select 1 from compute_intents where pod_id = ?1 and (settled_at is null or settled_at >= ?2) " +
      "and not (state = 'failed' and error_code in ('runpod_refused', 'runpod_key_refused', 'runpod_rate_limited')) " +
      "and (action in (select value from json_each(?3)) " +
      "or error_code = 'runpod_no_capacity' and action in ('start', 'restart')) limit 1",
    podId,
    since,
    JSON.stringify(actions),
  ) !== undefined;
}

/** Was a terminate asked for of this RunPod id of which it is not known yet whether it happened? */
export function hasOpenTerminate(db: Database, runpodId: string): boolean {
  return db.get(
    "select 1 from compute_intents where runpod_id = ? and action = 'terminate' " +
      "and state in ('saved', 'sent', 'unsettled') limit 1",
    runpodId,
  ) !== undefined;
}

/** The newest intent of a pod of one action. */
export function lastIntent(db: Database, podId: string, action: IntentAction): IntentRow | undefined {
  return db.get(
    "select * from compute_intents where pod_id = ? and action = ? order by rowid desc limit 1",
    podId,
    action,
  );
}

/** The first of the stops of a pod that did not happen, since anything was last done with it; undefined for none. */
export function failingStop(db: Database, podId: string): Pick<IntentRow, "id" | "asked_at"> | undefined {
  return db.get(
    "select id, asked_at from compute_intents where pod_id = ? and action = 'stop' and state = 'failed' and rowid > " +
      "coalesce((select max(rowid) from compute_intents where pod_id = ? and state = 'done'), 0) order by rowid limit 1",
    podId,
    podId,
  );
}
