import type { Org } from "../../db/stores/organizations.ts";
import { incarnationSince, type LivePod, livePods, podByRunpodId } from "../../db/stores/pods.ts";
import { AppError, asClause, shown } from "../errors.ts";
import { RunpodError, toAppError } from "../runpod/errors.ts";
import type { PodDeps } from "./deps.ts";
import type { Refresher } from "./refresh.ts";
import { recordAnswer, recordMissing } from "./seen.ts";
import { type PodView, podViewer, type ViewDeps } from "./view.ts";

const LIST_MS = 8_000;
const GET_MS = 8_000;

/** The org's pods for officers, with RunPod's present states or the last known ones and a warning. */
export async function listPods(
  deps: PodDeps & ViewDeps & { readonly refresher: Refresher },
  org: Org,
): Promise<{ pods: PodView[]; warnings: string[] }> {
  deps.runpod.clientOf(org);
  const { fresh, error } = await deps.refresher.refresh(org, { maxAgeMs: 1_000, timeoutMs: LIST_MS });
  const view = podViewer(deps, org, deps.clock.now());
  const pods = livePods(deps.db, org.id).map((pod) => view(pod, !fresh));
  return { pods, warnings: error === null ? [] : [`${asClause(error.message)}. These are the last known states.`] };
}

/** A pod of the org by RunPod's id. Throws `pod_not_found`. */
export function findPod(deps: Pick<PodDeps, "db">, org: Org, runpodId: string): LivePod {
  // RunPod's ids are opaque: whatever it gave must be found again, or the pod could not be stopped.
  const pod = runpodId.length <= 200 ? podByRunpodId(deps.db, org.id, runpodId) : undefined;
  if (pod === undefined) {
    const named = livePods(deps.db, org.id).filter(({ name }) => name === runpodId);
    const hint = named.length === 0
      ? `There is no pod ${shown(runpodId)} in this organization; ids are in pod list`
      : `A pod goes by its id; the one named ${shown(runpodId)} is ${named.map((one) => one.runpod_id).join(", ")}`;
    throw new AppError("pod_not_found", "Pod not found", { hint });
  }
  return pod;
}

/** One pod from one live read. Throws RunPod's refusal when it cannot be read. */
export async function readPod(deps: PodDeps & ViewDeps, org: Org, runpodId: string): Promise<PodView> {
  const pod = findPod(deps, org, runpodId);
  const client = deps.runpod.clientOf(org);
  const askedAt = deps.clock.now();
  try {
    const answer = await client.get(pod.runpod_id, { timeoutMs: GET_MS });
    deps.db.tx(() => recordAnswer(deps, pod.id, answer, askedAt));
  } catch (error) {
    if (!(error instanceof RunpodError)) throw error;
    if (error.kind !== "not_found") throw toAppError(error);
    const gone = askedAt - incarnationSince(deps.db, pod) > deps.timings.freshPodMs;
    deps.db.tx(() => recordMissing(deps, pod, gone, askedAt));
  }
  return podViewer(deps, org, deps.clock.now())(findPod(deps, org, runpodId), false);
}
