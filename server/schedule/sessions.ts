import type { z } from "zod";
import type { Database } from "../../db/database.ts";
import { openIntentOf } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import type { LivePod } from "../../db/stores/pods.ts";
import {
  countOpenSessions,
  insertSession,
  openSessions,
  sessionById,
  type SessionChange,
  type SessionRow,
  updateSession,
} from "../../db/stores/sessions.ts";
import { actorOf, type Audit } from "../audit/write.ts";
import { type Clock, isoTime, MINUTE } from "../clock.ts";
import { AppError, shown } from "../errors.ts";
import { type Asker, discordIdOf } from "../identity/callers.ts";
import { lazily } from "../lazily.ts";
import type { Actions } from "../pods/act.ts";
import { findPod } from "../pods/list.ts";
import { isDown } from "../pods/moves.ts";
import {
  checkChange,
  checkNewSession,
  MOST_EXTENSION,
  MOST_OPEN,
  type newSessionSchema,
  readChange,
  type sessionChangeSchema,
} from "./session_rules.ts";

export interface SessionDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly actions: Actions;
  /** Lets the schedule look at once, because a session that is due may have come up. */
  readonly poke: () => void;
}

/** Only a series needs the rules of the world's clocks. */
const loadSeries = lazily(() => import("./series.ts"));

/**
 * Stores a session, or all of a series (with `repeat`), or nothing. Throws `invalid_request` by the rules of contract
 * section 8.2, `pod_not_found`, and `conflict` for a pod that RunPod no longer has.
 */
export async function addSessions(
  deps: SessionDeps,
  org: Org,
  asker: Asker,
  runpodId: string,
  body: z.output<typeof newSessionSchema>,
): Promise<{ pod: LivePod; sessions: SessionRow[]; warnings: string[] }> {
  const { db, clock } = deps;
  const wanted = checkNewSession(body, clock.now());
  const { windows, warnings } = wanted.repeat === null
    ? { windows: [wanted], warnings: [] }
    : (await loadSeries()).seriesOf(wanted, wanted.repeat);
  const added = db.tx(() => {
    const pod = findPod(deps, org, runpodId);
    refuseGone(pod);
    refuseLostFiles(pod, wanted.onGpuTaken);
    if (countOpenSessions(db, pod.id) + windows.length > MOST_OPEN) {
      throw new AppError("invalid_request", `A pod can have at most ${MOST_OPEN} upcoming sessions`);
    }
    const shared = {
      orgId: org.id,
      podId: pod.id,
      title: wanted.title,
      seriesId: wanted.repeat === null ? null : crypto.randomUUID(),
      overBudget: wanted.overBudget,
      onGpuTaken: wanted.onGpuTaken,
      createdBy: discordIdOf(asker.caller),
    };
    const twice = warningsOfTwice(openSessions(db, pod.id), windows);
    const sessions = windows.map(({ startAt, stopAt }) =>
      insertSession(db, { ...shared, startAt, stopAt }, clock.now())
    );
    auditSessions(deps, org, asker, pod, 201, {
      sessions: sessions.map(timesOf),
      title: wanted.title,
      over_budget: wanted.overBudget,
      on_gpu_taken: wanted.onGpuTaken,
      ...(wanted.repeat === null ? {} : {
        series_id: shared.seriesId,
        every_weeks: wanted.repeat.everyWeeks,
        time_zone: wanted.repeat.timeZone,
      }),
    });
    return { pod, sessions, warnings: [...warnings, ...twice] };
  });
  deps.poke();
  return added;
}

/** Two sessions at the same times are allowed, and mostly a slip: a command that was sent again. */
function warningsOfTwice(
  open: readonly SessionRow[],
  windows: readonly { readonly startAt: number; readonly stopAt: number }[],
): string[] {
  const twice = open.filter((one) => windows.some((it) => it.startAt === one.start_at && it.stopAt === one.stop_at));
  if (twice.length === 0) return [];
  const [what, which] = twice.length === 1 ? ["a session", "session"] : [`${twice.length} sessions`, "sessions"];
  return [`The pod has ${what} at these times already: ${which} ${twice.map((one) => one.id).join(", ")}`];
}

/**
 * Changes an unfinished session. Throws `conflict` for a finished one, and for another start of one that has started or is
 * being started; else as for a new session.
 */
export async function changeSession(
  deps: SessionDeps,
  org: Org,
  asker: Asker,
  runpodId: string,
  id: number,
  body: z.output<typeof sessionChangeSchema>,
): Promise<{ pod: LivePod; session: SessionRow }> {
  const wanted = readChange(body);
  return await betweenActions(deps, org, runpodId, id, (pod, session) => {
    refuseFinished(session);
    checkChange(session, wanted, deps.clock.now());
    if (wanted.on_gpu_taken !== undefined) refuseLostFiles(pod, wanted.on_gpu_taken);
    const change = { ...wanted, ...forgottenBy(deps.db, pod, session, wanted) };
    updateSession(deps.db, session.id, change);
    const changed = sessionById(deps.db, pod.id, session.id)!;
    auditSessions(deps, org, asker, pod, 200, {
      sessions: [timesOf(changed)],
      before: timesOf(session),
      changed: wanted,
    });
    return { pod, session: changed };
  });
}

