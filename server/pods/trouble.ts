import { type Org, orgById } from "../../db/stores/organizations.ts";
import { type LivePod, storeTrouble, unsettledPods } from "../../db/stores/pods.ts";
import { MINUTE } from "../clock.ts";
import { raise } from "../events/raise.ts";
import type { PodDeps } from "./deps.ts";
import { wantedGpus } from "./gpu_count.ts";

/** What can be wrong with a pod that RunPod shows, or no longer shows. */
export type Trouble = keyof typeof TROUBLES;

/** What each means and what to do, for officers. */
export const TROUBLES = {
  gone: {
    what: "RunPod no longer has this pod: it was deleted or moved outside orgpods.",
    todo: "Terminate it here to take it off the list. If it was moved, adopt the new pod.",
  },
  error: {
    what: "The container is in an error state that it does not leave by itself.",
    todo: "Look at the pod's logs in RunPod's console. Start it again, or terminate it and create another one.",
  },
  stuck_provisioning: {
    what: "RunPod has been looking for a machine for more than 15 minutes.",
    todo: "Terminate the pod and create one with other hardware or in the other cloud.",
  },
  stuck_starting: {
    what: "The container has been starting for more than 30 minutes.",
    todo: "A large image can take that long. Look at the pod's logs in RunPod's console; stop it if nothing moves.",
  },
  no_address: {
    what:
      "The pod has been running for more than 15 minutes without an SSH address, so nobody can log in to it. It costs " +
      "money.",
    todo: "A community machine may have no public address. Stop it, and create it on the SECURE cloud.",
  },
  unreachable: {
    what:
      "The pod has been running for more than 15 minutes and its SSH does not answer with the pinned host key. It " +
      "costs money.",
    todo: "See why below the pod's name. Restart it; an image without an SSH server never answers.",
  },
  no_gpu: {
    what: "The pod runs without the GPU it was made with, because its host has no free one. It costs money.",
    todo: "Stop it and try again later, or terminate it and create another one.",
  },
} as const;

/** A pod may take this long to get to the next state; milliseconds. A 20 GB image takes 10 to 15 minutes. */
const DEADLINES = { provisioning: 15 * MINUTE, starting: 30 * MINUTE, address: 15 * MINUTE, ssh: 15 * MINUTE } as const;
/** An answer can lack the GPU for a moment. */
const NO_GPU_AFTER = 10 * MINUTE;

/** What is wrong with a pod now, by what RunPod said of it last; null: nothing, or not yet. */
export function troubleOf(now: number, pod: LivePod): Trouble | null {
  const upFor = pod.up_since === null ? 0 : now - pod.up_since;
  switch (pod.status) {
    case "GONE":
      return "gone";
    case "ERROR":
      return "error";
    case "PROVISIONING":
      return upFor > DEADLINES.provisioning ? "stuck_provisioning" : null;
    case "STARTING":
      return upFor > DEADLINES.starting ? "stuck_starting" : null;
    case "RUNNING":
      break;
    default:
      return null;
  }
  const lacksGpu = (pod.gpu_count ?? 0) < wantedGpus(pod);
  if (lacksGpu && (pod.gpu_count !== null || upFor > NO_GPU_AFTER)) return "no_gpu";
  const runsFor = now - Math.max(pod.started_at ?? 0, pod.up_since ?? now);
  if (pod.host === null) return runsFor > DEADLINES.address ? "no_address" : null;
  const isReached = pod.reachable_start === pod.start_key && pod.unreachable_reason === null;
  return !isReached && runsFor > DEADLINES.ssh ? "unreachable" : null;
}

/** Looks at every pod of an org and stores, audits and tells what became wrong or right. */
export function watchTroubles(deps: Pick<PodDeps, "db" | "clock" | "audit">, org: Org): void {
  const now = deps.clock.now();
  const changed = unsettledPods(deps.db, org.id).filter((pod) => troubleOf(now, pod) !== pod.trouble);
  if (changed.length === 0) return;
  deps.db.tx(() => {
    for (const pod of changed) note(deps, pod, troubleOf(now, pod), now);
  });
}

function note(
  deps: Pick<PodDeps, "db" | "audit">,
  pod: LivePod,
  trouble: Trouble | null,
  now: number,
): void {
  storeTrouble(deps.db, pod.id, trouble, trouble === null ? null : now);
  if (trouble === null) return;
  const isNews = raise(deps.db, {
    orgId: pod.org_id,
    kind: "pod.failed",
    podId: pod.id,
    runpodId: pod.runpod_id,
    subject: pod.name,
    details: { trouble, error: TROUBLES[trouble].what, todo: TROUBLES[trouble].todo },
    onceKey: `trouble:${pod.runpod_id}:${trouble}:${pod.up_since ?? pod.missing_since ?? pod.started_at}`,
  }, now);
  // That it is gone is in the audit as what somebody outside did.
  if (!isNews || trouble === "gone") return;
  deps.audit.write({
    actorKind: "server",
    actorId: "reconcile",
    source: "job",
    action: "RECONCILE",
    orgPrefix: orgById(deps.db, pod.org_id)?.prefix ?? null,
    podId: pod.runpod_id,
    status: 424,
    outcome: trouble,
    details: { name: pod.name, error: TROUBLES[trouble].what },
  });
}
