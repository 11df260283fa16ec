import type { z } from "zod";
import { attentionById, type AttentionRow, closeAttention, openAttentionRows } from "../../db/stores/attention.ts";
import { intentById, type IntentRow, isOpen, openIntents, settleIntent } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import {
  bindRunpodId,
  incarnationKnown,
  insertPod,
  type LivePod,
  livePods,
  markFailed,
  podById,
  runpodNameTaken,
  unsettledPods,
} from "../../db/stores/pods.ts";
import { caLinesOf } from "../../db/stores/revocations.ts";
import { type SessionOutOfOrder, sessionsOutOfOrder } from "../../db/stores/sessions.ts";
import { actorOf } from "../audit/write.ts";
import { isoTime } from "../clock.ts";
import { AppError, asClause } from "../errors.ts";
import { callerId, discordIdOf } from "../identity/callers.ts";
import type { Asker } from "../identity/callers.ts";
import { changedOutsideReader } from "../key_rotation/changed_outside.ts";
import type { RunpodPod } from "../runpod/client.ts";
import { RunpodError, toAppError } from "../runpod/errors.ts";
import { adoptCreated } from "./adopt.ts";
import type { attentionActionSchema } from "./attention_request.ts";
import type { PodDeps } from "./deps.ts";
import { requestOf } from "./replace.ts";
import { recordAnswer } from "./seen.ts";
import { carriesOurKey } from "./sync.ts";
import { type Trouble, TROUBLES } from "./trouble.ts";

/** Something officers must look at: what is known, and what to do. */
export interface AttentionView {
  readonly id: string;
  readonly kind:
    | "create_unsettled"
    | "action_unsettled"
    | "action_not_done"
    | "orphan"
    | "host_key_changed"
    | "session_failing"
    | "session_pod_down"
    | "keys_changed"
    | Trouble;
  readonly pod_id: string | null;
  readonly name: string | null;
  readonly since: string;
  readonly asked_by: string | null;
  readonly what: string;
  readonly todo: string;
  readonly actions: ("adopt" | "forget")[];
}

/** Everything of the org that is not settled or not as it should be, oldest first. */
export function listAttention(deps: PodDeps, org: Org): AttentionView[] {
  const { db } = deps;
  // A request that still waits for its first answer is nobody's trouble yet.
  const open = openIntents(db, org.id).filter((one) => one.state === "unsettled" || !deps.inFlight.has(one.id));
  const views = [
    ...open.map((intent) => intentView(deps, intent)),
    ...openAttentionRows(db, org.id).map((row) => rowView(deps, row)),
    ...unsettledPods(db, org.id).flatMap((pod) => podViews(deps, pod)),
    ...changedKeys(deps, org),
    ...sessionsOutOfOrder(db, org.id, deps.clock.now()).map(sessionAttention),
  ];
  return views.sort((a, b) => a.since < b.since ? -1 : a.since > b.since ? 1 : 0);
}

function intentView(deps: PodDeps, intent: IntentRow): AttentionView {
  const pod = podById(deps.db, intent.pod_id);
  const common = {
    id: intent.id,
    pod_id: intent.runpod_id,
    name: pod?.name ?? null,
    since: isoTime(intent.asked_at),
    asked_by: intent.asked_by,
  };
  if (intent.action !== "create") {
    return {
      ...common,
      kind: "action_unsettled",
      what: `Whether the ${intent.action} happened is not known yet: ${intent.error ?? "no answer so far"}.`,
      todo: "Wait: the pod is read again every few seconds. Look at RunPod's console if this stays.",
      actions: ["forget"],
    };
  }
  const wanted = requestOf(intent).runpod_name ?? pod?.runpod_name;
  const searched = deps.clock.now() - (intent.sent_at ?? intent.asked_at) > deps.timings.settleWindowMs;
  return {
    ...common,
    kind: "create_unsettled",
    what: `RunPod's answer to a create was lost (${intent.error ?? "no answer so far"}). ` +
      (searched ? `RunPod's list shows no pod named ${wanted}.` : `A pod named ${wanted} is being looked for.`),
    todo: searched
      ? `Look for ${wanted} in RunPod's console. If it is there, adopt it with its RunPod id; if not, forget ` +
        "this entry. Should the pod show up later, it is adopted by itself until then."
      : "Wait about a minute. Do not create the pod again.",
    actions: ["adopt", "forget"],
  };
}

