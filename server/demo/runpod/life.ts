/** The life of a pod: boot, stop, restart, end, and the status that follows from them by the clock. */
import type { PodAddress } from "../pods/host.ts";
import { keepsVolume, removeContainer, startContainer, stopContainer } from "./containers.ts";
import { balanceOf, meterEnd, meterRunning, meterStopped } from "./meter.ts";
import { type FakePod, newId, type PodStatus, type World } from "./state.ts";

/** The true status; tests may force another word to be shown. */
export function statusOf(world: World, pod: FakePod): PodStatus {
  if (pod.phase === "exited") return "EXITED";
  if (pod.phase === "error") return "ERROR";
  if (pod.phase === "terminated") return "TERMINATED";
  const age = world.clock.now() - pod.bootAt;
  if (age < pod.provisioningMs) return "PROVISIONING";
  return runningSince(pod) <= world.clock.now() ? "RUNNING" : "STARTING";
}

/** When the pod is RUNNING (ms); Infinity while the pod host has not answered. */
export function runningSince(pod: FakePod): number {
  if (pod.readyAt === null) return Infinity;
  return Math.max(pod.bootAt + pod.provisioningMs + pod.startingMs, pod.readyAt);
}

/** The address as of now, `late` ms later than usual; null while there is none yet. */
export function addressOf(world: World, pod: FakePod, late = 0): PodAddress | null {
  const running = statusOf(world, pod) === "RUNNING";
  return running && world.clock.now() >= runningSince(pod) + world.timings.addressMs + late ? pod.address : null;
}

export interface BootOptions {
  readonly kind: "create" | "start" | "restart";
  /** A made-up address also gets another IP (F26). */
  readonly newIp?: boolean;
}

/** Boots a pod: a fresh container disk, a new port unless it is a restart in place. */
export function boot(world: World, pod: FakePod, { kind, newIp = false }: BootOptions): void {
  const now = world.clock.now();
  const hosted = world.podHost !== null && pod.ours;
  if (kind === "restart") stopContainer(world, pod);
  pod.generation++;
  pod.phase = "up";
  pod.bootAt = now;
  pod.provisioningMs = kind === "create" ? world.timings.provisioningMs : 0;
  pod.startingMs = world.timings.startingMs;
  pod.containerStarts++;
  pod.containerMark = newId();
  pod.failure = null;
  pod.previousAddress = pod.address;
  pod.readyAt = hosted ? null : now;
  if (!hosted && (kind !== "restart" || !pod.address)) pod.address = madeUpAddress(world, pod.address, newIp);
  meterRunning(world, pod, now + pod.provisioningMs);
  startContainer(world, pod);
}

/** Stops a pod: the container disk is lost, the volume is kept if there is one. */
export function halt(world: World, pod: FakePod): void {
  const since = runningSince(pod);
  if (pod.phase === "up" && since <= world.clock.now()) pod.lastStartedAt = since;
  pod.generation++;
  pod.phase = "exited";
  pod.containerMark = newId();
  if (!keepsVolume(pod)) pod.volumeMark = null;
  meterStopped(pod, world.clock.now());
  stopContainer(world, pod);
}

/** Ends a pod for good: its volume disk is destroyed, a network volume only detached. */
export function terminate(world: World, pod: FakePod): void {
  pod.generation++;
  pod.phase = "terminated";
  pod.later = null;
  meterEnd(pod, world.clock.now());
  world.pods.delete(pod.id);
  world.terminated.push(pod);
  removeContainer(world, pod);
}

/** Applies what is due by the clock: delayed changes, and an empty balance. Called before every request. */
export function settle(world: World): void {
  const now = world.clock.now();
  for (const pod of [...world.pods.values()]) {
    if (pod.later && pod.later.at <= now) {
      const { apply } = pod.later;
      pod.later = null;
      apply();
    }
  }
  for (const { name } of world.accounts.values()) {
    if (balanceOf(world, name) <= 0) emptyBalance(world, name);
  }
}

/** At balance 0 pods stop, and those without a network volume are terminated (RunPod's billing page). */
function emptyBalance(world: World, account: string): void {
  for (const pod of [...world.pods.values()].filter((one) => one.account === account)) {
    if ((pod.mounts.network ?? []).length === 0) terminate(world, pod);
    else if (pod.phase === "up") halt(world, pod);
  }
}

/** Loopback addresses above the range from which Linux hands out ports, so that they rarely meet a real listener. */
export function madeUpAddress(world: World, before: PodAddress | null, newIp: boolean): PodAddress {
  const port = 61_000 + world.addressesMade++ % 4_500;
  const last = Number(before?.host.split(".")[3] ?? 1);
  return { host: `127.0.0.${newIp ? last % 250 + 1 : last}`, port };
}
