import type { Org } from "../../db/stores/organizations.ts";
import { MINUTE, SECOND } from "../clock.ts";
import type { Actions } from "../pods/act.ts";
import type { PodDeps } from "../pods/deps.ts";
import { PRESENCE_EVERY_MS } from "../presence/note.ts";
import { type AutoStopJob, createAutoStop } from "./turn.ts";
import { createWarnTurn, WARN_MS } from "./warn.ts";
import { createWatchTurn } from "./watch.ts";

/** How stops by themselves count time; milliseconds. The demo and the tests take shorter ones. */
export interface AutoStopTimings {
  /** Between two turns of the stops, and of the look at who is on. */
  readonly turnMs: number;
  readonly warnTurnMs: number;
  /** Between two reads of who is on one pod. */
  readonly presenceEveryMs: number;
  /** How long before a stop the people on the pod are told. */
  readonly warnMinutesMs: readonly number[];
}

export const AUTO_STOP_TIMINGS: AutoStopTimings = {
  turnMs: MINUTE,
  warnTurnMs: 20 * SECOND,
  presenceEveryMs: PRESENCE_EVERY_MS,
  warnMinutesMs: WARN_MS,
};

/** The turns that stop pods by themselves, each single flight under its loop. */
export interface AutoStopJobs {
  readonly stops: AutoStopJob;
  /** Reads who is on the pods that stop when they are idle. */
  readonly watch: () => Promise<void>;
  /** Tells the people on pods that stop soon. */
  readonly warn: () => Promise<void>;
}

export function createAutoStopJobs(
  deps: PodDeps & {
    readonly actions: Actions;
    readonly isPaused: () => string | null;
    readonly budgetReached: (org: Org, now: number) => boolean;
    readonly leadMs: number;
  },
  timings: AutoStopTimings = AUTO_STOP_TIMINGS,
): AutoStopJobs {
  const { presenceEveryMs, warnMinutesMs } = timings;
  return {
    stops: createAutoStop(deps),
    watch: createWatchTurn({ ...deps, presenceEveryMs }),
    warn: createWarnTurn({ ...deps, presenceEveryMs, warnMinutesMs }),
  };
}
