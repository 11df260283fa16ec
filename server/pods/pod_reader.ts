import type { Org } from "../../db/stores/organizations.ts";
import { incarnationSince, type LivePod } from "../../db/stores/pods.ts";
import { SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { RunpodError, toAppError } from "../runpod/errors.ts";
import { within } from "../within.ts";
import type { PodDeps } from "./deps.ts";
import { recordAnswer, recordMissing } from "./seen.ts";

/** RunPod's share of the time of a connect. */
export const RUNPOD_MS = 6 * SECOND;
/** A read of the pod this old is as good as a new one: a class that connects at once costs one call a second. */
const READ_AGE_MS = 1 * SECOND;

/** The state of a pod for a connect: read now, or the stored one because RunPod did not answer (`why`). */
interface ReadState {
  readonly why: AppError | null;
}

/** Reads single pods for connects; one call at a time per pod, shared by all who ask within a second. */
export interface PodReader {
  read(org: Org, pod: LivePod, timeoutMs: number): Promise<ReadState>;
}

interface Read {
  readonly begun: number;
  readonly done: Promise<ReadState>;
  /** What it said, once it is over. */
  state: ReadState | null;
}

export function createPodReader(deps: PodDeps): PodReader {
  const reads = new Map<string, Read>();

  const read = async (org: Org, pod: LivePod, begun: number): Promise<ReadState> => {
    try {
      const answer = await deps.runpod.clientOf(org).get(pod.runpod_id, { timeoutMs: RUNPOD_MS });
      deps.db.tx(() => recordAnswer(deps, pod.id, answer, begun));
      return { why: null };
    } catch (error) {
      if (error instanceof AppError) return { why: error };
      if (!(error instanceof RunpodError)) throw error;
      if (error.kind !== "not_found") return { why: toAppError(error) };
      const isGone = begun - incarnationSince(deps.db, pod) > deps.timings.freshPodMs;
      deps.db.tx(() => recordMissing(deps, pod, isGone, begun));
      return { why: new AppError("pod_not_running", "Pod is not running") };
    }
  };

  const launch = (org: Org, pod: LivePod, begun: number): Read => {
    const entry: Read = { begun, done: read(org, pod, begun).then((state) => entry.state = state), state: null };
    return entry;
  };

  return {
    read(org, pod, timeoutMs) {
      const now = deps.clock.now();
      let entry = reads.get(pod.id);
      if (entry === undefined || now - entry.begun > READ_AGE_MS) {
        entry = launch(org, pod, now);
        reads.set(pod.id, entry);
      }
      if (entry.state !== null) return Promise.resolve(entry.state);
      return within(entry.done, timeoutMs, () => ({
        why: new AppError("runpod_unavailable", "RunPod could not be reached"),
      }));
    },
  };
}