/** What the schedule noted about the session that no longer holds once its times are others. */
function forgottenBy(db: Database, pod: LivePod, session: SessionRow, change: SessionChange): SessionChange {
  const noFailure = { error: null, error_at: null, failing_since: null };
  if (change.start_at !== undefined && change.start_at !== session.start_at) {
    if (mayRunFor(db, pod, session)) {
      throw new AppError(
        "conflict",
        openIntentOf(db, pod.id) === undefined
          ? "The pod may have been started for the session, so its start_at cannot be changed; delete the session, which " +
            "also stops the pod, and add a new one"
          : "The pod is being started for the session, and it is not known yet whether it did; try again in some minutes",
      );
    }
    return { ...noFailure, state: "scheduled", starting_at: null };
  }
  const isPutOff = change.stop_at !== undefined && change.stop_at !== session.stop_at && session.started === 1;
  return isPutOff ? noFailure : {};
}

/** Puts the stop of a session off. Throws `conflict` where that cannot be, `invalid_request` for other minutes. */
export async function extendSession(
  deps: SessionDeps,
  org: Org,
  asker: Asker,
  runpodId: string,
  id: number,
  minutes: number,
): Promise<{ pod: LivePod; session: SessionRow }> {
  return await betweenActions(deps, org, runpodId, id, (pod, session) => {
    const { db, clock } = deps;
    refuseFinished(session);
    const now = clock.now();
    const stopAt = session.stop_at + minutes * MINUTE;
    const refuse = (sentence: string, hint?: string) =>
      new AppError("conflict", sentence, hint === undefined ? {} : { hint });
    if (session.started === 0 && session.start_at > now) {
      throw refuse(
        "The session has not begun yet; change its stop_at instead",
        `orgpods session edit ${pod.runpod_id} ${session.id} --stop <time>`,
      );
    }
    if (session.started === 0 && session.stop_at <= now) {
      throw refuse("The time of the session is over and it never started; add a new one");
    }
    const left = MOST_EXTENSION - session.extended_minutes;
    if (minutes > left) {
      const rest = left === 0 ? "none are left" : `${left} ${left === 1 ? "is" : "are"} left`;
      throw refuse(`A session can be extended by at most ${MOST_EXTENSION} minutes in all: ${rest}`);
    }
    if (stopAt <= now) {
      throw refuse(`The session would have ended at ${isoTime(stopAt)} all the same, which is past; extend it by more`);
    }
    const extended = session.extended_minutes + minutes;
    updateSession(db, session.id, {
      stop_at: stopAt,
      extended_minutes: extended,
      ...(session.started === 1 ? { error: null, error_at: null, failing_since: null } : {}),
    });
    const changed = sessionById(db, pod.id, session.id)!;
    auditSessions(deps, org, asker, pod, 200, {
      sessions: [timesOf(changed)],
      before: timesOf(session),
      minutes,
      extended,
    });
    return { pod, session: changed };
  });
}

/** Did the schedule start the pod for this session, as far as it can be told? */
export function mayRunFor(db: Database, pod: LivePod, session: SessionRow): boolean {
  if (session.started === 1) return true;
  if (session.starting_at === null) return false;
  return !isDown(pod.status) || openIntentOf(db, pod.id) !== undefined;
}

/** A session of a pod by its number in the path. Throws `session_not_found`. */
export function sessionOf(db: Database, pod: LivePod, id: number): SessionRow {
  const session = sessionById(db, pod.id, id);
  if (session === undefined) {
    const hint = `The pod ${shown(pod.name)} has no session ${id}; numbers are in session list`;
    throw new AppError("session_not_found", "Session not found", { hint });
  }
  return session;
}

/**
 * Changes one session while no action is on its way for its pod: a stop that is under way would else finish a session that
 * was put off meanwhile. The schedule looks at the outcome at once.
 */
async function betweenActions<T>(
  deps: SessionDeps,
  org: Org,
  runpodId: string,
  id: number,
  change: (pod: LivePod, session: SessionRow) => T,
): Promise<T> {
  const { id: podId } = findPod(deps, org, runpodId);
  const result = await deps.actions.exclusive(podId, () =>
    Promise.resolve(deps.db.tx(() => {
      const pod = findPod(deps, org, runpodId);
      return change(pod, sessionOf(deps.db, pod, id));
    })));
  deps.poke();
  return result;
}

function refuseFinished(session: SessionRow): void {
  if (session.finished === 1) throw new AppError("conflict", "The session is over; add a new one");
}

function refuseGone(pod: LivePod): void {
  if (pod.status !== "GONE") return;
  throw new AppError(
    "conflict",
    "RunPod no longer has this pod, so no session can start it; add the session to another pod, and terminate this one " +
      "to take it off the list",
  );
}

/** A fresh pod in place of this one begins with an empty disk: where files are meant to stay, that must not be. */
function refuseLostFiles(pod: LivePod, onGpuTaken: string): void {
  if (onGpuTaken !== "fresh_pod") return;
  const { volume_in_gb: volume } = JSON.parse(pod.config) as { volume_in_gb?: number };
  if (pod.keeps_files === 0 || volume === 0) return;
  throw new AppError(
    "invalid_request",
    "on_gpu_taken cannot be fresh_pod: the pod keeps its files on a volume of its host, and a fresh pod would not have " +
      "them; send wait",
  );
}

/** A session as the audit names it. */
export const timesOf = ({ id, start_at, stop_at }: SessionRow) => ({
  id,
  start_at: isoTime(start_at),
  stop_at: isoTime(stop_at),
});

/** Writes the audit row of a change of sessions. */
export function auditSessions(
  deps: SessionDeps,
  org: Org,
  asker: Asker,
  pod: LivePod,
  status: number,
  details: Readonly<Record<string, unknown>>,
): void {
  deps.audit.write({
    ...actorOf(asker.caller),
    address: asker.address,
    action: asker.action,
    orgPrefix: org.prefix,
    podId: pod.runpod_id,
    status,
    outcome: "ok",
    details: { name: pod.name, ...details },
  });
}
