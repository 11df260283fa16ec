/** The program's own records, read beside it: what it stored, whichever of its lives did. */
import { DatabaseSync } from "node:sqlite";
import type { EventRow } from "../../../db/stores/events.ts";
import type { IntentRow } from "../../../db/stores/intents.ts";
import type { PodRow } from "../../../db/stores/pods.ts";
import type { SessionRow } from "../../../db/stores/sessions.ts";

export type StoredSession = SessionRow & { readonly runpod_id: string | null; readonly pod_state: string };

export interface AuditRow {
  readonly action: string;
  readonly pod_id: string | null;
  readonly status: number;
  readonly outcome: string;
  readonly details: string;
  readonly actor_kind: string;
}

export interface Records {
  /** Sessions of one RunPod pod, or of the pod it is a later home of. */
  sessionsOf(runpodId: string): StoredSession[];
  /** Unfinished ones that begin up to a time. */
  unfinished(startsBefore: number): StoredSession[];
  sessions(): StoredSession[];
  titled(title: string): StoredSession[];
  /** The pod of a name that is in the list. */
  podNamed(name: string): PodRow | undefined;
  livePods(): PodRow[];
  isKnown(runpodId: string): boolean;
  /** RunPod's ids of each pod, by our own. */
  incarnations(): { readonly runpod_id: string; readonly pod_id: string }[];
  intents(): IntentRow[];
  openIntents(): IntentRow[];
  /** Creates whose outcome is not known, by the pod's name at RunPod. */
  openCreates(): string[];
  events(): EventRow[];
  audit(): AuditRow[];
  /** The next time after `now` at which a session's pod is due to start or stop; Infinity when there is none. */
  nextEdge(now: number, leadMs: number): number;
  /** RunPod's ids of pods that are in attention, or whose terminate was asked for. */
  lookedAfter(): Set<string>;
  close(): void;
}

const SESSIONS = "select s.*, p.runpod_id, p.state as pod_state from compute_sessions s " +
  "join compute_pods p on p.id = s.pod_id";

export function openRecords(path: string): Records {
  const file = new DatabaseSync(path, { readOnly: true });
  const statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  const all = <T>(sql: string, ...values: (string | number)[]): T[] => {
    let statement = statements.get(sql);
    if (statement === undefined) statements.set(sql, statement = file.prepare(sql));
    return statement.all(...values) as T[];
  };
  const edge = (column: string, after: number) =>
    all<{ at: number | null }>(`select min(${column}) as at from compute_sessions where ${column} > ?`, after)[0]!.at ??
      Infinity;
  return {
    sessionsOf: (runpodId) =>
      all(
        `${SESSIONS} where s.pod_id = (select pod_id from compute_pod_incarnations where runpod_id = ?)`,
        runpodId,
      ),
    unfinished: (startsBefore) => all(`${SESSIONS} where s.finished = 0 and s.start_at <= ?`, startsBefore),
    sessions: () => all(`${SESSIONS} order by s.start_at`),
    titled: (title) => all(`${SESSIONS} where s.title = ? order by s.start_at`, title),
    podNamed: (name) => all<PodRow>("select * from compute_pods where name = ? and state = 'live'", name)[0],
    livePods: () => all("select * from compute_pods where state = 'live'"),
    isKnown: (runpodId) => all("select 1 from compute_pod_incarnations where runpod_id = ?", runpodId).length > 0,
    incarnations: () => all("select runpod_id, pod_id from compute_pod_incarnations"),
    intents: () => all("select * from compute_intents order by rowid"),
    openIntents: () => all("select * from compute_intents where state in ('saved', 'sent', 'unsettled')"),
    openCreates: () =>
      all<{ name: string }>(
        "select coalesce(json_extract(i.request, '$.runpod_name'), p.runpod_name) as name from compute_intents i " +
          "join compute_pods p on p.id = i.pod_id " +
          "where i.action = 'create' and i.state in ('saved', 'sent', 'unsettled')",
      ).map((row) => row.name),
    events: () => all("select * from events order by id"),
    audit: () => all("select action, pod_id, status, outcome, details, actor_kind from audit_log order by id"),
    nextEdge: (now, leadMs) =>
      Math.min(edge("start_at", now + leadMs) - leadMs, edge("start_at", now), edge("stop_at", now)),
    lookedAfter: () =>
      new Set(
        all<{ id: string }>(
          "select runpod_id as id from attention where closed_at is null union " +
            "select runpod_id from compute_intents where action = 'terminate'",
        ).map((row) => row.id),
      ),
    close: () => file.close(),
  };
}
