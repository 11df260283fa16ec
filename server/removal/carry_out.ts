import {
  openRemovals,
  removalById,
  type RemovalRow,
  reopenAfterSetup,
  reopenInSameStart,
  settleRemoval,
  storeRemovalTry,
} from "../../db/stores/removals.ts";
import { podById } from "../../db/stores/pods.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { describeError } from "../log.ts";
import type { PodDeps } from "../pods/deps.ts";
import type { PodSetup } from "../setup/setup.ts";
import { createTurns } from "../turns.ts";
import { attempt } from "./attempt.ts";
import { type Outcome, reportAfter } from "./outcome.ts";

/** So many people at once are removed from one pod; each takes a channel of its connection. */
const LANES = 4;
/** After a try that failed the next one waits. */
const AGAIN_MS = 30 * SECOND;
/** A login that was under way is seen by a second look, so much later. */
const LOOK_AGAIN_MS = 5 * SECOND;

/** When the last try was; null for none, and for one that the clock was set back behind: it says nothing about now. */
const triedBefore = ({ tried_at }: RemovalRow, now: number): number | null =>
  tried_at !== null && tried_at <= now ? tried_at : null;

export interface Removals {
  /** Carries a removal out as far as it goes now; says what was done and what was not. */
  carryOut(id: number): Promise<Outcome>;
  /** Goes on with every removal of the org that is open. */
  turn(org: Org): Promise<void>;
  close(): Promise<void>;
}

export function createRemovals(deps: PodDeps & { readonly setup: PodSetup }): Removals {
  const { db, clock, log } = deps;
  const turns = createTurns();
  let closed = false;

  /** Done after two looks that found nothing left, some seconds apart; on a pod that does not run one is enough. */
  const store = (removal: RemovalRow, outcome: Outcome): void => {
    const now = clock.now();
    const report = reportAfter(removal.report, outcome);
    const firstLook = removal.error === null ? triedBefore(removal, now) : null;
    const isSecondLook = firstLook !== null && now - firstLook >= LOOK_AGAIN_MS;
    const pod = podById(db, removal.pod_id);
    const runs = pod?.status === "RUNNING";
    if (outcome.isDone && (isSecondLook || !runs)) {
      const offStart = runs ? null : String(pod?.started_at ?? "");
      if (settleRemoval(db, removal, report, offStart, now)) return;
    }
    // The wait until the second look begins with the first one, however many ask in between.
    const triedAt = outcome.isDone && firstLook !== null ? firstLook : now;
    storeRemovalTry(db, removal, { error: outcome.error, report, hasEndedAll: outcome.hasEndedAll }, triedAt);
  };

  const carryOut = async (id: number): Promise<Outcome> => {
    const podId = removalById(db, id)?.pod_id;
    if (podId === undefined) throw new AppError("internal_error", "A removal of access is not there");
    // The same one is carried out by one at a time, however many ask.
    return await turns.take(`${podId} ${id % LANES}`, async () => {
      const removal = removalById(db, id);
      if (removal === undefined) throw new AppError("internal_error", "A removal of access is not there");
      if (closed || removal.state === "done") {
        const { report, error } = removal;
        return { isDone: removal.state === "done", hasEnded: false, hasEndedAll: false, report: report ?? "", error };
      }
      const outcome = await attempt(deps, removal);
      store(removal, outcome);
      return outcome;
    });
  };

  return {
    carryOut,
    async turn(org) {
      reopenInSameStart(db, org.id);
      reopenAfterSetup(db, org.id, clock.now());
      await Promise.all(
        openRemovals(db, org.id).map(async (removal) => {
          const waitMs = removal.error === null ? LOOK_AGAIN_MS : AGAIN_MS;
          const triedAt = triedBefore(removal, clock.now());
          if (closed || triedAt !== null && clock.now() - triedAt < waitMs) return;
          try {
            await carryOut(removal.id);
          } catch (error) {
            log.error("Access could not be taken away", { pod: removal.pod_id, error: describeError(error) });
          }
        }),
      );
    },
    async close() {
      closed = true;
      await turns.idle();
    },
  };
}
