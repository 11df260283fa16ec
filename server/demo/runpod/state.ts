/** What the stand-in knows: accounts, pods, catalog, faults, requests. Plain data; the rules are in the other files. */
import type { Clock } from "../../clock.ts";
import type { PodAddress, PodHost } from "../pods/host.ts";
import type { Catalog } from "./catalog_data.ts";
import type { Faults } from "./faults.ts";
import type { RecordedRequest } from "./requests.ts";
import type { Cloud, Mounts } from "./schemas.ts";

/** Milliseconds by the clock. */
export interface Timings {
  /** PROVISIONING after a create. */
  readonly provisioningMs: number;
  /** STARTING after that; also after a start or restart. A pod host may take longer. */
  readonly startingMs: number;
  /** RUNNING without an address. */
  readonly addressMs: number;
  /** How long a new pod is missing from the list. */
  readonly listDelayMs: number;
  /** How long a pod stays invisible whose create answer was lost (F13). */
  readonly lostDelayMs: number;
}

export const DEFAULT_TIMINGS: Timings = {
  provisioningMs: 100,
  startingMs: 200,
  addressMs: 100,
  listDelayMs: 0,
  lostDelayMs: 500,
};

/** Requests allowed in each window, for each account. */
export interface Quotas {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
}

export type Rights = "full" | "read" | "none";

/** Rights of a key, and whose account it opens ("main" unless said). */
export type KeyGrant = Rights | { readonly rights: Rights; readonly account: string };

export type PodStatus = "PROVISIONING" | "STARTING" | "RUNNING" | "EXITED" | "ERROR" | "TERMINATED";

/** A stretch of time at one price. Rates are USD per hour. */
export interface Segment {
  readonly from: number;
  to: number | null;
  readonly gpu: number;
  readonly cpu: number;
  readonly disk: number;
}

export interface FakePod {
  readonly id: string;
  readonly account: string;
  /** False for pods that tests put into the account beside ours; they have no container. */
  readonly ours: boolean;
  name: string;
  image: string;
  args: string;
  entrypoint: readonly string[];
  cmd: readonly string[];
  disk: number;
  ports: readonly string[];
  env: Readonly<Record<string, string>>;
  registry: string | null;
  mounts: Mounts;
  globalNetworking: boolean;
  locked: boolean;
  readonly cloud: Cloud;
  readonly gpu: { readonly id: string; readonly count: number } | null;
  readonly cpu: { readonly id: string; readonly vcpuCount: number } | null;
  readonly dataCenterId: string;
  readonly cudaVersion: string | null;
  readonly startSsh: boolean;
  readonly cluster: { readonly id: string; readonly rank: number } | null;
  readonly createdAt: number;
  /** GPUs the host gave at the last start; null shows no `gpu` at all (F28). */
  gpusOnHost: number | null;
  phase: "up" | "exited" | "error" | "terminated";
  /** Counts every boot, stop and removal, so that late news of an earlier container is dropped. */
  generation: number;
  /** When the current boot began, and how long it stays PROVISIONING and STARTING. */
  bootAt: number;
  provisioningMs: number;
  startingMs: number;
  /** When the container answered; null while the pod host works on it. */
  readyAt: number | null;
  containerStarts: number;
  lastStartedAt: number | null;
  /** The newest address there was; shown only while the pod is RUNNING. */
  address: PodAddress | null;
  /** The address before the last start (F26). */
  previousAddress: PodAddress | null;
  /** Marks of what is on the container disk and on the volume; a lost disk gets a new mark. */
  containerMark: string;
  volumeMark: string | null;
  /** Why the container could not be run or removed. */
  failure: string | null;
  forcedStatus: string | null;
  /** Use in per cent as `runtime` shows it; null leaves the figure out. */
  gpuUtil: number | null;
  cpuUtil: number | null;
  invisibleUntil: number;
  unlistedUntil: number;
  /** A change that takes hold later by the clock (F29). */
  later: { readonly at: number; readonly apply: () => void } | null;
  readonly segments: Segment[];
  /** The pod host's work on this pod, one piece after the other. */
  work: Promise<void>;
}

export interface Account {
  readonly name: string;
  sshKeys: readonly string[];
  /** USD at the moment it was set, and what had been billed by then. */
  balance: { readonly amount: number; readonly billedBefore: number };
  /** Start and count of the current rate limit windows. */
  readonly windows: Map<keyof Quotas, { readonly start: number; used: number }>;
}

export interface World {
  readonly clock: Clock;
  readonly timings: Timings;
  readonly quotas: Quotas;
  readonly podHost: PodHost | null;
  readonly apiKeys: Readonly<Record<string, KeyGrant>>;
  readonly demoSecret: string;
  readonly catalog: Catalog;
  readonly faults: Faults;
  readonly requests: RecordedRequest[];
  /** Live pods by id, oldest first. */
  readonly pods: Map<string, FakePod>;
  /** Terminated pods, kept for billing. */
  readonly terminated: FakePod[];
  readonly accounts: Map<string, Account>;
  readonly startingBalance: number;
  readonly podKeys: Set<string>;
  /** Ports of the sockets it listens on. */
  readonly portsListening: Set<number>;
  addressesMade: number;
}

export function accountOf(world: World, name: string): Account {
  const known = world.accounts.get(name);
  if (known) return known;
  const account: Account = {
    name,
    sshKeys: [],
    balance: { amount: world.startingBalance, billedBefore: 0 },
    windows: new Map(),
  };
  world.accounts.set(name, account);
  return account;
}

/** An id in RunPod's form: 14 lowercase letters and digits. */
export function newId(): string {
  const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
  return Array.from(crypto.getRandomValues(new Uint8Array(14)), (byte) => alphabet[byte % 36]).join("");
}
