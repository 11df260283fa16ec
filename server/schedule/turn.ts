import { type IntentRow, lastIntent, openIntentOf, openIntentsOf } from "../../db/stores/intents.ts";
import { allOrgs, type Org, orgById } from "../../db/stores/organizations.ts";
import { podById, type PodRow } from "../../db/stores/pods.ts";
import { dueSessions, openSessions, type SessionRow, updateSession } from "../../db/stores/sessions.ts";
import { atMost } from "../at_most.ts";
import { isoTime, MINUTE, SECOND } from "../clock.ts";
import { AppError, asClause } from "../errors.ts";
import { raise } from "../events/raise.ts";
import { type Asker, callerId } from "../identity/callers.ts";
import { describeError } from "../log.ts";
import { createOrgTurns, type OrgTurns } from "../org_turns.ts";
import type { Act, Actions } from "../pods/act.ts";
import type { PodDeps } from "../pods/deps.ts";
import { wantedGpus } from "../pods/gpu_count.ts";
import { isDown, isUp } from "../pods/moves.ts";
import type { Refresher } from "../pods/refresh.ts";
import type { Pause } from "./pause.ts";
import { budgetState } from "../spend/budget.ts";
import {
  decide,
  failureChange,
  type Mark,
  over,
  type Plan,
  type ScheduleLimits,
  type ScheduleTimings,
  startedChange,
  type Step,
} from "./decide.ts";

/** What one turn did, by RunPod's pod ids. A turn with a failure counts as failed. */
export interface ScheduleRun {
  readonly at: number;
  readonly started: string[];
  readonly stopped: string[];
  readonly failed: string[];
}

export interface ScheduleDeps extends PodDeps {
  readonly refresher: Refresher;
  readonly actions: Actions;
  readonly schedule: ScheduleTimings;
  readonly pause: Pause;
  /** Puts a fresh pod in place of one whose host has no free GPU (decision 39). */
  readonly replace: Replace;
}

export type Replace = (org: Org, asker: Asker, podId: string, onDone: () => void) => Promise<void>;

/** The job `compute.schedule`. */
export interface Schedule extends OrgTurns {
  /** The last turn of an org that has ended. */
  lastRun(orgId: number): ScheduleRun | null;
}

/** The list may take this long; a turn goes on with what is known. */
const LIST_MS = 15 * SECOND;
const LIST_AGE_MS = 2 * SECOND;
/** Pods that are acted on at the same time. */
const AT_ONCE = 8;

const ASKER = { caller: { kind: "system", rule: "schedule" }, address: null, action: "compute.schedule" } as const;

export function createSchedule(deps: ScheduleDeps): Schedule {
  const { db, log } = deps;
  const runs = new Map<number, ScheduleRun>();
  const tellOfPause = () => {
    try {
      deps.pause.tell();
    } catch (error) {
      // That it cannot be told, because the disk is full for example, must not end the turns.
      log.error("That the server is paused could not be told", { error: describeError(error) });
    }
  };
  const turnOfOrg = async (orgId: number) => {
    const org = orgById(db, orgId);
    if (org === undefined) return;
    try {
      runs.set(orgId, await turnOf(deps, org));
    } finally {
      tellOfPause();
    }
  };
  const turns = createOrgTurns("schedule", () => allOrgs(db).map((org) => org.id), turnOfOrg, log);
  return { ...turns, lastRun: (orgId) => runs.get(orgId) ?? null };
}

async function turnOf(deps: ScheduleDeps, org: Org): Promise<ScheduleRun> {
  const run: ScheduleRun = { at: deps.clock.now(), started: [], stopped: [], failed: [] };
  if (!deps.runpod.hasKey(org) && dueNow(deps, org).length === 0) return run;
  const { fresh } = await deps.refresher.refresh(org, { maxAgeMs: LIST_AGE_MS, timeoutMs: LIST_MS });
  // The answer may just have shown that the clock is wrong, or that another server moves the pods.
  if (deps.pause.reason() !== null) return run;
  const podIds = [...new Set(dueNow(deps, org).map((one) => one.pod_id))];
  if (podIds.length === 0) return run;
  const budgetReached = budgetState(deps.db, org, run.at).state === "reached";
  const limits = { computeEnabled: org.computeEnabled && org.isActive, budgetReached };
  await atMost(AT_ONCE, podIds, async (podId) => {
    try {
      // Nothing else is asked of the pod between the decision and what comes of it.
      await deps.actions.exclusive(podId, (act) => turnOfPod(deps, org, podId, { isFresh: fresh, limits }, run, act));
    } catch (error) {
      // One pod must not keep the others from their turn.
      deps.log.error("The schedule of a pod failed", { pod: podId, error: describeError(error) });
      run.failed.push(podById(deps.db, podId)?.runpod_id ?? podId);
    }
  });
  return run;
}

