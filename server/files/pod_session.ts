import type { Org } from "../../db/stores/organizations.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import { SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { addressPending } from "../pods/address_pending.ts";
import { findPod } from "../pods/list.ts";
import { RUNPOD_MS } from "../pods/pod_reader.ts";
import { targetOf } from "../pods/reach.ts";
import type { PodTarget } from "../ssh/dial.ts";
import type { CallOptions, Sftp } from "../ssh/sftp/mod.ts";
import type { PodUser } from "./as_owner.ts";
import type { FileDeps } from "./deps.ts";

/** A state of RunPod this old is good enough to try the pod at its address; its pinned host key proves the rest. */
const STATE_AGE_MS = 60 * SECOND;

/** A running pod for the time of one request. */
export interface PodSession {
  readonly pod: LivePod;
  readonly target: PodTarget;
  readonly root: Sftp;
  /** The session of a user; null for root's. */
  as(user: PodUser | null): Promise<Sftp>;
  /** For single calls. */
  readonly call: CallOptions;
}

/**
 * Connects to a pod of the org. Throws `pod_not_found`, `pod_not_running`, `ssh_address_pending`, RunPod's refusals, and
 * what the pool throws (`pod_unreachable`, `host_key_changed` …).
 */
export async function openPod(deps: FileDeps, org: Org, runpodId: string): Promise<PodSession> {
  const found = findPod(deps, org, runpodId);
  if (!deps.runpod.hasKey(org)) deps.runpod.clientOf(org);
  const pod = isKnownToRun(deps, found) ? found : await readRunning(deps, org, found);
  const target = targetOf(deps, pod);
  const options = { deadlineMs: deps.fileTimings.connectMs };
  const root = await deps.ssh.sftp(target, options).catch(async (error) => {
    // It may have been stopped since its state was read.
    if (error instanceof AppError && error.code === "pod_unreachable") await readRunning(deps, org, found);
    throw error;
  });
  return {
    pod,
    target,
    root,
    as: async (user) =>
      user === null ? await deps.ssh.sftp(target, options) : await deps.owners.sftp(target, user, options),
    call: { deadlineMs: deps.fileTimings.callMs },
  };
}

function isKnownToRun(deps: FileDeps, pod: LivePod): boolean {
  return pod.status === "RUNNING" && pod.host !== null && pod.port !== null && pod.start_key !== null &&
    pod.as_of !== null && deps.clock.now() - pod.as_of < STATE_AGE_MS;
}

/** Asks RunPod. When it does not answer, the stored address is used only where a pinned host key can prove it. */
async function readRunning(deps: FileDeps, org: Org, found: LivePod): Promise<LivePod> {
  const { why } = await deps.reader.read(org, found, RUNPOD_MS);
  if (why?.code === "pod_not_running") throw why;
  const pod = podById(deps.db, found.id) as LivePod | undefined;
  if (pod === undefined || pod.state !== "live") throw new AppError("pod_not_found", "Pod not found");
  if (pod.status !== "RUNNING") throw why ?? new AppError("pod_not_running", "Pod is not running");
  if (pod.host === null || pod.port === null) throw why ?? addressPending();
  if (why !== null && !deps.reach.isPinned(pod)) throw why;
  return pod;
}
