/** What pods cost: each pod keeps stretches of time at one price, so that any span can be summed later. */
import { HOUR } from "../../clock.ts";
import { accountOf, type FakePod, type Segment, type World } from "./state.ts";

/** RunPod's storage prices are for a GB and month; a month counts as 730 hours. */
const GB_HOUR = { container: 0.10 / 730, volume: 0.10 / 730, stoppedVolume: 0.20 / 730 };

/** USD. */
export interface Amounts {
  readonly total: number;
  readonly gpu: number;
  readonly cpu: number;
  readonly disk: number;
}

/** USD per hour of the hardware while the pod runs, for the GPUs its host really gave. */
export function hardwareRate(world: World, pod: FakePod): { gpu: number; cpu: number } {
  const type = world.catalog.gpus.find((one) => one.id === pod.gpu?.id);
  const flavor = world.catalog.cpus.find((one) => one.id === pod.cpu?.id);
  const price = pod.cloud === "SECURE" ? type?.price.secure : type?.price.community;
  return {
    gpu: (price ?? 0) * (pod.gpusOnHost ?? 0),
    cpu: (flavor?.price.securePerVcpu ?? 0) * (pod.cpu?.vcpuCount ?? 0),
  };
}

/** Ends the running stretch at `at` and begins one at the running price. */
export function meterRunning(world: World, pod: FakePod, at: number): void {
  meterEnd(pod, at);
  const volume = pod.mounts.persistent?.size ?? 0;
  const disk = pod.disk * GB_HOUR.container + volume * GB_HOUR.volume;
  pod.segments.push({ from: at, to: null, ...hardwareRate(world, pod), disk });
}

/** Ends the running stretch; a volume disk goes on at the stopped price, which is twice the running one. */
export function meterStopped(pod: FakePod, at: number): void {
  meterEnd(pod, at);
  const size = pod.mounts.persistent?.size ?? 0;
  if (size > 0) pod.segments.push({ from: at, to: null, gpu: 0, cpu: 0, disk: size * GB_HOUR.stoppedVolume });
}

/** Ends whatever is billed. */
export function meterEnd(pod: FakePod, at: number): void {
  const last = pod.segments.at(-1);
  // A pod that is stopped before its container started has a stretch that begins in the future.
  if (last && last.to === null) last.to = Math.max(last.from, at);
}

/** What a pod cost between two times; `now` ends the open stretch. */
export function amountsBetween(pod: FakePod, from: number, to: number, now: number): Amounts {
  let [gpu, cpu, disk] = [0, 0, 0];
  for (const segment of pod.segments) {
    const hours = overlap(segment, from, to, now) / HOUR;
    gpu += hours * segment.gpu;
    cpu += hours * segment.cpu;
    disk += hours * segment.disk;
  }
  return { total: gpu + cpu + disk, gpu, cpu, disk };
}

/** All pods of an account, terminated ones too. */
export function podsOfAccount(world: World, account: string): FakePod[] {
  return [...world.terminated, ...world.pods.values()].filter((pod) => pod.account === account);
}

/** USD billed to an account since the beginning. */
export function billed(world: World, account: string): number {
  const now = world.clock.now();
  return podsOfAccount(world, account).reduce((sum, pod) => sum + amountsBetween(pod, 0, now, now).total, 0);
}

/** USD left: what was set, less what was billed since. */
export function balanceOf(world: World, account: string): number {
  const { amount, billedBefore } = accountOf(world, account).balance;
  return amount - (billed(world, account) - billedBefore);
}

export function setBalance(world: World, account: string, amount: number): void {
  accountOf(world, account).balance = { amount, billedBefore: billed(world, account) };
}

/** USD per hour that the account spends now, storage included. */
export function spendRate(world: World, account: string): number {
  const now = world.clock.now();
  return podsOfAccount(world, account).reduce((sum, pod) => {
    const last = pod.segments.at(-1);
    return last && last.to === null && last.from <= now ? sum + last.gpu + last.cpu + last.disk : sum;
  }, 0);
}

/** Seconds a pod has been billed as running. */
export function runningSeconds(pod: FakePod, now: number): number {
  const running = pod.segments.filter((one) => one.gpu + one.cpu > 0);
  return running.reduce((sum, one) => sum + overlap(one, 0, now, now), 0) / 1000;
}

function overlap(segment: Segment, from: number, to: number, now: number): number {
  const end = Math.min(segment.to ?? now, to, now);
  return Math.max(0, end - Math.max(segment.from, from));
}
