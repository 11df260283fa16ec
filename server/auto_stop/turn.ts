import { failingAutoStops, storeAutoStopFailure } from "../../db/stores/activity.ts";
import { podById, type PodRow } from "../../db/stores/pods.ts";
import { SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { raise } from "../events/raise.ts";
import { describeError } from "../log.ts";
import type { Actions } from "../pods/act.ts";
import type { PodDeps } from "../pods/deps.ts";
import { isDown } from "../pods/moves.ts";
import { notePresence } from "../presence/note.ts";
import { readPresence } from "../presence/read.ts";
import { isSeenUp, type StopRule } from "./decide.ts";
import { afterFailure, mayTry } from "./failing.ts";
import { tellForgotten } from "./forgotten.ts";
import { decideLoaded, type LoadDeps, type LoadedPod, loadUpPod, loadUpPods } from "./load.ts";
import { tellUnread } from "./unread.ts";

export interface AutoStopDeps extends PodDeps, LoadDeps {
  readonly actions: Actions;
  /** Why the server does nothing by itself at the moment; null when it may. */
  readonly isPaused: () => string | null;
}

export interface AutoStopJob {
  /**
   * One turn: begins the stops that are due and resolves when those have ended. A pod whose stop of an earlier turn is
   * still on its way is left to it.
   */
  turn(): Promise<void>;
  /** The same without waiting, so that a slow pod does not hold up the next turn of the others. */
  begin(): void;
  /** Resolves when nothing is on its way. */
  idle(): Promise<void>;
}

/** A pod is looked at once more right before an idle stop; an older read does not count. */
const LAST_LOOK_MS = 30 * SECOND;

/** Stops pods by the idle rule, the limit on hours of one run, and the budget; and tells of those that may run on unseen. */
export function createAutoStop(deps: AutoStopDeps): AutoStopJob {
  const { db, clock, log } = deps;
  const onTheWay = new Map<string, Promise<void>>();

  const turn = async () => {
    if (deps.isPaused() !== null) return;
    const now = clock.now();
    forgetFailuresOfStopped(deps);
    const begun: Promise<void>[] = [];
    for (const loaded of loadUpPods(deps, now)) {
      tellForgotten(db, loaded, now);
      tellUnread(db, loaded, now);
      const { pod } = loaded;
      const decision = decideLoaded(now, loaded);
      if (decision.kind === "stay") {
        if (pod.auto_stop_failing_since !== null && isSeenUp(now, pod)) storeAutoStopFailure(db, pod.id, null);
        continue;
      }
      if (!mayTry(now, pod) || onTheWay.has(pod.id)) continue;
      const work = stop(loaded, decision.rule).catch((error) => {
        log.error("A pod could not be stopped by itself", { pod: pod.id, error: describeError(error) });
      }).finally(() => onTheWay.delete(pod.id));
      onTheWay.set(pod.id, work);
      begun.push(work);
    }
    await Promise.all(begun);
  };

  const stop = async ({ pod }: LoadedPod, rule: StopRule): Promise<void> => {
    try {
      if (rule === "idle_stop") await lookOnceMore(deps, pod.id);
      await deps.actions.exclusive(pod.id, async (act) => {
        const now = clock.now();
        const fresh = deps.isPaused() === null ? loadUpPod(deps, pod.id, now) : null;
        if (fresh === null) return;
        const decision = decideLoaded(now, fresh);
        if (decision.kind === "stay") return;
        if (decision.rule === "idle_stop" && now - (fresh.pod.presence_at ?? 0) > LAST_LOOK_MS) return;
        log.info("A pod is stopped by itself", { pod: pod.id, rule: decision.rule, why: decision.why });
        const asker = {
          caller: { kind: "system" as const, rule: decision.rule },
          address: null,
          action: "auto_stop",
        };
        await act(fresh.org, asker, pod.id, "stop", { onDone: () => storeAutoStopFailure(db, pod.id, null) });
      });
    } catch (error) {
      noteFailure(deps, pod.id, error);
    }
  };

  return {
    turn,
    begin() {
      turn().catch((error) => log.error("A turn of the auto stop failed", { error: describeError(error) }));
    },
    async idle() {
      await Promise.all(onTheWay.values());
    },
  };
}

/** Reads who is on the pod right before it is stopped for being idle. */
async function lookOnceMore(deps: AutoStopDeps, podId: string): Promise<void> {
  const loaded = loadUpPod(deps, podId, deps.clock.now());
  if (loaded === null) return;
  const presence = await readPresence(deps, loaded.pod);
  if (podById(deps.db, podId)?.start_key !== loaded.pod.start_key) return;
  notePresence(deps.db, podId, presence, deps.clock.now());
}

/** A pod that is down needs no stop, whoever stopped it. */
function forgetFailuresOfStopped({ db }: AutoStopDeps): void {
  for (const pod of failingAutoStops(db)) if (isDown(pod.status)) storeAutoStopFailure(db, pod.id, null);
}

/** Remembers a failed stop and when it is tried again; given up after a day, which officers are told. */
function noteFailure(deps: AutoStopDeps, podId: string, error: unknown): void {
  const { db, clock, log } = deps;
  const message = error instanceof AppError ? error.message : "The server could not stop it; see its log";
  log.error("A pod could not be stopped by itself", { pod: podId, error: describeError(error) });
  db.tx(() => {
    const now = clock.now();
    const row = podById(db, podId);
    if (row === undefined || row.state !== "live") return;
    const { since, nextAt } = afterFailure(now, row);
    storeAutoStopFailure(db, podId, { since, nextAt, error: message });
    if (nextAt === null) tellGivenUp(deps, row, since, message, now);
  });
}

function tellGivenUp(deps: AutoStopDeps, row: PodRow, since: number, error: string, now: number): void {
  raise(deps.db, {
    orgId: row.org_id,
    kind: "pod.failed",
    podId: row.id,
    runpodId: row.runpod_id,
    subject: row.name,
    actor: null,
    details: {
      did: "not stopped",
      error,
      why: "The pod could not be stopped by itself for 24 hours, so that is given up. It may still cost money: stop it",
    },
    onceKey: `auto_stop:${row.id}:${since}`,
  }, now);
}
