import type { Org } from "../../db/stores/organizations.ts";
import { hostKeyPin } from "../../db/stores/host_key_pins.ts";
import {
  type LivePod,
  podById,
  storeForwarding,
  storeReachable,
  storeUnreachable,
  unsettledPods,
} from "../../db/stores/pods.ts";
import { SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { describeError } from "../log.ts";
import type { PodTarget } from "../ssh/dial.ts";
import { checkForwarding } from "../ssh/forwarding_check.ts";
import { addressPending } from "./address_pending.ts";
import type { PodDeps } from "./deps.ts";

/** A handshake that proved a stored address is trusted this long (decision 25). */
const PROOF_MS = 30 * SECOND;
const LOOK_MS = 15 * SECOND;
const UNKNOWN_MS = 60 * SECOND;

/** Whether a pod's SSH answers, and whether members may forward ports on it; both belong to one start. */
export interface Reach {
  /**
   * Logs in to the pod at its stored address by a new handshake, unless that was done within the last 30 s. The pinned
   * host key must answer. Throws `ssh_address_pending`, `pod_unreachable`, `host_key_changed`.
   */
  prove(pod: LivePod, deadlineMs: number): Promise<void>;
  /** True when that was done within the last 30 s, at this address. */
  isProved(pod: LivePod): boolean;
  /** True when the start that is stored has a pinned host key, so that a stored address can be proved at all. */
  isPinned(pod: LivePod): boolean;
  /** Whether the pod refuses Unix-socket forwarding; asked at most once per start. Null: not known in time. */
  forwarding(pod: LivePod, deadlineMs: number): Promise<"refused" | "allowed" | null>;
  /** In the background: looks at each running pod of the org whose present start was not looked at yet. */
  lookAt(org: Org): void;
  close(): Promise<void>;
}

export function targetOf(deps: PodDeps, pod: LivePod): PodTarget {
  if (pod.status !== "RUNNING" || pod.host === null || pod.port === null || pod.start_key === null) {
    throw addressPending();
  }
  const { first, other } = deps.keys.backendKeysFor(pod);
  return {
    podKey: pod.id,
    startKey: pod.start_key,
    host: pod.host,
    port: pod.port,
    privateKey: first,
    ...(other === null ? {} : { otherKey: other }),
  };
}

export function createReach(deps: PodDeps): Reach {
  const { db, clock, log } = deps;
  const looking = new Map<string, Promise<void>>();
  const proving = new Map<string, Promise<void>>();
  const asking = new Map<string, Promise<"refused" | "allowed" | null>>();
  /** Pods whose answer told nothing: a hostile one must not be asked at every turn. */
  const postponed = new Map<string, number>();
  let closed = false;

  const isProved = (pod: LivePod): boolean => {
    const current = podById(db, pod.id);
    return current !== undefined && current.start_key !== null && current.reachable_start === current.start_key &&
      current.unreachable_reason === null && current.host === pod.host && current.port === pod.port &&
      clock.now() - (current.reachable_at ?? 0) < PROOF_MS;
  };

  const shakeHands = async (pod: LivePod, deadlineMs: number): Promise<void> => {
    const target = targetOf(deps, pod);
    try {
      await deps.ssh.handshake(target, { deadlineMs });
      storeReachable(db, pod.id, target.startKey, clock.now());
    } catch (error) {
      if (error instanceof AppError) storeUnreachable(db, pod.id, error.details.hint ?? error.message);
      throw error;
    }
  };

  const prove = (pod: LivePod, deadlineMs: number): Promise<void> => {
    if (isProved(pod)) return Promise.resolve();
    const key = `${pod.id}/${pod.start_key}/${pod.host}:${pod.port}`;
    const running = proving.get(key);
    if (running !== undefined) return running;
    const work = shakeHands(pod, deadlineMs).finally(() => proving.delete(key));
    proving.set(key, work);
    return work;
  };

  const ask = async (pod: LivePod, deadlineMs: number): Promise<"refused" | "allowed" | null> => {
    const target = targetOf(deps, pod);
    const result = await checkForwarding(deps.ssh, target, { deadlineMs });
    if (result.verdict === "unknown") {
      log.info("Whether a pod allows Unix-socket forwarding is not known", { pod: pod.id, reason: result.reason });
      postponed.set(pod.id, clock.now() + UNKNOWN_MS);
      return null;
    }
    storeForwarding(db, pod.id, target.startKey, result.verdict);
    return result.verdict;
  };

  const forwarding = (pod: LivePod, deadlineMs: number): Promise<"refused" | "allowed" | null> => {
    if (pod.forwarding !== null && pod.forwarding_start === pod.start_key) return Promise.resolve(pod.forwarding);
    if (clock.now() < (postponed.get(pod.id) ?? 0)) return Promise.resolve(null);
    const key = `${pod.id}/${pod.start_key}`;
    const running = asking.get(key);
    if (running !== undefined) return running;
    const work = ask(pod, deadlineMs).catch((error) => {
      if (!(error instanceof AppError)) throw error;
      return null;
    }).finally(() => asking.delete(key));
    asking.set(key, work);
    return work;
  };

  const look = async (pod: LivePod): Promise<void> => {
    try {
      await prove(pod, LOOK_MS);
      const proved = podById(db, pod.id) as LivePod | undefined;
      if (proved !== undefined) await forwarding(proved, LOOK_MS);
    } catch (error) {
      if (!(error instanceof AppError)) {
        log.error("A pod could not be looked at", { pod: pod.id, error: describeError(error) });
      }
    }
  };

  const isSettled = (pod: LivePod): boolean =>
    pod.reachable_start === pod.start_key && pod.unreachable_reason === null &&
    (pod.forwarding_start === pod.start_key || clock.now() < (postponed.get(pod.id) ?? 0));

  return {
    prove,
    isProved,
    forwarding,
    isPinned: (pod) => pod.start_key !== null && hostKeyPin(db, pod.id, pod.start_key) !== undefined,
    lookAt(org) {
      if (closed) return;
      for (const pod of unsettledPods(db, org.id)) {
        if (pod.status !== "RUNNING" || pod.host === null || pod.start_key === null || isSettled(pod)) continue;
        const key = `${pod.id}/${pod.start_key}/${pod.host}:${pod.port}`;
        if (looking.has(key)) continue;
        looking.set(key, look(pod).finally(() => looking.delete(key)));
      }
    },
    async close() {
      closed = true;
      await Promise.allSettled([...looking.values(), ...proving.values(), ...asking.values()]);
    },
  };
}
