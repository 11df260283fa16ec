import { isDiskFailure } from "../../db/database.ts";
import { insertIntent, markSent, markUnsettled, type PodAction, settleIntent } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { dropAddress, incarnationSince, type LivePod, podById, storeRunOverBudget } from "../../db/stores/pods.ts";
import { actorOf } from "../audit/write.ts";
import { AppError, asClause } from "../errors.ts";
import { actorName, callerId } from "../identity/callers.ts";
import type { Asker } from "../identity/callers.ts";
import { describeError } from "../log.ts";
import type { RunpodClient, RunpodPod } from "../runpod/client.ts";
import { RunpodError, toAppError } from "../runpod/errors.ts";
import { refuseOverBudget } from "../spend/budget.ts";
import { raiseAction } from "./action_events.ts";
import type { PodDeps } from "./deps.ts";
import { recordAnswer, recordTerminated } from "./seen.ts";
import { lacksGpu } from "./gpu_count.ts";

/** How long a lost answer of an action is looked after within the request. */
const READ_BACK_TRIES = 3;
const READ_BACK_MS = 4_000;

const UNRECORDED =
  "The server's disk is full: this is not in the audit, and the list may show the old state for a while.";

const ALREADY = { start: "running", restart: "restarted", stop: "stopped", terminate: "terminated" } as const;

export interface ActOptions {
  /** Start it although the month's budget is spent (audited). */
  readonly overBudget?: boolean;
  /** Runs in the transaction that stores the success, so that both are kept or none is. */
  readonly onDone?: () => void;
}

export type Act = (
  org: Org,
  asker: Asker,
  podId: string,
  action: PodAction,
  options?: ActOptions,
) => Promise<string[]>;

export interface Actions {
  /** One action on a pod, after all that was asked of it before. Resolves with warnings. */
  readonly act: Act;
  /**
   * Runs `work` while no other action is on its way for the pod: what it decides on does not change under it. It acts by
   * the `act` it is given; the one outside would wait for itself.
   */
  exclusive<T>(podId: string, work: (act: Act) => Promise<T>): Promise<T>;
}

/** Is the pod as the action wanted it? `null` stands for a pod RunPod does not have. Unknown words are "no". */
export function isAsWanted(action: PodAction, pod: Pick<RunpodPod, "status"> | null): boolean {
  switch (action) {
    case "terminate":
      return pod === null || pod.status === "TERMINATED";
    case "stop":
      return pod?.status === "EXITED";
    case "start":
    case "restart":
      return pod !== null && ["RUNNING", "STARTING", "PROVISIONING"].includes(pod.status);
  }
}

export function createActions(deps: PodDeps): Actions {
  const queues = new Map<string, Promise<unknown>>();
  const now: Act = (org, asker, podId, action, options = {}) => actNow(deps, org, asker, podId, action, options);
  const exclusive = <T>(podId: string, work: (act: Act) => Promise<T>): Promise<T> => {
    const before = queues.get(podId) ?? Promise.resolve();
    const result = before.then(() => work(now));
    const settled = result.then(() => {}, () => {});
    queues.set(podId, settled);
    settled.then(() => queues.get(podId) === settled && queues.delete(podId));
    return result;
  };
  return {
    exclusive,
    act: (org, asker, podId, action, options) => exclusive(podId, (act) => act(org, asker, podId, action, options)),
  };
}

async function actNow(
  deps: PodDeps,
  org: Org,
  asker: Asker,
  podId: string,
  action: PodAction,
  options: ActOptions,
): Promise<string[]> {
  const client = deps.runpod.clientOf(org);
  const pod = podById(deps.db, podId);
  if (pod === undefined || pod.state !== "live" || pod.runpod_id === null) {
    throw new AppError("pod_not_found", "Pod not found");
  }
  const isOverBudget = options.overBudget ?? false;
  if (action === "start") refuseOverBudget(deps.db, org, deps.clock.now(), isOverBudget);
  const intentId = writeIntent(deps, org, asker, pod as LivePod, action, options);
  if (action !== "start") deps.ssh.drop(pod.id);
  const settle = (outcome: Outcome) =>
    settleAction(deps, org, asker, pod as LivePod, action, intentId, outcome, options);
  if (intentId !== null) deps.inFlight.add(intentId);
  try {
    const answer = await callOrRead(deps, client, pod as LivePod, action);
    const seen = await withItsGpu(deps, client, pod as LivePod, action, answer.pod);
    const isStored = settle({ pod: seen, refusal: null, wasAlready: answer.wasAlready });
    const already = answer.wasAlready ? [`Nothing was done: the pod was ${ALREADY[action]} already.`] : [];
    return isStored && intentId !== null ? already : [...already, UNRECORDED];
  } catch (error) {
    if (!(error instanceof RunpodError)) throw error;
    if (error.ambiguous || error.kind === "not_found" && action === "terminate") {
      throw leaveOpen(deps, intentId, action, error);
    }
    const refusal = toAppError(error);
    const read = await readBack(deps, client, pod as LivePod, action, error);
    settle({ pod: read === "unknown" ? null : read, refusal, wasAlready: false });
    throw refusal;
  } finally {
    if (intentId !== null) deps.inFlight.delete(intentId);
  }
}

