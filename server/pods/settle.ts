import { openAttention } from "../../db/stores/attention.ts";
import {
  failingStop,
  intentById,
  type IntentRow,
  isOpen,
  lastIntent,
  laterAction,
  markSent,
  openIntents,
  settleIntent,
} from "../../db/stores/intents.ts";
import { type Org, orgById } from "../../db/stores/organizations.ts";
import { incarnationSince, type LivePod, markFailed, podById, type PodRow } from "../../db/stores/pods.ts";
import { resumeSessions } from "../../db/stores/sessions.ts";
import { atMost } from "../at_most.ts";
import { AppError, type ErrorCode } from "../errors.ts";
import { callerId, isSystemId } from "../identity/callers.ts";
import { describeError } from "../log.ts";
import { createOrgTurns, type OrgTurns } from "../org_turns.ts";
import type { RunpodPod } from "../runpod/client.ts";
import { RunpodError } from "../runpod/errors.ts";
import { type Actions, isAsWanted } from "./act.ts";
import type { PodDeps, PodTimings } from "./deps.ts";
import type { Refresher } from "./refresh.ts";
import { raise } from "../events/raise.ts";
import { raiseAction } from "./action_events.ts";
import { recordAnswer, recordTerminated } from "./seen.ts";
import { lacksGpu } from "./gpu_count.ts";

/** What is to be done about an action whose outcome is not known, now that the pod was read. */
export type Settlement =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly why: string }
  /** Stop and terminate can be repeated without harm, and somebody asked for them just now: they are finished. */
  | { readonly kind: "repeat" }
  /** A start that came up without its GPU is stopped again. */
  | { readonly kind: "no_gpu" }
  | { readonly kind: "wait" };

/**
 * Decides about an open action. `pod` is what RunPod says now, null when it does not have the pod. Nothing that could
 * cost money is ever repeated: a start or restart that did not happen is reported as not done. Nor is a stop that a rule
 * of the server asked for: the pod may be kept up on purpose by now, so the rule decides anew.
 */
export function decideSettlement(
  now: number,
  intent: Pick<IntentRow, "action" | "asked_at" | "asked_by" | "sent_at">,
  pod: RunpodPod | null,
  row: Pick<LivePod, "created_at" | "config">,
  timings: Pick<PodTimings, "finishWithinMs" | "freshPodMs" | "settleWindowMs">,
): Settlement {
  const { action } = intent;
  if (action === "create") return { kind: "wait" };
  const isFresh = now - row.created_at <= timings.freshPodMs;
  if (pod === null && action === "terminate" && isFresh) return { kind: "repeat" };
  const sentAt = intent.sent_at ?? intent.asked_at;
  const mayStillShow = now - sentAt < timings.settleWindowMs;
  if (action === "restart") {
    if (pod !== null && pod.startedAt !== null && pod.startedAt >= sentAt) return { kind: "done" };
    return mayStillShow ? { kind: "wait" } : { kind: "failed", why: "RunPod does not show that the pod was restarted" };
  }
  if (isAsWanted(action, pod)) {
    return action === "start" && pod !== null && lacksGpu(row, pod) ? { kind: "no_gpu" } : { kind: "done" };
  }
  if (action === "start") {
    return mayStillShow ? { kind: "wait" } : { kind: "failed", why: "RunPod does not show that the pod was started" };
  }
  if (isStopByRule(intent)) return { kind: "failed", why: "The stop did not happen; its rule decides anew" };
  if (now - intent.asked_at <= timings.finishWithinMs) return { kind: "repeat" };
  return { kind: "failed", why: `The ${action} did not happen. The pod may still run and cost money` };
}

/** A stop by one of the server's own rules, which ask again by themselves as long as they hold. */
function isStopByRule(intent: Pick<IntentRow, "action" | "asked_by">): boolean {
  return intent.action === "stop" && isSystemId(intent.asked_by);
}

/**
 * An intent that was only written and that no request handles was certainly never sent: the program ended, or the disk
 * was full. A create, start or restart of that kind is over; everything else open is looked after by the settler.
 */
export function closeNeverSent(deps: PodDeps): void {
  const { db, clock } = deps;
  for (const intent of openIntents(db)) {
    if (intent.state !== "saved" || deps.inFlight.has(intent.id)) continue;
    if (intent.action === "stop" || intent.action === "terminate") continue;
    db.tx(() => {
      if (intent.action === "create") markFailed(db, intent.pod_id);
      finish(deps, intent, {
        state: "failed",
        code: "internal_error",
        text: "The server stopped before RunPod was asked; nothing was done",
      }, clock.now());
    });
  }
}

/** How long an open intent is left alone after a look: longer the older it is, so that RunPod is not asked for ever. */
export function settleDelay(ageMs: number): number {
  return Math.min(60_000, Math.max(2_000, ageMs / 10));
}

