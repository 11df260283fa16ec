import type { IntentState } from "../../db/stores/intents.ts";
import type { SessionChange, SessionRow } from "../../db/stores/sessions.ts";
import { DAY, isoTime, MINUTE } from "../clock.ts";
import { isDown, isUp } from "../pods/moves.ts";

/** How the schedule counts time; milliseconds. The demo and the tests take shorter ones. */
export interface ScheduleTimings {
  /** Between two turns. */
  readonly turnMs: number;
  /** A pod is started this long before its session. */
  readonly leadMs: number;
  /** A stop that never succeeds is given up after this; the limit on hours of one run then takes its turn. */
  readonly giveUpMs: number;
}

/** Contract 8.3. */
export const SCHEDULE_TIMINGS: ScheduleTimings = { turnMs: 5 * MINUTE, leadMs: 10 * MINUTE, giveUpMs: DAY };

/** A pod as the schedule sees it. */
export interface ScheduledPod {
  readonly isTerminated: boolean;
  /** RunPod's last word. */
  readonly status: string | null;
  /** That word was heard in this turn. */
  readonly isFresh: boolean;
  readonly upSince: number | null;
  /** Something was asked of it whose outcome is not known yet. */
  readonly hasOpenAction: boolean;
  /** Since when RunPod does not show it; null while it does. */
  readonly missingSince: number | null;
  /** It runs without the GPU it was made with. */
  readonly lacksGpu: boolean;
  /** A start was the last that was done to it, and it is down all the same. */
  readonly neverCameUp: boolean;
  /** The last start that was asked for here; `isOurs`: by the schedule. */
  readonly lastStart: { readonly askedAt: number; readonly state: IntentState; readonly isOurs: boolean } | null;
}

/** What of the org bears on a start. */
export interface ScheduleLimits {
  /** The compute module is on; off it stops new starts, never stops. */
  readonly computeEnabled: boolean;
  /** The month's budget is spent. */
  readonly budgetReached: boolean;
}

export interface Step {
  readonly action: "start" | "stop";
  /** The sessions it is for. */
  readonly sessions: readonly number[];
  /** Of a stop: those of them that the pod ran for. */
  readonly ran: readonly number[];
  /** A start that a session asked for whatever the budget says. */
  readonly overBudget: boolean;
}

/** What is stored of one session, and the event of it. */
export interface Mark {
  readonly id: number;
  readonly change: SessionChange;
  readonly event?: "session.missed" | "session.failed";
}

export interface Plan {
  readonly step: Step | null;
  readonly marks: readonly Mark[];
}

const NOTHING: Plan = { step: null, marks: [] };

/**
 * What is to be done for one pod now. `sessions` are its unfinished ones. Rules: contract 8.3 and 8.4, decision 37.
 * Where RunPod was not heard (`isFresh` false), nothing is taken for done.
 */
export function decide(
  now: number,
  sessions: readonly SessionRow[],
  pod: ScheduledPod,
  limits: ScheduleLimits,
  timings: Pick<ScheduleTimings, "leadMs" | "giveUpMs">,
): Plan {
  const due = sessions.filter((one) => one.finished === 0 && one.start_at <= now + timings.leadMs)
    .map((one) => startedInVain(now, one, pod) ? { ...one, ...IN_VAIN } : one);
  if (due.length === 0) return NOTHING;
  if (pod.isTerminated) {
    return {
      step: null,
      marks: due.map((one) => over(one, now, wasStarted(one, pod), TERMINATED)),
    };
  }
  if (pod.status === "GONE") {
    // Lists have left pods out for some seconds: a session is not ended for that.
    if (pod.missingSince !== null && now - pod.missingSince < GONE_FOR_SURE_MS) return NOTHING;
    return { step: null, marks: due.map((one) => failed(one, now, GONE)) };
  }
  if (pod.hasOpenAction) return NOTHING;
  const active = due.filter((one) => one.stop_at > now);
  const ended = due.filter((one) => one.stop_at <= now);
  return active.length > 0 ? decideOpen(now, active, ended, pod, limits) : decideEnded(now, ended, pod, timings);
}

