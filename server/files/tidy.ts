import { orgById } from "../../db/stores/organizations.ts";
import { podById } from "../../db/stores/pods.ts";
import { AppError } from "../errors.ts";
import type { FileDeps } from "./deps.ts";
import { openPod } from "./pod_session.ts";
import { removeLeftOvers } from "./replace_file.ts";

/**
 * Housekeeping: removes what broken-off writes left on pods that run. What cannot be done now is done at a later turn, or
 * at the next write on the pod.
 */
export async function tidyPods(deps: FileDeps): Promise<void> {
  for (const podId of deps.temporaries.podsWithLeftOvers()) {
    const pod = podById(deps.db, podId);
    const org = pod === undefined ? undefined : orgById(deps.db, pod.org_id);
    if (pod === undefined || pod.runpod_id === null || pod.status !== "RUNNING" || org === undefined) continue;
    try {
      await removeLeftOvers(deps, await openPod(deps, org, pod.runpod_id));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }
}
