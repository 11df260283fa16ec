/** The container behind a pod: what it gets to see, and the order in which the pod host works on it. */
import { describeError } from "../../log.ts";
import type { PodAddress } from "../pods/host.ts";
import { meterEnd } from "./meter.ts";
import { accountOf, type FakePod, newId, type World } from "./state.ts";

/** True when stop keeps `/workspace`: a volume disk or a network volume is mounted. */
export function keepsVolume(pod: FakePod): boolean {
  return pod.mounts.persistent !== undefined || (pod.mounts.network ?? []).length > 0;
}

/** The environment of process 1: the pod's own, and what RunPod adds. Names of RunPod win. */
export function containerEnv(world: World, pod: FakePod): Record<string, string> {
  const keys = accountOf(world, pod.account).sshKeys;
  const podKey = `rpa_${`${newId()}${newId()}${newId()}`.toUpperCase()}`;
  world.podKeys.add(podKey);
  return {
    ...(pod.startSsh && keys.length > 0 ? { PUBLIC_KEY: keys.join("\n") } : {}),
    ...pod.env,
    RUNPOD_POD_ID: pod.id,
    RUNPOD_DC_ID: pod.dataCenterId,
    RUNPOD_API_KEY: podKey,
    ...(pod.gpu ? { RUNPOD_GPU_COUNT: String(pod.gpusOnHost ?? 0) } : {}),
    ...(pod.cpu ? { RUNPOD_CPU_COUNT: String(pod.cpu.vcpuCount) } : {}),
    ...(pod.mounts.network?.[0] ? { RUNPOD_VOLUME_ID: pod.mounts.network[0].volumeId } : {}),
  };
}

/** Runs the container of the current boot after all earlier work; a failure puts the pod into ERROR with the reason. */
export function startContainer(world: World, pod: FakePod): void {
  const { podHost } = world;
  if (!podHost || !pod.ours) return;
  const { generation } = pod;
  enqueue(pod, async () => {
    if (pod.generation !== generation) return;
    try {
      const address = await podHost.start({ id: pod.id, image: pod.image, env: containerEnv(world, pod) });
      if (pod.generation === generation) becomeReady(world, pod, address);
    } catch (error) {
      if (pod.generation !== generation) return;
      pod.failure = reasonOf(error);
      pod.phase = "error";
      meterEnd(pod, world.clock.now());
    }
  });
}

export function stopContainer(world: World, pod: FakePod): void {
  const { podHost } = world;
  if (podHost && pod.ours) enqueue(pod, () => podHost.stop(pod.id, { keepVolume: keepsVolume(pod) }));
}

export function removeContainer(world: World, pod: FakePod): void {
  const { podHost } = world;
  if (podHost && pod.ours) enqueue(pod, () => podHost.remove(pod.id));
}

function becomeReady(world: World, pod: FakePod, address: PodAddress): void {
  pod.address = address;
  pod.readyAt = world.clock.now();
}

function enqueue(pod: FakePod, work: () => Promise<void>): void {
  pod.work = pod.work.then(work).catch((error) => {
    pod.failure = reasonOf(error);
  });
}

function reasonOf(error: unknown): string {
  return String(describeError(error)["message"]);
}