/** RunPod can say yes to a start that never happens; within this time it can still come through. */
const COMES_UP_MS = 5 * MINUTE;

const IN_VAIN = {
  started: 0,
  starting_at: null,
  error: "RunPod said that the pod was started, and it did not come up",
} as const;

function startedInVain(now: number, session: SessionRow, pod: ScheduledPod): boolean {
  return session.started === 1 && session.state === "starting" && pod.isFresh && pod.neverCameUp &&
    now - (session.started_at ?? now) >= COMES_UP_MS;
}

const TERMINATED = "The pod was terminated";
const GONE =
  "RunPod no longer has the pod: it was deleted or moved outside orgpods. Create or adopt a pod and add the " +
  "session there";

/** A pod that RunPod has not shown for this long does not come back. */
const GONE_FOR_SURE_MS = 5 * MINUTE;

/** Some window is open, or begins within the lead. */
function decideOpen(
  now: number,
  active: readonly SessionRow[],
  ended: readonly SessionRow[],
  pod: ScheduledPod,
  limits: ScheduleLimits,
): Plan {
  const waiting = active.filter((one) => one.started === 0);
  // The pod goes on for the windows that are open. Until it is known to run for one of them, its stop is still due for
  // the session that it ran for: the open ones may never hear of RunPod.
  const isHandedOn = waiting.length < active.length || pod.isFresh && (isUp(pod.status) || isDown(pod.status));
  const closing = ended.filter((one) => isHandedOn || !wasStarted(one, pod))
    .map((one) => over(one, now, wasStarted(one, pod), null));
  const running = active.filter((one) => one.state === "starting" && one.started === 1 && pod.status === "RUNNING")
    .map((one) => ({ id: one.id, change: { state: "running" as const } }));
  if (waiting.length === 0) return { step: null, marks: [...closing, ...running] };

  if (pod.isFresh && pod.lacksGpu && waiting.length === active.length) {
    // It bills for nothing: it is stopped, and started again by a later turn.
    const { marks } = trouble(now, waiting, [...closing, ...running], NO_GPU);
    return { step: { action: "stop", sessions: [], ran: [], overBudget: false }, marks };
  }
  if (isUp(pod.status) && pod.isFresh) {
    const marks = waiting.map((one) => ({ id: one.id, change: startedChange(now, pod.status) }));
    return { step: null, marks: [...closing, ...running, ...marks] };
  }
  if (isUp(pod.status)) return trouble(now, waiting, [...closing, ...running], NOT_HEARD);
  const stopped = waiting.filter((one) => wasStarted(one, pod));
  if (stopped.length > 0) {
    // It was started for the session and stopped since: by somebody, who had a reason.
    const marks = waiting.map((one) => ({ id: one.id, change: startedChange(now, "RUNNING") }));
    return { step: null, marks: [...closing, ...running, ...marks] };
  }
  if (!limits.computeEnabled) return trouble(now, waiting, [...closing, ...running], COMPUTE_OFF);
  const overBudget = limits.budgetReached && waiting.some((one) => one.over_budget === 1);
  if (limits.budgetReached && !overBudget) return trouble(now, waiting, [...closing, ...running], OVER_BUDGET);
  return {
    step: { action: "start", sessions: waiting.map((one) => one.id), ran: [], overBudget },
    marks: [...closing, ...running],
  };
}

const NO_GPU = "The pod runs without its GPU, because its host has no free one, so it is stopped again";
const NOT_HEARD = "RunPod could not be reached, so it is not known whether the pod runs";
const COMPUTE_OFF = "Compute is switched off for this organization, so the pod was not started";
const OVER_BUDGET =
  "The month's budget is spent, so the pod was not started. Raise the budget, or set over_budget on " +
  "the session";