const dueNow = (deps: ScheduleDeps, org: Org) => dueSessions(deps.db, org.id, deps.clock.now() + deps.schedule.leadMs);

/** What one look at RunPod and at the org tells for all its pods. */
interface Known {
  readonly isFresh: boolean;
  readonly limits: ScheduleLimits;
}

async function turnOfPod(
  deps: ScheduleDeps,
  org: Org,
  podId: string,
  known: Known,
  run: ScheduleRun,
  act: Act,
): Promise<void> {
  const { db, clock } = deps;
  const pod = podById(db, podId);
  if (pod === undefined || pod.state === "creating") return;
  const now = clock.now();
  const sessions = openSessions(db, podId);
  const plan = planOf(deps, pod, sessions, known, now);
  db.tx(() => apply(deps, org, pod, sessions, plan.marks, now));
  const name = pod.runpod_id ?? pod.id;
  if (plan.marks.some((mark) => (mark.change.error ?? null) !== null)) run.failed.push(name);
  if (plan.step === null) return;
  const chosen = sessions.filter((one) => plan.step!.sessions.includes(one.id));
  try {
    await perform(deps, org, pod, chosen, plan.step, act);
    (plan.step.action === "start" ? run.started : run.stopped).push(name);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (!run.failed.includes(name)) run.failed.push(name);
    db.tx(() => storeFailure(deps, org, pod, chosen, plan.step!, error));
  }
}

function planOf(
  deps: ScheduleDeps,
  pod: PodRow,
  sessions: readonly SessionRow[],
  known: Known,
  now: number,
): Plan {
  const lastStart = lastIntent(deps.db, pod.id, "start");
  const open = openIntentsOf(deps.db, pod.id);
  return decide(
    now,
    sessions,
    {
      isTerminated: pod.state !== "live",
      status: pod.status,
      isFresh: known.isFresh && pod.missing_count === 0,
      upSince: pod.up_since,
      // A fresh pod that RunPod does not show after this is for officers to look after; the old one still has its sessions.
      hasOpenAction: open.some((one) => one.action !== "create" || now - one.asked_at < LOST_CREATE_MS),
      missingSince: pod.missing_since,
      lacksGpu: runsWithoutGpu(pod, lastStart),
      neverCameUp: isDown(pod.status) && /^(Started|Restarted) by /.test(pod.status_why ?? ""),
      lastStart: lastStart === undefined ? null : {
        askedAt: lastStart.asked_at,
        state: lastStart.state,
        isOurs: lastStart.asked_by === callerId(ASKER.caller),
      },
    },
    known.limits,
    deps.schedule,
  );
}

const LOST_CREATE_MS = 15 * MINUTE;

/** RunPod can leave the GPU out of an answer: then what its last start said decides. */
function runsWithoutGpu(pod: PodRow, lastStart: IntentRow | undefined): boolean {
  if (pod.status !== "RUNNING" || wantedGpus(pod) === 0) return false;
  if (pod.gpu_count !== null) return pod.gpu_count < wantedGpus(pod);
  return lastStart?.error_code === "runpod_no_capacity" && (pod.up_since ?? 0) >= lastStart.asked_at - MINUTE;
}