/**
 * The intent row. A full disk must not keep a stop or a terminate from happening (decision 18): they save money, so
 * they go on and are logged; a start or restart is refused.
 */
function writeIntent(
  deps: PodDeps,
  org: Org,
  asker: Asker,
  pod: LivePod,
  action: PodAction,
  options: ActOptions,
): string | null {
  const { db, clock } = deps;
  const id = crypto.randomUUID();
  const intent = {
    id,
    orgId: org.id,
    podId: pod.id,
    runpodId: pod.runpod_id,
    action,
    request: {
      actor: actorName(asker.caller),
      audit: { ...actorOf(asker.caller), address: asker.address, action: asker.action },
    },
    askedBy: callerId(asker.caller),
  };
  try {
    db.tx(() => {
      insertIntent(db, intent, clock.now());
      if (action !== "start") dropAddress(db, pod.id);
      // Before the call: the pod may come up although the answer is lost.
      else storeRunOverBudget(db, pod.id, isRunOverBudget(asker, pod, options, true));
    });
    db.tx(() => markSent(db, id, clock.now()));
    return id;
  } catch (error) {
    if (!isDiskFailure(error)) throw error;
    if (action === "start" || action === "restart") {
      throw new AppError("disk_full", `The server's disk is full, so the ${action} was not sent`, { cause: error });
    }
    deps.log.error("The disk is full: an action goes on without its record", {
      ...intent,
      error: describeError(error),
    });
    return null;
  }
}

/**
 * Does the run that a start leads to go on over the budget? A person's `over_budget` holds for the run; a session has its
 * own, which ends with the session. A start that was refused, or was not needed, leaves a run that is on as it was.
 */
function isRunOverBudget(asker: Asker, pod: LivePod, options: ActOptions, isStarted: boolean): boolean {
  const isAsked = isStarted && options.overBudget === true && asker.caller.kind !== "system";
  return isAsked || pod.up_since !== null && pod.run_over_budget === 1;
}

/** Sends the action. A failure after which the pod is as wanted all the same is a success. */
async function callOrRead(
  deps: PodDeps,
  client: RunpodClient,
  pod: LivePod,
  action: PodAction,
): Promise<{ readonly pod: RunpodPod | null; readonly wasAlready: boolean }> {
  try {
    return { pod: await call(client, pod.runpod_id, action), wasAlready: false };
  } catch (error) {
    if (!(error instanceof RunpodError) || !mayHaveHappened(action, error)) throw error;
    const read = await readBack(deps, client, pod, action, error);
    if (read === "unknown" || !isAsWanted(action, read) || !mayTrust(deps, pod, action, read)) throw error;
    return { pod: read, wasAlready: error.kind === "conflict" && isAsWanted(action, pod as { status: string }) };
  }
}

async function call(client: RunpodClient, runpodId: string, action: PodAction): Promise<RunpodPod | null> {
  if (action !== "terminate") return await client.act(runpodId, action);
  const answer = await client.terminate(runpodId);
  if (answer === "was_gone") {
    throw new RunpodError({ kind: "not_found", status: 404, detail: "RunPod does not have the pod" });
  }
  return null;
}

function mayHaveHappened(action: PodAction, error: RunpodError): boolean {
  return error.ambiguous || error.kind === "conflict" || error.kind === "not_found" && action === "terminate";
}

/** A start that came back with fewer GPUs than asked bills for nothing: it is stopped again and reported. */
async function withItsGpu(
  deps: PodDeps,
  client: RunpodClient,
  pod: LivePod,
  action: PodAction,
  answer: RunpodPod | null,
): Promise<RunpodPod | null> {
  if (action !== "start" && action !== "restart") return answer;
  const read = answer ?? await readStarted(client, pod.runpod_id);
  if (!lacksGpu(pod, read)) return read;
  deps.log.warn("A pod started without its GPU and is stopped again", { pod: pod.runpod_id });
  const lack = "the pod started without its GPU, because its host has no free one, and ";
  const capacity = (end: string) => new RunpodError({ kind: "capacity", status: 400, detail: lack + end });
  try {
    await client.act(pod.runpod_id, "stop");
  } catch (error) {
    if (!(error instanceof RunpodError)) throw error;
    deps.log.error("A pod without its GPU could not be stopped", {
      pod: pod.runpod_id,
      error: describeError(error),
    });
    throw capacity("could not be stopped again: stop it, it costs money");
  }
  throw capacity("was stopped again");
}

