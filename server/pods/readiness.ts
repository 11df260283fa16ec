import { type LivePod, podById } from "../../db/stores/pods.ts";
import { MINUTE, SECOND } from "../clock.ts";
import { AppError, asClause } from "../errors.ts";
import type { PodSetup } from "../setup/setup.ts";
import { clockOffsetOf } from "../presence/clock_offset.ts";
import type { PodDeps } from "./deps.ts";

const SETUP_MS = 6 * SECOND;
/** Certificates begin five minutes early: a pod's clock that is further behind refuses new ones. */
const CLOCK_WARNING_S = 4 * MINUTE / SECOND;

/**
 * Sets the pod up if that was not done in its present start, and says what a certificate for it is worth. Throws
 * `ssh_address_pending` while a pod that answers is still being set up: until then it refuses every certificate. A pod that
 * does not answer the server gets no such refusal, because the member may reach it.
 */
export async function readyForLogin(
  deps: PodDeps & { readonly setup: PodSetup },
  pod: LivePod,
  leftMs: number,
): Promise<string[]> {
  const setUp = await deps.setup.ensure(pod, Math.max(1, Math.min(SETUP_MS, leftMs)));
  const now = podById(deps.db, pod.id) as LivePod;
  const warnings: string[] = [];
  if (setUp.kind === "weak") {
    warnings.push(
      `${
        asClause(setUp.reason)
      }, so orgpods could not set the pod up: a certificate that is taken back works there until ` +
        "it ends, and file copies and editors may not.",
    );
  }
  const answers = now.reachable_start === now.start_key && now.unreachable_reason === null;
  if (setUp.kind === "pending" && answers) {
    if (now.trust_error !== null && now.setup_start === now.start_key) {
      throw new AppError("pod_unreachable", `The pod lets nobody in, because ${now.trust_error}. Ask an officer`);
    }
    throw new AppError("ssh_address_pending", "The pod is being set up. Try again in a few seconds", { retryAfter: 5 });
  }
  const offset = clockOffsetOf(now);
  if (offset !== null && Math.abs(offset) > CLOCK_WARNING_S) warnings.push(clockWarning(offset));
  return warnings;
}

function clockWarning(offsetSeconds: number): string {
  const minutes = Math.round(Math.abs(offsetSeconds) / 60);
  return offsetSeconds < 0
    ? `The pod's clock is ${minutes} minutes behind: it refuses the certificate until its clock is right, or until then.`
    : `The pod's clock is ${minutes} minutes ahead: the certificate ends that much earlier there.`;
}
