import { upPods } from "../../db/stores/activity.ts";
import { allOrgs } from "../../db/stores/organizations.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import { atMost } from "../at_most.ts";
import { settingsOf } from "../identity/org_settings.ts";
import { describeError } from "../log.ts";
import type { PodDeps } from "../pods/deps.ts";
import { notePresence, PRESENCE_EVERY_MS } from "../presence/note.ts";
import { readPresence } from "../presence/read.ts";
import { idleMs } from "./rules.ts";

/** Pods that are read at the same time. */
const AT_ONCE = 6;

export interface WatchDeps extends PodDeps {
  /** Why the server does nothing by itself at the moment; null when it may. */
  readonly isPaused: () => string | null;
  /** Between two reads of one pod. */
  readonly presenceEveryMs?: number;
}

/**
 * One turn: reads who is on each running pod that is stopped when it is idle, unless that was tried within the interval.
 * A pod that hangs costs its own 5 s.
 */
export function createWatchTurn(deps: WatchDeps): () => Promise<void> {
  const { db, clock, presenceEveryMs = PRESENCE_EVERY_MS } = deps;
  const tried = new Map<string, number>();

  const isDue = (pod: LivePod, now: number): boolean => {
    const last = Math.max(tried.get(pod.id) ?? 0, pod.presence_at ?? 0);
    return last > now || now - last >= presenceEveryMs;
  };

  const read = async (pod: LivePod): Promise<void> => {
    try {
      const presence = await readPresence(deps, pod);
      const after = podById(db, pod.id);
      // It was stopped or started anew meanwhile: what was read says nothing of this run.
      if (after?.start_key === pod.start_key) notePresence(db, pod.id, presence, clock.now());
    } catch (error) {
      deps.log.error("Who was on a pod could not be stored", { pod: pod.id, error: describeError(error) });
    }
  };

  return async () => {
    if (deps.isPaused() !== null) return;
    const now = clock.now();
    const watched = allOrgs(db).flatMap((org) => {
      const settings = settingsOf(org);
      return upPods(db, org.id).filter((pod) => pod.status === "RUNNING" && idleMs(pod, settings) !== null);
    });
    for (const id of tried.keys()) if (!watched.some((pod) => pod.id === id)) tried.delete(id);
    const due = watched.filter((pod) => isDue(pod, now));
    for (const pod of due) tried.set(pod.id, now);
    await atMost(AT_ONCE, due, read);
  };
}