/** Starts or stops; that it was done is stored in one transaction with the sessions it was done for. */
async function perform(
  deps: ScheduleDeps,
  org: Org,
  pod: PodRow,
  sessions: readonly SessionRow[],
  step: Step,
  act: Act,
): Promise<void> {
  const { db, clock } = deps;
  if (step.action === "stop") {
    const onDone = () => {
      // RunPod can say yes and let the pod run on: the next turn sees it stopped, or stops it again.
      if (isUp(podById(db, pod.id)?.status ?? null)) return;
      const now = clock.now();
      apply(deps, org, pod, sessions, sessions.map((one) => over(one, now, step.ran.includes(one.id), null)), now);
    };
    await act(org, ASKER, pod.id, "stop", { onDone });
    return;
  }
  const onDone = () => {
    const now = clock.now();
    const status = podById(db, pod.id)?.status ?? null;
    for (const one of sessions) updateSession(db, one.id, startedChange(now, status));
  };
  db.tx(() => {
    const now = clock.now();
    for (const one of sessions) {
      updateSession(db, one.id, { state: "starting", starting_at: one.starting_at ?? now });
    }
  });
  try {
    await act(org, ASKER, pod.id, "start", { overBudget: step.overBudget, onDone });
  } catch (error) {
    const isTaken = error instanceof AppError && error.code === "runpod_no_capacity";
    if (!isTaken || !sessions.some((one) => one.on_gpu_taken === "fresh_pod")) throw error;
    // One that may have been made already must not become two.
    if (openIntentsOf(db, pod.id).some((one) => one.action === "create")) throw error;
    await deps.replace(org, ASKER, pod.id, onDone);
  }
}

/** Stores what became of sessions, with the audit row and the event of those that came to nothing. */
function apply(
  deps: ScheduleDeps,
  org: Org,
  pod: PodRow,
  sessions: readonly SessionRow[],
  marks: readonly Mark[],
  now: number,
): void {
  for (const mark of marks) {
    updateSession(deps.db, mark.id, mark.change);
    const session = sessions.find((one) => one.id === mark.id);
    if (session === undefined) continue;
    const error = mark.change.error ?? null;
    const { event } = mark;
    if (event !== undefined) tell(deps, org, pod, session, { kind: event, error, key: "over" }, now);
    else if (error !== null) {
      tell(deps, org, pod, session, {
        kind: "session.failed",
        error,
        key: error,
        goesOn: tried(deps, session, "start"),
      }, now);
    }
  }
}

function storeFailure(
  deps: ScheduleDeps,
  org: Org,
  pod: PodRow,
  sessions: readonly SessionRow[],
  step: Step,
  error: AppError,
): void {
  const now = deps.clock.now();
  const text = `The ${step.action} did not succeed: ${asClause(error.message)}`;
  for (const one of sessions) {
    updateSession(deps.db, one.id, failureChange(now, one, text));
    // A lost answer is settled soon; what comes of it is told then.
    if (openIntentOf(deps.db, pod.id) !== undefined) continue;
    tell(deps, org, pod, one, {
      kind: "session.failed",
      error: text,
      key: `${step.action}:${error.code}`,
      goesOn: tried(deps, one, step.action),
    }, now);
  }
}

/** How often and until when a step is tried again. */
function tried({ schedule }: ScheduleDeps, session: SessionRow, action: Step["action"]): string {
  const seconds = Math.round(schedule.turnMs / SECOND);
  const often = seconds % 60 === 0 ? `${seconds / 60} minutes` : `${seconds} seconds`;
  const until = action === "start" ? session.stop_at : (session.failing_since ?? session.stop_at) + schedule.giveUpMs;
  return `The ${action} is tried again every ${often} until ${isoTime(until)}`;
}

/** Each reason is told once for each session, however often it comes back. */
function tell(
  deps: ScheduleDeps,
  org: Org,
  pod: PodRow,
  session: SessionRow,
  what: {
    readonly kind: "session.missed" | "session.failed";
    readonly error: string | null;
    readonly key: string;
    /** How it goes on; absent when the session is over. */
    readonly goesOn?: string;
  },
  now: number,
): void {
  const details = {
    session_id: session.id,
    title: session.title,
    start_at: isoTime(session.start_at),
    stop_at: isoTime(session.stop_at),
    error: what.error,
    tried_again: what.goesOn !== undefined,
    what_happens: what.goesOn ?? "Nothing is tried any more",
  };
  const isNews = raise(deps.db, {
    orgId: org.id,
    kind: what.kind,
    podId: pod.id,
    runpodId: pod.runpod_id,
    subject: pod.name,
    actor: "the session schedule",
    details,
    onceKey: `session:${session.id}:${what.key}`,
  }, now);
  if (!isNews) return;
  deps.audit.write({
    actorKind: "server",
    actorId: "schedule",
    actorName: "the session schedule",
    source: "job",
    address: null,
    action: "compute.schedule",
    orgPrefix: org.prefix,
    podId: pod.runpod_id,
    status: 424,
    outcome: what.kind,
    details,
  });
}