function rowView(deps: PodDeps, row: AttentionRow): AttentionView {
  const details = JSON.parse(row.details) as Record<string, string | number | null>;
  const pod = row.pod_id === null ? undefined : podById(deps.db, row.pod_id);
  const common = { id: row.id, pod_id: row.runpod_id, since: isoTime(row.found_at), asked_by: null };
  if (row.kind === "action_not_done") {
    return {
      ...common,
      kind: "action_not_done",
      name: pod?.name ?? null,
      what: `A ${details.action} that was asked for did not happen: ${details.error}.`,
      todo: "Ask for it again if it is still wanted, then forget this entry.",
      actions: ["forget"],
    };
  }
  if (row.runpod_id !== null && incarnationKnown(deps.db, row.runpod_id)) {
    return {
      ...common,
      kind: "orphan",
      name: String(details.name),
      what:
        `The RunPod account still has the pod ${row.runpod_id} (${details.name}), whose place another one took. It ` +
        "costs money.",
      todo: "Terminate it in RunPod's console; this entry then closes by itself.",
      actions: ["forget"],
    };
  }
  return {
    ...common,
    kind: "orphan",
    name: String(details.name),
    what:
      `The RunPod account has a pod ${row.runpod_id} (${details.name}) with this organization's keys that is not in ` +
      `the list${pod === undefined ? "" : `; it looks like a later home of the pod ${pod.name}`}. It may cost money.`,
    todo: "Adopt it to see and control it here, or terminate it in RunPod's console and forget this entry.",
    actions: ["adopt", "forget"],
  };
}

/** A session that should run, or stop, and does not. */
function sessionAttention(session: SessionOutOfOrder): AttentionView {
  const title = session.title === null ? "" : ` (${session.title})`;
  const common = { pod_id: session.runpod_id, name: session.pod_name, asked_by: session.created_by, actions: [] };
  if (session.error !== null) {
    return {
      ...common,
      id: `session-${session.id}`,
      kind: "session_failing",
      since: isoTime(session.failing_since ?? session.error_at ?? session.start_at),
      what: `Session ${session.id}${title}: ${asClause(session.error)}.`,
      todo: `It is tried again every few minutes. The session ends at ${isoTime(session.stop_at)}.`,
    };
  }
  return {
    ...common,
    id: `session-${session.id}`,
    kind: "session_pod_down",
    since: isoTime(session.status_since ?? session.start_at),
    what: `Session ${session.id}${title} should be running and its pod is down: ${asClause(session.status_why ?? "")}.`,
    todo: "Start the pod if the session should go on: a stop during a session is respected, so the schedule does not.",
  };
}

/** Pods that the server, or everybody, cannot get into sooner or later, because their env has other keys. */
function changedKeys({ db }: PodDeps, org: Org): AttentionView[] {
  const changedOutside = changedOutsideReader(db, org.id);
  return livePods(db, org.id).flatMap((pod) =>
    changedOutside(pod).filter((change) => change.what === "keys").slice(0, 1).map(({ sentence, todo }) => ({
      id: `keys-${pod.runpod_id}`,
      kind: "keys_changed" as const,
      pod_id: pod.runpod_id,
      name: pod.name,
      since: isoTime(pod.as_of ?? pod.created_at),
      asked_by: null,
      what: sentence,
      todo,
      actions: [],
    }))
  );
}

function podViews(deps: PodDeps, pod: LivePod): AttentionView[] {
  const common = { pod_id: pod.runpod_id, name: pod.name, asked_by: null, actions: [] };
  const views: AttentionView[] = [];
  const trouble = pod.status === "GONE" ? "gone" : pod.trouble as Trouble | null;
  if (trouble !== null) {
    const since = trouble === "gone" ? pod.missing_since ?? pod.as_of : pod.trouble_since;
    const why = trouble === "unreachable" && pod.unreachable_reason !== null
      ? ` ${asClause(pod.unreachable_reason)}.`
      : "";
    views.push({
      ...common,
      id: `${trouble}-${pod.runpod_id}`,
      kind: trouble,
      since: isoTime(since ?? pod.created_at),
      what: TROUBLES[trouble].what + why,
      todo: TROUBLES[trouble].todo,
    });
  }
  const pin = deps.db.get<{ refused_at: number; refused_fingerprint: string; fingerprint: string }>(
    "select refused_at, refused_fingerprint, fingerprint from host_key_pins " +
      "where pod_id = ? and start_key = ? and refused_at is not null",
    pod.id,
    pod.start_key,
  );
  if (pin !== undefined) {
    views.push({
      ...common,
      id: `host-key-${pod.runpod_id}`,
      kind: "host_key_changed",
      since: isoTime(pin.refused_at),
      what: `The pod's SSH host key changed within one start: ${pin.fingerprint} was pinned, ` +
        `${pin.refused_fingerprint} was shown. No certificates are given for it.`,
      todo: "Find out who changed it. Restart the pod to begin anew.",
    });
  }
  return views;
}

