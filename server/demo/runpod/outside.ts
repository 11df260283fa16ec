/** What happens to pods outside the API: in RunPod's console, on its hosts, by other people of the account. */
import { AppError, shown } from "../../errors.ts";
import { startAgain } from "./actions.ts";
import { addressOf, boot, halt, madeUpAddress, settle, statusOf, terminate } from "./life.ts";
import { meterStopped } from "./meter.ts";
import { newPod } from "./new_pod.ts";
import type { FakePod, World } from "./state.ts";
import { costNow, LEGAL } from "./view.ts";

/** A pod beside ours. Without `cpu` it has one RTX A4000. */
export interface ForeignPod {
  readonly name?: string | undefined;
  readonly account?: string | undefined;
  readonly cpu?: boolean | undefined;
  readonly cluster?: boolean | undefined;
  readonly stopped?: boolean | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Every function that takes an id throws `pod_not_found` for an unknown one. */
export interface Outside {
  /** All live pods as they are inside, oldest first. */
  list(): FakePod[];
  get(id: string): FakePod;
  deleteOutside(id: string): void;
  /** The old id is gone; a pod with the same settings and a new id and address appears. */
  migrate(id: string): FakePod;
  stop(id: string): void;
  start(id: string): void;
  restart(id: string): void;
  /** A new made-up port without a restart. Throws `invalid_request` where a pod host gives the ports. */
  movePort(id: string): void;
  addForeign(pod?: ForeignPod): FakePod;
  /** Shows another status word; null shows the true one again. */
  setStatus(id: string, status: string | null): void;
  lock(id: string, locked: boolean): void;
  /** Sets what `runtime` reports of the pod's use; null leaves a figure out, undefined leaves it as it is. */
  setUse(id: string, use: PodUse): void;
}

/** Per cent; any number is shown as it is, so that a client can be tried with nonsense. */
export interface PodUse {
  readonly gpu_util?: number | null | undefined;
  readonly cpu_util?: number | null | undefined;
}

export function createOutside(world: World): Outside {
  const find = (id: string): FakePod => {
    settle(world);
    const pod = world.pods.get(id);
    if (!pod) throw new AppError("pod_not_found", `No pod has the id ${shown(id)}`);
    return pod;
  };
  const legal = (id: string, action: "start" | "stop" | "restart"): FakePod => {
    const pod = find(id);
    const status = statusOf(world, pod);
    if (LEGAL[status]!.includes(action)) return pod;
    throw new AppError("pod_refused", `A pod that is ${status} cannot ${action}: ${shown(id)}`);
  };
  return {
    list() {
      settle(world);
      return [...world.pods.values()];
    },
    get: find,
    deleteOutside: (id) => terminate(world, find(id)),
    migrate: (id) => migrate(world, find(id)),
    stop: (id) => halt(world, legal(id, "stop")),
    start: (id) => startAgain(world, legal(id, "start"), { lostGpu: null, newIp: false }),
    restart: (id) => boot(world, legal(id, "restart"), { kind: "restart" }),
    movePort(id) {
      const pod = find(id);
      if (world.podHost && pod.ours) {
        throw new AppError("invalid_request", "Action move_port needs made-up addresses; use restart_outside here");
      }
      pod.previousAddress = pod.address;
      pod.address = madeUpAddress(world, pod.address, false);
    },
    addForeign: (pod = {}) => addForeign(world, pod),
    setStatus(id, status) {
      find(id).forcedStatus = status;
    },
    lock(id, locked) {
      find(id).locked = locked;
    },
    setUse(id, { gpu_util, cpu_util }) {
      const pod = find(id);
      if (gpu_util !== undefined) pod.gpuUtil = gpu_util;
      if (cpu_util !== undefined) pod.cpuUtil = cpu_util;
    },
  };
}

/** A pod as `_demo/pods` shows it: the inner state, no env values. */
export function insideView(world: World, pod: FakePod): Record<string, unknown> {
  return {
    id: pod.id,
    account: pod.account,
    ours: pod.ours,
    name: pod.name,
    status: statusOf(world, pod),
    forced_status: pod.forcedStatus,
    gpu_util: pod.gpuUtil,
    cpu_util: pod.cpuUtil,
    locked: pod.locked,
    cluster: pod.cluster !== null,
    gpu: pod.gpu,
    gpus_on_host: pod.gpusOnHost,
    cpu: pod.cpu,
    cost: costNow(world, pod),
    address: pod.address,
    address_shown: addressOf(world, pod) !== null,
    previous_address: pod.previousAddress,
    container_starts: pod.containerStarts,
    container_mark: pod.containerMark,
    volume_mark: pod.volumeMark,
    failure: pod.failure,
    env_names: Object.keys(pod.env),
    created_at: new Date(pod.createdAt).toISOString(),
    visible: Math.max(pod.invisibleUntil, pod.unlistedUntil) <= world.clock.now(),
  };
}

function migrate(world: World, old: FakePod): FakePod {
  const { image, args, mounts } = old;
  const up = old.phase === "up";
  terminate(world, old);
  const body = {
    name: old.name,
    image,
    args,
    entrypoint: old.entrypoint,
    cmd: old.cmd,
    disk: old.disk,
    ports: old.ports,
    env: old.env,
    registry: old.registry,
    mounts,
    globalNetworking: old.globalNetworking,
    cloud: old.cloud,
    startSsh: old.startSsh,
    ...(old.gpu ? { gpu: old.gpu } : {}),
    ...(old.cpu ? { cpu: old.cpu } : {}),
  };
  const placed = { dataCenterId: old.dataCenterId, cudaVersion: old.cudaVersion };
  const pod = newPod(world, old.account, body, placed, { ours: old.ours, cluster: old.cluster !== null });
  world.pods.set(pod.id, pod);
  if (up) boot(world, pod, { kind: "create" });
  else {
    pod.phase = "exited";
    meterStopped(pod, world.clock.now());
  }
  return pod;
}

function addForeign(world: World, foreign: ForeignPod): FakePod {
  const hardware = foreign.cpu ? { cpu: { id: "cpu3c", vcpuCount: 2 } } : { gpu: { id: "NVIDIA RTX A4000", count: 1 } };
  const pod = newPod(
    world,
    foreign.account ?? "main",
    {
      name: foreign.name ?? "somebody-elses-pod",
      image: "runpod/pytorch:2.8.0",
      disk: 20,
      ports: ["22/tcp", "8888/http"],
      env: foreign.env ?? {},
      ...hardware,
    },
    { dataCenterId: "EU-RO-1", cudaVersion: foreign.cpu ? null : "12.8" },
    { ours: false, cluster: foreign.cluster ?? false },
  );
  world.pods.set(pod.id, pod);
  boot(world, pod, { kind: "create" });
  if (foreign.stopped) halt(world, pod);
  return pod;
}