/** Pods of one org that are looked after at the same time. */
const AT_ONCE = 4;

const SCHEDULE = callerId({ kind: "system", rule: "schedule" });

export interface SettlerDeps extends PodDeps {
  readonly refresher: Refresher;
  readonly actions: Actions;
  /** Lets the schedule look at once, because a step of its own turned out to be done. */
  readonly poke: () => void;
}

/**
 * Makes the turns over all open intents, of each org by itself. Creates are adopted by the list (`applyList`); actions are
 * settled by reading their pod, stops and terminates first. Intents that a request is handling at this moment are left to
 * it.
 */
export function createSettler(deps: SettlerDeps): OrgTurns {
  const { db, clock } = deps;
  const looked = new Map<string, number>();
  const lookAt = async (org: Org, intent: IntentRow) => {
    const now = clock.now();
    if (now - (looked.get(intent.id) ?? 0) < settleDelay(now - intent.asked_at)) return;
    looked.set(intent.id, now);
    try {
      if (intent.action === "create") await deps.refresher.refresh(org, { maxAgeMs: 1_000, timeoutMs: 10_000 });
      else await deps.actions.exclusive(intent.pod_id, () => settleOne(deps, org, intent));
    } catch (error) {
      // A stop behind it must not wait for this one.
      deps.log.error("An open intent could not be looked after", { intent: intent.id, error: describeError(error) });
    }
    if (intent.asked_by === SCHEDULE && intentById(db, intent.id)?.state === "done") deps.poke();
  };
  const turnOf = async (orgId: number) => {
    const org = orgById(db, orgId);
    if (org === undefined) return;
    const byPod = Map.groupBy(inOrder(unhandled(deps, orgId)), (intent) => intent.pod_id);
    await atMost(AT_ONCE, [...byPod.values()], async (intents) => {
      for (const intent of intents) await lookAt(org, intent);
    });
  };
  const orgIds = () => {
    closeNeverSent(deps);
    const open = unhandled(deps);
    const ids = new Set(open.map((intent) => intent.id));
    for (const id of looked.keys()) if (!ids.has(id)) looked.delete(id);
    return new Set(open.map((intent) => intent.org_id));
  };
  return createOrgTurns("settle", orgIds, turnOf, deps.log);
}

/** Open intents, of one org or of all, that no request handles. */
function unhandled(deps: PodDeps, orgId?: number): IntentRow[] {
  return openIntents(deps.db, orgId).filter((intent) => !deps.inFlight.has(intent.id));
}

/** What ends a pod's costs comes first, and the older before the newer. */
function inOrder(intents: readonly IntentRow[]): IntentRow[] {
  const endsCosts = (intent: IntentRow) => intent.action === "stop" || intent.action === "terminate";
  return [...intents.filter(endsCosts), ...intents.filter((intent) => !endsCosts(intent))];
}

/** A stop or terminate is not finished by itself once something else was asked of the pod. */
function settlementOf(deps: PodDeps, intent: IntentRow, pod: RunpodPod | null, row: LivePod): Settlement {
  const runpodId = intent.runpod_id ?? row.runpod_id;
  const made = { config: row.config, created_at: incarnationSince(deps.db, { ...row, runpod_id: runpodId }) };
  const settlement = decideSettlement(deps.clock.now(), intent, pod, made, deps.timings);
  // What was asked of the pod that took its place does not concern the old one.
  const isPresent = intent.runpod_id === null || intent.runpod_id === row.runpod_id;
  const later = settlement.kind === "repeat" && isPresent ? laterAction(deps.db, intent) : undefined;
  return later === undefined ? settlement : { kind: "failed", why: `A ${later} was asked for after it` };
}