/** Adopts or forgets an entry. Only pods that carry this org's CA key can be adopted (decision 12). */
export async function resolveAttention(
  deps: PodDeps,
  org: Org,
  asker: Asker,
  id: string,
  request: z.output<typeof attentionActionSchema>,
): Promise<void> {
  const intent = intentById(deps.db, id);
  const open = intent !== undefined && intent.org_id === org.id && isOpen(intent) ? intent : null;
  const row = open !== null ? undefined : attentionById(deps.db, org.id, id);
  if (open === null && row === undefined) throw new AppError("attention_not_found", "No such entry needs attention");
  if (open !== null && deps.inFlight.has(id)) {
    throw new AppError("action_pending", "The request is still being handled; wait until it has ended");
  }
  if (request.action === "forget") {
    forget(deps, org, asker, open, row ?? null);
    return;
  }
  const runpodId = row?.runpod_id ?? request.runpod_id ?? null;
  if (runpodId === null) throw new AppError("invalid_request", "runpod_id must name the pod to adopt");
  if (open !== null && open.action !== "create" || row?.kind === "action_not_done") {
    throw new AppError("invalid_request", "action must be forget: there is no pod to adopt here");
  }
  const askedAt = deps.clock.now();
  const pod = await readForAdoption(deps, org, runpodId);
  deps.db.tx(() => {
    if (incarnationKnown(deps.db, pod.id)) throw new AppError("conflict", "The pod is in a list already");
    if (open !== null) adoptCreated(deps, org, open, pod, askedAt, `adopted by ${callerId(asker.caller)}`);
    else adoptOrphan(deps, org, asker, row!, pod, askedAt);
    note(deps, org, asker, pod.id, { adopted: pod.id, name: pod.name });
  });
}

async function readForAdoption(deps: PodDeps, org: Org, runpodId: string): Promise<RunpodPod> {
  try {
    const pod = await deps.runpod.clientOf(org).get(runpodId, { timeoutMs: 8_000 });
    if (!carriesOurKey(pod, caLinesOf(deps.db, org.id).map((ca) => ca.line))) {
      throw new AppError("conflict", "The pod does not carry this organization's keys, so it was not made here");
    }
    return pod;
  } catch (error) {
    if (error instanceof RunpodError) throw toAppError(error);
    throw error;
  }
}

function adoptOrphan(deps: PodDeps, org: Org, asker: Asker, row: AttentionRow, pod: RunpodPod, askedAt: number): void {
  const { db, clock } = deps;
  const now = clock.now();
  const earlier = row.pod_id === null ? undefined : podById(db, row.pod_id);
  // A pod that moved keeps its sessions, access and money: the new id is one more incarnation of it.
  const moved = earlier !== undefined && earlier.state === "live" &&
    (earlier.status === "GONE" || earlier.missing_count > 0);
  const podId = moved ? earlier.id : crypto.randomUUID();
  if (!moved) {
    insertPod(db, {
      id: podId,
      orgId: org.id,
      name: pod.name.slice(0, 100),
      // Copies of a pod share its name at RunPod; here it is unique.
      runpodName: runpodNameTaken(db, pod.name) ? `${pod.name}-${pod.id}` : pod.name,
      isPublic: false,
      allowedUsers: [],
      config: {
        name: pod.name,
        image_name: pod.image,
        cloud_type: pod.cloud,
        use_cpu_only: pod.gpu === null && pod.cpu !== null,
        volume_in_gb: pod.volumeGb ?? 0,
        container_disk_in_gb: pod.disk,
        adopted: true,
      },
      keepsFiles: (pod.volumeGb ?? 0) > 0 || pod.networkVolume,
      createdBy: discordIdOf(asker.caller),
    }, now);
  }
  bindRunpodId(db, podId, pod.id, `adopted by ${callerId(asker.caller)}`, now);
  recordAnswer(deps, podId, pod, askedAt);
  closeAttention(db, row.id, callerId(asker.caller), "adopt", now);
}

function forget(deps: PodDeps, org: Org, asker: Asker, intent: IntentRow | null, row: AttentionRow | null): void {
  const { db, clock } = deps;
  db.tx(() => {
    if (intent !== null) {
      settleIntent(db, intent.id, { state: "forgotten", error: `Forgotten by ${callerId(asker.caller)}` }, clock.now());
      if (intent.action === "create") markFailed(db, intent.pod_id);
    }
    if (row !== null) closeAttention(db, row.id, callerId(asker.caller), "forget", clock.now());
    note(deps, org, asker, intent?.runpod_id ?? row?.runpod_id ?? null, {
      forgotten: intent?.id ?? row?.id,
      ...(intent === null
        ? { kind: row?.kind }
        : { action: intent.action, name: podById(db, intent.pod_id)?.name, asked_by: intent.asked_by }),
    });
  });
}

function note(deps: PodDeps, org: Org, asker: Asker, podId: string | null, details: Record<string, unknown>): void {
  deps.audit.write({
    ...actorOf(asker.caller),
    address: asker.address,
    action: asker.action,
    orgPrefix: org.prefix,
    podId,
    status: 200,
    outcome: "ok",
    details,
  });
}
