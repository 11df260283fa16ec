import { connectionsOf, folderOf } from "../../db/stores/connections.ts";
import {
  openRemovals,
  removalById,
  type RemovalRow,
  settleRemoval,
  storeRemovalTry,
} from "../../db/stores/removals.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { describeError } from "../log.ts";
import type { PodDeps } from "../pods/deps.ts";
import { targetOf } from "../pods/reach.ts";
import type { PodSetup } from "../setup/setup.ts";
import { lowerFirst, whyOf } from "../setup/text.ts";
import { createTurns } from "../turns.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { type Ended, endScript, parseEnded } from "./script.ts";
import { endingSerials } from "./take.ts";

const END_MS = 10_000;
/** So many people at once are removed from one pod; each takes a channel of its connection. */
const LANES = 4;
/** After a try that failed the next one waits. */
const AGAIN_MS = 30 * SECOND;
/** A login that was under way is seen by a second look, so much later. */
const LOOK_AGAIN_MS = 5 * SECOND;

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

  const endOn = async (pod: LivePod, removal: RemovalRow): Promise<Ended | string> => {
    const folder = folderOf(db, pod.org_id, removal.discord_id);
    if (folder === undefined) return "they have no folder";
    const serials = endingSerials(connectionsOf(db, pod.id, removal.discord_id), removal.which, clock.now());
    try {
      const result = await deps.ssh.exec(targetOf(deps, pod), "exec /bin/sh -s", {
        stdin: endScript({ folder, serials, wholeAccount: removal.which === "all" }),
        deadlineMs: END_MS,
        maxOutputBytes: 64 * 1024,
      });
      return parseEnded(new TextDecoder().decode(result.stdout)) ?? "the commands for it did not run to their end";
    } catch (error) {
      return lowerFirst(whyOf(error));
    }
  };

  const worksUntil = (pod: LivePod, removal: RemovalRow): number | null => {
    const rows = connectionsOf(db, pod.id, removal.discord_id)
      .filter((row) => row.revoked_at !== null && (removal.which === "all" || row.is_admin === 1));
    return rows.length === 0 ? null : Math.max(...rows.map((row) => row.valid_before));
  };

  const attempt = async (removal: RemovalRow): Promise<Outcome> => {
    const found = podById(db, removal.pod_id);
    const pod = found?.state === "live" ? found as LivePod : null;
    const isUp = pod !== null && pod.status !== "GONE" && pod.status !== "EXITED";
    // The list first: who is ended before it is there comes back.
    if (isUp && pod.host !== null) await deps.setup.ensure(pod, END_MS);
    const listFailure = isUp ? await deps.setup.deliver(pod) : null;
    const now = isUp ? podById(db, pod.id) as LivePod : pod;
    const ended = isUp && now !== null ? await endOn(now, removal) : null;
    return outcomeOf({
      status: pod?.status ?? null,
      listFailure,
      ended,
      worksUntil: pod === null ? null : worksUntil(pod, removal),
      which: removal.which,
    }, clock.now());
  };

  const carryOut = (id: number): Promise<Outcome> => {
    const podId = removalById(db, id)?.pod_id;
    if (podId === undefined) throw new AppError("internal_error", "A removal of access is not there");
    // The same one is carried out by one at a time, however many ask.
    return turns.take(`${podId} ${id % LANES}`, async () => {
      const removal = removalById(db, id)!;
      if (closed || removal.state === "done") {
        return { isDone: removal.state === "done", report: removal.report ?? "", error: removal.error };
      }
      const outcome = await attempt(removal);
      const isSecondLook = removal.tried_at !== null && removal.error === null;
      const status = podById(db, podId)?.status;
      if (outcome.isDone && (isSecondLook || status !== "RUNNING")) {
        settleRemoval(db, removal, outcome.report, clock.now());
      } else {storeRemovalTry(
          db,
          removal,
          outcome.error === null ? { error: null, report: outcome.report } : outcome,
          clock.now(),
        );}
      return outcome;
    });
  };

  return {
    carryOut,
    async turn(org) {
      await Promise.all(
        openRemovals(db, org.id).map(async (removal) => {
          const waitMs = removal.error === null ? LOOK_AGAIN_MS : AGAIN_MS;
          if (closed || removal.tried_at !== null && clock.now() - removal.tried_at < waitMs) return;
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