/** No window is open, and at least one is over. */
function decideEnded(
  now: number,
  ended: readonly SessionRow[],
  pod: ScheduledPod,
  timings: Pick<ScheduleTimings, "giveUpMs">,
): Plan {
  const finish = ended.map((one) => over(one, now, wasStarted(one, pod), null));
  const ran = ended.filter((one) => wasStarted(one, pod));
  if (ran.length === 0) return { step: null, marks: finish };
  if (isDown(pod.status) && pod.isFresh) return { step: null, marks: finish };
  const lastEnd = Math.max(...ran.map((one) => one.stop_at));
  // Somebody started it after the session: it is theirs (decision 37).
  if (pod.isFresh && isTheirs(pod, lastEnd)) return { step: null, marks: finish };
  const since = Math.min(...ran.map((one) => one.failing_since ?? now));
  if (now - since >= timings.giveUpMs) {
    const why = `${
      ran.find((one) => one.error !== null)?.error ?? "The pod could not be stopped"
    }. The stop was given ` +
      "up after a day: stop the pod by hand, it may still cost money";
    return {
      step: null,
      marks: ended.map((one) => ran.includes(one) ? failed(one, now, why) : over(one, now, false, null)),
    };
  }
  const ids = (list: readonly SessionRow[]) => list.map((one) => one.id);
  return { step: { action: "stop", sessions: ids(ended), ran: ids(ran), overBudget: false }, marks: [] };
}

/** RunPod can carry a start out this long after it was asked for. */
const LATE_START_MS = 30 * MINUTE;

/** Was the pod started after `end`, and not by a start of the schedule's own that came through late? */
function isTheirs({ upSince, lastStart }: ScheduledPod, end: number): boolean {
  if (upSince === null || upSince <= end) return false;
  return !(lastStart?.isOurs && lastStart.askedAt <= end && upSince - lastStart.askedAt <= LATE_START_MS);
}

/** Did the pod run for this session? Also when the program ended before it could store that. */
export function wasStarted(session: SessionRow, pod: ScheduledPod): boolean {
  if (session.started === 1) return true;
  const { starting_at: asked } = session;
  if (asked === null) return false;
  if (pod.lastStart?.state === "done" && pod.lastStart.askedAt >= asked) return true;
  // RunPod can carry a start out that it seemed to have lost.
  return isUp(pod.status) && pod.upSince !== null && pod.upSince >= asked - MINUTE && pod.upSince < session.stop_at;
}

/** The session's pod is up. */
export function startedChange(now: number, status: string | null): SessionChange {
  return {
    started: 1,
    started_at: now,
    state: status === "RUNNING" ? "running" : "starting",
    error: null,
    error_at: null,
    failing_since: null,
  };
}

/** The session is over: `done` when it ran, `failed` when a start was refused, `missed` when nobody tried. */
export function over(session: SessionRow, now: number, ran: boolean, why: string | null): Mark {
  if (ran) {
    const late = session.started === 1 ? {} : { started: 1, started_at: session.starting_at };
    const noFailure = { error: null, error_at: null, failing_since: null };
    return { id: session.id, change: { ...late, ...noFailure, finished: 1, finished_at: now, state: "done" } };
  }
  const error = session.error ?? why;
  if (error !== null) return failed(session, now, error);
  return {
    id: session.id,
    change: {
      finished: 1,
      finished_at: now,
      state: "missed",
      error:
        `Nothing was done between ${isoTime(session.start_at)} and ${isoTime(session.stop_at)}: the server was not ` +
        "running, or its schedule was paused",
      error_at: now,
    },
    event: "session.missed",
  };
}

function failed(session: SessionRow, now: number, error: string): Mark {
  return {
    id: session.id,
    change: { finished: 1, finished_at: now, state: "failed", error, error_at: now },
    event: "session.failed",
  };
}

/** What stands in the way is stored with each session that waits; the next turn looks again. */
function trouble(now: number, waiting: readonly SessionRow[], marks: readonly Mark[], error: string): Plan {
  const troubles = waiting.map((one) => ({ id: one.id, change: failureChange(now, one, error) }));
  return { step: null, marks: [...marks, ...troubles] };
}

/** A step that did not succeed yet. */
export function failureChange(now: number, session: SessionRow, error: string): SessionChange {
  return { error, error_at: now, failing_since: session.failing_since ?? now };
}
