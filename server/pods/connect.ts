import type { SharedCommits } from "../../db/shared_commits.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { forgetRefusedHostKey } from "../../db/stores/host_key_pins.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import { SECOND } from "../clock.ts";
import { AppError, asClause } from "../errors.ts";
import type { Asker, PersonCaller } from "../identity/callers.ts";
import type { PodSetup } from "../setup/setup.ts";
import type { SubjectKey } from "../ssh/public_key.ts";
import { within } from "../within.ts";
import { checkAccess } from "./access_check.ts";
import { addressPending } from "./address_pending.ts";
import type { PodDeps } from "./deps.ts";
import { findPod } from "./list.ts";
import { type PodReader, RUNPOD_MS } from "./pod_reader.ts";
import type { Reach } from "./reach.ts";
import { readyForLogin } from "./readiness.ts";
import { type ConnectAnswer, sign } from "./sign.ts";

/** The whole answer, from the first byte of the request: the client gives up after 15 s. */
export const CONNECT_MS = 12 * SECOND;
const FORWARDING_MS = 3 * SECOND;
const HOST_KEY_MS = 2 * SECOND;
/** Kept back for signing and storing. */
const RESERVE_MS = 500;

const NO_FORWARDING =
  "Port forwarding is off for you on this pod: its SSH server is not known to refuse Unix-socket forwarding, which would " +
  "act as root.";

/**
 * Gives the caller a certificate for their own key on one pod, for 12 hours. `startedAt` is when the request came in, by
 * `performance.now()`: everything fits under one 12-second deadline. Order of refusals: contract section 6.2.
 */
export async function connect(
  deps: PodDeps & {
    readonly reach: Reach;
    readonly reader: PodReader;
    readonly setup: PodSetup;
    readonly commits: SharedCommits;
  },
  org: Org,
  asker: Asker & { readonly caller: PersonCaller },
  runpodId: string,
  key: SubjectKey,
  startedAt: number,
): Promise<ConnectAnswer> {
  const left = () => CONNECT_MS - RESERVE_MS - (performance.now() - startedAt);
  const me = asker.caller;
  const found = findPod(deps, org, runpodId);
  checkAccess(deps, found, me);
  if (!deps.runpod.hasKey(org)) deps.runpod.clientOf(org);

  const { why } = await deps.reader.read(org, found, Math.max(1, Math.min(RUNPOD_MS, left())));
  if (why?.code === "pod_not_running") throw why;
  let pod = podById(deps.db, found.id) as LivePod;
  if (pod.status !== "RUNNING") throw why ?? new AppError("pod_not_running", "Pod is not running");
  if (pod.host === null || pod.port === null) throw why ?? addressPending();
  const warnings: string[] = [];
  if (why !== null) {
    warnings.push(`${asClause(why.message)}. The address is the last known one; the pod answered there.`);
    await proveStored(deps, pod, why, left());
    pod = podById(deps.db, pod.id) as LivePod;
  } else {
    await lookAtHostKey(deps, pod, left());
  }
  warnings.push(...await readyForLogin(deps, pod, left()));
  const ca = await deps.keys.caSigner(org.id, pod.id);
  const forwards = me.isOfficer || await mayForward(deps, pod, left());
  if (!forwards) warnings.push(NO_FORWARDING);
  // A class connects at the same time: the certificates of one moment share a commit.
  return await deps.commits.run(() => {
    refuseChangedHostKey(deps, pod);
    return sign(deps, org, asker, pod, key, { ca, forwards, stale: why !== null, warnings });
  });
}

/** A stored address may belong to somebody else by now: only the pinned host key proves it (decision 25). */
async function proveStored(
  deps: PodDeps & { readonly reach: Reach },
  pod: LivePod,
  why: AppError,
  leftMs: number,
): Promise<void> {
  if (!deps.reach.isPinned(pod) || leftMs <= 0) throw why;
  refuseChangedHostKey(deps, pod);
  try {
    await deps.reach.prove(pod, Math.min(5 * SECOND, leftMs));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code !== "pod_unreachable" && error.code !== "host_key_changed") throw error;
    // Another host at an old address is no changed key: it says nothing about the pod.
    forgetRefusedHostKey(deps.db, pod.id, pod.start_key!);
    throw addressPending(error);
  }
}

/**
 * Logs in to the pod unless that was done a moment ago, so that a host key changed within this start is noticed. That the
 * pod cannot be reached from here refuses nothing: RunPod says that it runs, and the member may reach it.
 */
async function lookAtHostKey(deps: PodDeps & { readonly reach: Reach }, pod: LivePod, leftMs: number): Promise<void> {
  if (leftMs <= 0 || deps.reach.isProved(pod)) return;
  const late = Math.min(HOST_KEY_MS, leftMs);
  const looked = deps.reach.prove(pod, late).catch((error) => {
    if (!(error instanceof AppError)) throw error;
  });
  await within(looked, late, () => {});
}

/** Only a pod whose own image refuses Unix-socket forwarding gives members port forwarding (decision 11). */
async function mayForward(deps: PodDeps & { readonly reach: Reach }, pod: LivePod, leftMs: number): Promise<boolean> {
  if (pod.forwarding_start === pod.start_key) return pod.forwarding === "refused";
  if (leftMs <= 0) return false;
  const late = Math.min(FORWARDING_MS, leftMs);
  return await within(deps.reach.forwarding(pod, late), late, () => null) === "refused";
}

function refuseChangedHostKey(deps: PodDeps, pod: LivePod): void {
  const refused = deps.db.get(
    "select 1 from host_key_pins where pod_id = ? and start_key = ? and refused_at is not null",
    pod.id,
    pod.start_key,
  );
  if (refused === undefined) return;
  throw new AppError(
    "host_key_changed",
    "The pod's SSH host key changed while the pod was running, so no certificate is given. Ask an officer",
  );
}
