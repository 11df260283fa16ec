import { storeWarned } from "../../db/stores/activity.ts";
import { podById } from "../../db/stores/pods.ts";
import { atMost } from "../at_most.ts";
import { MINUTE } from "../clock.ts";
import { describeError } from "../log.ts";
import type { PodDeps } from "../pods/deps.ts";
import { notePresence, PRESENCE_EVERY_MS } from "../presence/note.ts";
import { readPresence } from "../presence/read.ts";
import { decideLoaded, type LoadDeps, type LoadedPod, loadUpPods } from "./load.ts";
import { type PlannedStop, plannedStop } from "./planned.ts";
import { idleMs } from "./rules.ts";
import { tellTerminals, warningLine } from "./tell.ts";

/** How long before a stop the people on the pod are told, the longest first. */
export const WARN_MS: readonly number[] = [10 * MINUTE, 2 * MINUTE];
const AT_ONCE = 6;

export interface WarnDeps extends PodDeps, LoadDeps {
  /** Why the server does nothing by itself at the moment; null when it may. */
  readonly isPaused: () => string | null;
  readonly warnMinutesMs?: readonly number[];
  /** Between two reads of who is on a pod. */
  readonly presenceEveryMs?: number;
}

/** A pod whose people must be told now, and how long before the stop that is at most. */
interface Due {
  readonly loaded: LoadedPod;
  readonly stop: PlannedStop;
  readonly beforeMs: number;
}

/**
 * One turn: tells the people on each pod that stops soon, by a line in their terminals. It is tried once for each stop and
 * each time before it; a stop that was moved is told anew. When no stop is near it only reads the database.
 */
export function createWarnTurn(deps: WarnDeps): () => Promise<void> {
  const { db, clock, log } = deps;

  const tell = async ({ loaded, stop }: Due): Promise<void> => {
    const { pod } = loaded;
    try {
      const presence = await readPresence(deps, pod);
      if (podById(db, pod.id)?.start_key !== pod.start_key) return;
      notePresence(db, pod.id, presence, clock.now());
      if (presence.state === "unknown" && !presence.isReached) {
        log.info("The people on a pod could not be told of its stop", { pod: pod.id, reason: presence.reason });
        return;
      }
      if (presence.state === "known" && presence.terminals.length === 0) return;
      // Somebody who keeps the server from reading who is on must not keep the others from being told.
      const terminals = presence.state === "known" ? presence.terminals : "all";
      const line = warningLine(stop, clock.now(), pod.keeps_files === 1);
      const told = await tellTerminals(deps, pod, terminals, line);
      log.info("The people on a pod were told of its stop", {
        pod: pod.id,
        terminals: terminals === "all" ? terminals : terminals.length,
        told,
      });
    } catch (error) {
      log.info("The people on a pod could not be told of its stop", { pod: pod.id, error: describeError(error) });
    }
  };

  return async () => {
    if (deps.isPaused() !== null) return;
    const now = clock.now();
    const due = loadUpPods(deps, now).flatMap((loaded) => dueWarning(deps, now, loaded) ?? []);
    for (const { loaded, stop, beforeMs } of due) storeWarned(db, loaded.pod.id, stop.at, beforeMs / MINUTE);
    await atMost(AT_ONCE, due, tell);
  };
}

/** The warning that is due for a pod; null when no stop is near or its people were told already. */
function dueWarning(deps: WarnDeps, now: number, loaded: LoadedPod): Due | null {
  const { pod, sessions, facts, settings } = loaded;
  if (pod.status !== "RUNNING" || pod.host === null) return null;
  const stop = plannedStop(now, pod, sessions, decideLoaded(now, loaded), facts.leadMs);
  if (stop === null || stop.at <= now) return null;
  const times = deps.warnMinutesMs ?? WARN_MS;
  const due = times.filter((beforeMs) => stop.at - now <= beforeMs);
  if (due.length === 0) return null;
  const beforeMs = Math.min(...due);
  if (pod.warned_stop_at === stop.at && (pod.warned_minutes ?? Infinity) <= beforeMs / MINUTE) return null;
  // Whoever is on puts an idle stop off at the next read. Where that comes before the warning's time there is nobody to
  // tell, and who comes and goes would be told again and again.
  const readsLater = (deps.presenceEveryMs ?? PRESENCE_EVERY_MS) * 1.5;
  if (stop.rule === "idle_stop" && beforeMs + readsLater > (idleMs(pod, settings) ?? 0)) return null;
  return { loaded, stop, beforeMs };
}
