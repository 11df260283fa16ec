import type { Database } from "../../db/database.ts";
import type { Audit } from "../audit/write.ts";
import type { Clock } from "../clock.ts";
import type { Directory } from "../discord/directory.ts";
import type { Log } from "../log.ts";
import type { RunpodAccounts } from "../runpod/accounts.ts";
import type { OrgKeys } from "../ssh/org_keys.ts";
import type { SshPool } from "../ssh/pool.ts";

/** How long things may take and how fresh they must be; milliseconds. Tests set shorter ones. */
export interface PodTimings {
  /** One create call at RunPod. */
  readonly createCallMs: number;
  /** How long a request waits for a lost answer to be settled (decision 18). */
  readonly settleWaitMs: number;
  /** Between two looks for a lost create. */
  readonly settleEveryMs: number;
  /** How long the list is searched before a lost create is brought to the officers (RunPod: at least 60 s). */
  readonly settleWindowMs: number;
  /** A fresh pod can be missing from RunPod's answers this long. */
  readonly freshPodMs: number;
  /** A stop or terminate cut off by a crash is finished by itself only this long after it was asked for. */
  readonly finishWithinMs: number;
}

export const POD_TIMINGS: PodTimings = {
  createCallMs: 20_000,
  settleWaitMs: 20_000,
  settleEveryMs: 2_000,
  settleWindowMs: 60_000,
  freshPodMs: 120_000,
  finishWithinMs: 15 * 60_000,
};

/** What the operations of this folder need. */
export interface PodDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly runpod: RunpodAccounts;
  readonly keys: OrgKeys;
  readonly ssh: SshPool;
  readonly directory: Directory;
  readonly timings: PodTimings;
  readonly deploymentImage: string;
  /** How many certificates that work one person has for one pod; 50 where it is left out, Infinity for no end. */
  readonly mostCertificates?: number;
  /** Ids of intents that a request is handling at this moment. */
  readonly inFlight: Set<string>;
  /** Hears of each pod that moved although nobody asked for it here. */
  readonly moved?: (podName: string, what: string) => void;
}
