/** Makes the record of a pod, by a create call or put into the account from outside. */
import type { Placed } from "./placement.ts";
import type { CreateBody } from "./schemas.ts";
import { type FakePod, newId, type World } from "./state.ts";

/** A pod that has not booted yet and is not in the list yet. */
export function newPod(
  world: World,
  account: string,
  body: CreateBody & { readonly disk: number },
  placed: Placed,
  outside: { readonly ours: boolean; readonly cluster: boolean } = { ours: true, cluster: false },
): FakePod {
  const now = world.clock.now();
  const gpu = body.gpu ? { id: body.gpu.id, count: body.gpu.count ?? 1 } : null;
  const hasVolume = body.mounts?.persistent !== undefined || (body.mounts?.network ?? []).length > 0;
  return {
    id: newId(),
    account,
    ours: outside.ours,
    name: body.name,
    image: body.image ?? "",
    args: body.args ?? "",
    entrypoint: body.entrypoint ?? [],
    cmd: body.cmd ?? [],
    disk: body.disk,
    ports: body.ports ?? [],
    env: { ...(body.startJupyter ? { JUPYTER_PASSWORD: newId() } : {}), ...body.env },
    registry: body.registry ?? null,
    mounts: body.mounts ?? {},
    globalNetworking: body.globalNetworking ?? false,
    locked: false,
    cloud: body.cloud ?? "SECURE",
    gpu,
    cpu: body.cpu ? { id: body.cpu.id, vcpuCount: body.cpu.vcpuCount } : null,
    ...placed,
    startSsh: body.startSsh ?? false,
    cluster: outside.cluster ? { id: newId(), rank: 0 } : null,
    createdAt: now,
    gpusOnHost: gpu?.count ?? null,
    phase: "up",
    generation: 0,
    bootAt: now,
    provisioningMs: 0,
    startingMs: 0,
    readyAt: null,
    containerStarts: 0,
    lastStartedAt: null,
    address: null,
    previousAddress: null,
    containerMark: newId(),
    volumeMark: hasVolume ? newId() : null,
    failure: null,
    forcedStatus: null,
    gpuUtil: 3,
    cpuUtil: 2,
    invisibleUntil: 0,
    unlistedUntil: 0,
    later: null,
    segments: [],
    work: Promise.resolve(),
  };
}
