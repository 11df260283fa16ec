/**
 * Waiting after a refused login or handshake. OpenSSH from 9.8 on shuts an address out after a few of them
 * (PerSourcePenalties), the right key too, so a pod that refused us is left alone for a while.
 */
import { type Clock, MINUTE, SECOND } from "../clock.ts";
import type { DialFailure } from "./dial_failure.ts";

const FIRST_WAIT = 20 * SECOND;
const LONGEST_WAIT = 300 * SECOND;
/** sshd's longest penalty by default: so long a reset may still be the echo of a refused login. */
const PENALTY = 10 * MINUTE;

/** One start of a pod's container; another start begins without a history. */
export interface PodStart {
  readonly podKey: string;
  readonly startKey: string;
}

export interface Backoff {
  /** The refusal that still holds and the whole seconds it holds for, or undefined when an attempt may be made. */
  held(pod: PodStart): { readonly failure: DialFailure; readonly retryAfter: number } | undefined;
  /** Notes a refusal and returns the whole seconds to wait: 20 s, doubled each time, at most 300 s. */
  refused(pod: PodStart, failure: DialFailure): number;
  /** True when this start refused us within sshd's longest penalty. */
  refusedLately(pod: PodStart): boolean;
  succeeded(pod: PodStart): void;
  forget(podKey: string): void;
  /** Pods that are left alone right now. */
  count(): number;
}

interface Refusals {
  readonly startKey: string;
  readonly times: number;
  readonly at: number;
  readonly until: number;
  readonly failure: DialFailure;
}

export function createBackoff(clock: Clock): Backoff {
  const pods = new Map<string, Refusals>();
  const of = (pod: PodStart) => {
    const entry = pods.get(pod.podKey);
    return entry?.startKey === pod.startKey ? entry : undefined;
  };
  const seconds = (entry: Refusals) => Math.max(1, Math.ceil((entry.until - clock.now()) / SECOND));
  return {
    held(pod) {
      const entry = of(pod);
      if (!entry || entry.until <= clock.now()) return undefined;
      return { failure: entry.failure, retryAfter: seconds(entry) };
    },
    refused(pod, failure) {
      const times = (of(pod)?.times ?? 0) + 1;
      const at = clock.now();
      const wait = Math.min(FIRST_WAIT * 2 ** (times - 1), LONGEST_WAIT);
      const entry = { startKey: pod.startKey, times, at, until: at + wait, failure };
      pods.set(pod.podKey, entry);
      return seconds(entry);
    },
    refusedLately(pod) {
      const entry = of(pod);
      return entry !== undefined && clock.now() - entry.at < PENALTY;
    },
    succeeded(pod) {
      if (of(pod)) pods.delete(pod.podKey);
    },
    forget: (podKey) => void pods.delete(podKey),
    count: () => [...pods.values()].filter((entry) => entry.until > clock.now()).length,
  };
}