async function settleOne(deps: PodDeps, org: Org, intent: IntentRow): Promise<void> {
  const { db, clock } = deps;
  if (!isOpen(intentById(db, intent.id))) return;
  const row = podById(db, intent.pod_id);
  // A pod that took the place of another one can be terminated before the other is: that one is still looked after.
  const isOver = row === undefined || row.runpod_id === null ||
    row.state !== "live" && (intent.runpod_id === null || intent.runpod_id === row.runpod_id);
  if (isOver) {
    return finish(deps, intent, { state: "done", code: "ok", text: "" }, clock.now());
  }
  const runpodId = intent.runpod_id ?? row.runpod_id;
  // A pod that was replaced is terminated under its old id; what happens to it says nothing of the present one.
  const isPresent = runpodId === row.runpod_id;
  try {
    const client = deps.runpod.clientOf(org);
    const askedAt = clock.now();
    const pod = await client.get(runpodId, { timeoutMs: 8_000 }).catch((error) => {
      if (error instanceof RunpodError && error.kind === "not_found") return null;
      throw error;
    });
    if (pod !== null && isPresent) db.tx(() => recordAnswer(deps, row.id, pod, askedAt));
    // An officer may have forgotten it while RunPod was being asked.
    if (!isOpen(intentById(db, intent.id))) return;
    const settlement = settlementOf(deps, intent, pod, row as LivePod);
    if (settlement.kind === "no_gpu") {
      await client.act(runpodId, "stop");
      const text = "The pod started without its GPU, because its host has no free one, and was stopped again";
      return finish(deps, intent, { state: "failed", code: "runpod_no_capacity", text }, clock.now());
    }
    if (settlement.kind === "repeat") {
      if (intent.sent_at === null) db.tx(() => markSent(db, intent.id, clock.now()));
      if (intent.action === "terminate") await client.terminate(runpodId);
      else await client.act(runpodId, "stop");
      return; // The next turn reads whether it happened.
    }
    if (settlement.kind === "wait") return;
    db.tx(() => {
      const now = clock.now();
      if (settlement.kind === "done" && intent.action === "terminate" && isPresent) {
        recordTerminated(deps, row, intent.asked_by, now);
      }
      finish(
        deps,
        intent,
        settlement.kind === "done"
          ? { state: "done", code: "ok", text: "" }
          : { state: "failed", code: "runpod_unavailable", text: settlement.why },
        now,
      );
    });
  } catch (error) {
    if (!(error instanceof RunpodError) && !(error instanceof AppError)) throw error;
    deps.log.warn("An open action could not be settled yet", { intent: intent.id, error: describeError(error) });
  }
}

function finish(
  deps: PodDeps,
  intent: IntentRow,
  outcome: {
    readonly state: "done" | "failed";
    readonly code: "ok" | ErrorCode;
    readonly text: string;
  },
  now: number,
): void {
  const { db } = deps;
  db.tx(() => {
    settleIntent(
      db,
      intent.id,
      outcome.state === "done" ? { state: "done" } : { state: "failed", errorCode: outcome.code, error: outcome.text },
      now,
    );
    deps.audit.write({
      ...JSON.parse(intent.request).audit,
      orgPrefix: orgById(db, intent.org_id)?.prefix ?? null,
      podId: intent.runpod_id,
      status: outcome.state === "done" ? 200 : 424,
      outcome: outcome.code,
      details: { action: intent.action, settled: "later", ...(outcome.text === "" ? {} : { error: outcome.text }) },
    });
    const pod = podById(db, intent.pod_id);
    const isPresent = intent.runpod_id === null || intent.runpod_id === pod?.runpod_id;
    if (outcome.state === "done" && intent.action !== "create" && pod !== undefined && isPresent) {
      const { actor = null } = JSON.parse(intent.request) as { actor?: string };
      raiseAction(db, pod, intent.action, { actor, intentId: intent.id }, now);
      const isLast = lastIntent(db, pod.id, "stop")?.id === intent.id;
      if (intent.action === "stop" && intent.asked_by === SCHEDULE && isLast) resumeSessions(db, pod.id, now);
    }
    if (outcome.state === "failed" && isStopByRule(intent)) tellOfLasting(deps, intent, pod, now);
    else if (outcome.state === "failed" && intent.action !== "create") {
      openAttention(db, {
        id: crypto.randomUUID(),
        orgId: intent.org_id,
        kind: "action_not_done",
        runpodId: intent.runpod_id ?? "",
        podId: intent.pod_id,
        details: { action: intent.action, error: outcome.text, asked_at: intent.asked_at },
      }, now);
      raiseFailed(db, intent, pod, { error: outcome.text, onceKey: `intent:${intent.id}` }, now);
    }
  });
}

/** A stop that its rule asks for again and again is told once, when that has gone on for as long as others are repeated. */
function tellOfLasting({ db, timings }: PodDeps, intent: IntentRow, pod: PodRow | undefined, now: number): void {
  const first = failingStop(db, intent.pod_id) ?? intent;
  if (now - first.asked_at <= timings.finishWithinMs) return;
  const error =
    "The stop does not happen, although it is asked for again and again. The pod may still run and cost money";
  raiseFailed(db, intent, pod, { error, onceKey: `failing_stop:${first.id}` }, now);
}

/** The event that what an intent asked for did not come about. */
function raiseFailed(
  db: PodDeps["db"],
  intent: IntentRow,
  pod: PodRow | undefined,
  { error, onceKey }: { readonly error: string; readonly onceKey: string },
  now: number,
): void {
  raise(db, {
    orgId: intent.org_id,
    kind: "pod.failed",
    podId: intent.pod_id,
    runpodId: intent.runpod_id,
    subject: pod?.name ?? null,
    actor: (JSON.parse(intent.request) as { actor?: string }).actor ?? null,
    details: { error, action: intent.action },
    onceKey,
  }, now);
}