/** The pod after a start whose answer did not show it; that it cannot be read does not undo the start. */
async function readStarted(client: RunpodClient, runpodId: string): Promise<RunpodPod> {
  try {
    return await client.get(runpodId);
  } catch (error) {
    if (!(error instanceof RunpodError)) throw error;
    throw new RunpodError({ kind: error.kind, status: error.status, detail: error.detail, ambiguous: true });
  }
}

/** After a failed action the real state is read: what happened, or that it cannot be told. */
async function readBack(
  deps: PodDeps,
  client: RunpodClient,
  pod: LivePod,
  action: PodAction,
  failure: RunpodError,
): Promise<RunpodPod | null | "unknown"> {
  if (failure.kind === "auth" || failure.kind === "rate_limited" || failure.kind === "gone") return "unknown";
  let read: RunpodPod | null | "unknown" = "unknown";
  for (let tries = 0; tries < READ_BACK_TRIES; tries++) {
    try {
      read = await client.get(pod.runpod_id, { timeoutMs: READ_BACK_MS });
    } catch (error) {
      if (!(error instanceof RunpodError)) throw error;
      read = error.kind === "not_found" ? null : "unknown";
    }
    if (read !== "unknown" && (isAsWanted(action, read) || !failure.ambiguous)) return read;
    if (tries < READ_BACK_TRIES - 1) await new Promise((done) => setTimeout(done, deps.timings.settleEveryMs / 2));
  }
  return read;
}

/** A pod that was just made can be missing from every answer of RunPod: that proves no terminate (pitfall 8). */
function mayTrust(deps: PodDeps, pod: LivePod, action: PodAction, read: RunpodPod | null): boolean {
  if (action === "restart") return false; // A running pod does not show whether it was restarted.
  if (action !== "terminate" || read !== null) return true;
  return deps.clock.now() - incarnationSince(deps.db, pod) > deps.timings.freshPodMs;
}

function leaveOpen(deps: PodDeps, intentId: string | null, action: PodAction, error: RunpodError): AppError {
  try {
    if (intentId !== null) markUnsettled(deps.db, intentId, asClause(toAppError(error).message));
  } catch (failure) {
    if (!isDiskFailure(failure)) throw failure; // The intent stays "sent", which is looked after in the same way.
    deps.log.error("The disk is full: that an action is open is not stored", { intent: intentId, action });
  }
  const cause = toAppError(error);
  return new AppError(
    "runpod_unavailable",
    `${asClause(cause.message)}. Whether the ${action} happened is not known yet: the pod is read again until it is`,
    { extra: intentId === null ? {} : { attention_id: intentId }, cause: error },
  );
}

interface Outcome {
  readonly pod: RunpodPod | null;
  readonly refusal: AppError | null;
  /** The pod was as wanted before: nothing was done to it. */
  readonly wasAlready: boolean;
}

/** Stores what came of an action; false when the disk is full and it could not be stored. */
function settleAction(
  deps: PodDeps,
  org: Org,
  asker: Asker,
  pod: LivePod,
  action: PodAction,
  intentId: string | null,
  outcome: Outcome,
  options: ActOptions,
): boolean {
  const { db, clock } = deps;
  const { refusal } = outcome;
  try {
    db.tx(() => {
      const now = clock.now();
      if (refusal === null && action === "terminate") recordTerminated(deps, pod, callerId(asker.caller), now);
      // Stamped with now: a list that was asked while the action was on its way must not win over its answer.
      else if (outcome.pod !== null) recordAnswer(deps, pod.id, outcome.pod, now);
      if (action === "start") {
        storeRunOverBudget(db, pod.id, isRunOverBudget(asker, pod, options, refusal === null));
      }
      if (intentId !== null) {
        settleIntent(
          db,
          intentId,
          refusal === null ? { state: "done" } : { state: "failed", errorCode: refusal.code, error: refusal.message },
          now,
        );
      }
      deps.audit.write({
        ...actorOf(asker.caller),
        address: asker.address,
        action: asker.action,
        orgPrefix: org.prefix,
        podId: pod.runpod_id,
        status: refusal?.status ?? 200,
        outcome: refusal?.code ?? "ok",
        details: {
          name: pod.name,
          action,
          ...(options.overBudget ? { over_budget: true } : {}),
          ...(outcome.wasAlready ? { was_already: true } : {}),
          ...(refusal === null ? {} : { error: refusal.message }),
        },
      });
      if (refusal !== null) return;
      if (!outcome.wasAlready) raiseAction(db, pod, action, { actor: actorName(asker.caller), intentId }, now);
      options.onDone?.();
    });
    return true;
  } catch (error) {
    if (!isDiskFailure(error)) throw error;
    deps.log.error("The disk is full: the outcome of an action is not stored", {
      pod: pod.runpod_id,
      action,
      outcome: refusal?.code ?? "ok",
      error: describeError(error),
    });
    return false;
  }
}
