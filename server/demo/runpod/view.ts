/** A pod as the API shows it, and the ways in which real answers differ from the specification. */
import type { PodAddress } from "../pods/host.ts";
import type { Context } from "./context.ts";
import { addressOf, runningSince, statusOf } from "./life.ts";
import { hardwareRate } from "./meter.ts";
import type { ActionWord } from "./schemas.ts";
import type { FakePod, World } from "./state.ts";

/** RunPod's inner proxy: the address of http ports, never the pod's own. */
const PROXY_IP = "100.65.0.101";

export const LEGAL: Readonly<Record<string, readonly ActionWord[]>> = {
  PROVISIONING: ["stop", "terminate"],
  STARTING: ["stop", "terminate"],
  RUNNING: ["stop", "restart", "terminate"],
  EXITED: ["start", "terminate"],
  ERROR: ["start", "terminate"],
  TERMINATED: [],
};

/** The Pod object of the specification, shaped by the read faults that are on (F9, F16 to F19, F26). */
export function podView(context: Context, pod: FakePod): Record<string, unknown> {
  const { world } = context;
  const status = statusOf(world, pod);
  const shownStatus = pod.forcedStatus ?? status;
  const address = shownAddress(context, pod);
  const sshPort = pod.ports.includes("22/tcp");
  const runtimeOnly = address !== null && context.fault("F16", "runtime-only") !== null;
  const view: Record<string, unknown> = {
    id: pod.id,
    name: pod.name,
    status: shownStatus,
    actions: pod.cluster ? [] : Object.hasOwn(LEGAL, shownStatus) ? LEGAL[shownStatus] : ["terminate"],
    image: pod.image,
    args: pod.args,
    entrypoint: pod.entrypoint,
    cmd: pod.cmd,
    disk: pod.disk,
    mounts: pod.mounts,
    ports: pod.ports,
    env: pod.env,
    registry: pod.registry,
    ...hardware(world, pod),
    cloud: pod.cloud,
    dataCenterId: pod.dataCenterId,
    cudaVersion: pod.cudaVersion,
    ssh: {
      proxy: status === "PROVISIONING" ? null : proxyEndpoint(pod),
      direct: address && sshPort && !runtimeOnly ? endpoint(address.host, address.port, "root") : null,
    },
    ...(pod.cluster ? { cluster: pod.cluster } : {}),
    template: null,
    cost: costNow(world, pod),
    locked: pod.locked,
    runtime: runtime(context, pod, address),
    createdAt: new Date(pod.createdAt).toISOString(),
    startedAt: startedAt(world, pod),
    globalNetworking: pod.globalNetworking
      ? { enabled: true, ip: "10.1.0.2", internalDns: `${pod.id}.runpod.internal` }
      : { enabled: false },
  };
  return withOddities(context, view);
}

/** USD per hour of the hardware; 0 unless the pod is up. */
export function costNow(world: World, pod: FakePod): number {
  const rate = hardwareRate(world, pod);
  return pod.phase === "up" ? rate.gpu + rate.cpu : 0;
}

/** The address that reads show, with F16, F18 and F26. */
function shownAddress(context: Context, pod: FakePod): PodAddress | null {
  const { world } = context;
  const status = statusOf(world, pod);
  if (status === "EXITED") return pod.address && context.fault("F18") ? pod.address : null;
  if (status !== "RUNNING") return null;
  const moved = pod.previousAddress && pod.address &&
    (pod.previousAddress.port !== pod.address.port || pod.previousAddress.host !== pod.address.host);
  if (moved && context.fault("F26", "stale-reads")) return pod.previousAddress;
  if (context.fault("F16", "never-address")) return null;
  const late = context.fault("F16", "late-address");
  return addressOf(world, pod, late ? late.ms ?? 60_000 : 0);
}

function runtime(context: Context, pod: FakePod, address: PodAddress | null): unknown {
  const { world } = context;
  const status = statusOf(world, pod);
  const noPublicIp = status === "RUNNING" && context.fault("F16", "never-address") !== null;
  if (!address && !noPublicIp) return status !== "RUNNING" && context.fault("F9") ? {} : null;
  const usage = { ...(pod.gpuUtil === null ? {} : { util: pod.gpuUtil }), memoryUtil: 1 };
  return {
    uptime: status === "RUNNING" ? Math.floor((world.clock.now() - runningSince(pod)) / 1000) : 4711,
    gpus: Array.from({ length: pod.gpusOnHost ?? 0 }, () => usage),
    cpu: pod.cpuUtil === null ? {} : { util: pod.cpuUtil },
    memory: { util: 5 },
    ports: runtimePorts(context, pod, address),
  };
}

function runtimePorts(context: Context, pod: FakePod, address: PodAddress | null): unknown[] {
  const entries: unknown[] = [];
  if (context.fault("F17", "null-entries")) {
    entries.push({ private: 22, public: null, type: "tcp", ip: null });
    entries.push({ private: 22, public: 40_022, type: "tcp", ip: null });
    entries.push({ private: 22, public: null, type: "tcp", ip: "127.0.0.1" });
  }
  if (context.fault("F17", "http-entry")) {
    entries.push({ private: 22, public: 60_022, type: "http", ip: PROXY_IP });
    entries.push({ private: 8888, public: 60_888, type: "http", ip: PROXY_IP });
  }
  for (const [index, port] of pod.ports.entries()) {
    const [number, type] = port.split("/");
    const inner = Number(number);
    if (type === "http") entries.push({ private: inner, public: 60_000 + index, type, ip: PROXY_IP });
    // 70000 and above ask for the same number inside and outside.
    else if (inner >= 70_000) entries.push({ private: inner, public: inner, type, ip: address?.host ?? null });
    else {
      const outer = inner === 22 ? address?.port : address && address.port - 1_000 - index;
      entries.push({ private: inner, public: outer ?? null, type, ip: address?.host ?? null });
    }
  }
  return entries;
}

function startedAt(world: World, pod: FakePod): string | null {
  if (pod.phase === "exited") return pod.lastStartedAt === null ? null : new Date(pod.lastStartedAt).toISOString();
  return statusOf(world, pod) === "RUNNING" ? new Date(runningSince(pod)).toISOString() : null;
}

function hardware(world: World, pod: FakePod): Record<string, unknown> {
  if (pod.cpu) {
    const flavor = world.catalog.cpus.find((one) => one.id === pod.cpu?.id);
    return { cpu: { ...pod.cpu, memory: Math.floor(pod.cpu.vcpuCount * (flavor?.ramGbPerVcpu ?? 0)) } };
  }
  if (!pod.gpu || pod.gpusOnHost === null) return {};
  const count = pod.gpusOnHost;
  return { gpu: { id: pod.gpu.id, count, vcpuCount: Math.max(2, 8 * count), memory: Math.max(8, 32 * count) } };
}

function proxyEndpoint(pod: FakePod): unknown {
  return endpoint("ssh.runpod.io", 22, `${pod.id}-64411a3c`);
}

function endpoint(host: string, port: number, username: string): unknown {
  return { host, port, username, command: `ssh ${username}@${host} -p ${port} -i ~/.ssh/id_ed25519` };
}

function withOddities(context: Context, view: Record<string, unknown>): Record<string, unknown> {
  if (context.fault("F19", "cost-zero")) view = { ...view, cost: 0 };
  if (context.fault("F19", "unknown-status")) view = { ...view, status: "REBALANCING" };
  if (context.fault("F19", "null-parts")) {
    view = { ...view, mounts: null, ssh: null, runtime: null, actions: null, ports: null, env: null, image: null };
    if ("gpu" in view) view = { ...view, gpu: null };
  }
  if (context.fault("F19", "missing-parts")) {
    const { mounts: _mounts, template: _template, globalNetworking: _network, actions: _actions, ...rest } = view;
    const gpu = view["gpu"] as Record<string, unknown> | undefined;
    view = { ...rest, runtime: {}, ...(gpu ? { gpu: { id: gpu["id"], count: gpu["count"] } } : {}) };
  }
  if (context.fault("F19", "extra-fields")) {
    view = { ...view, savingsPlan: { id: "sp-1", until: null }, zone: ["a", 1, null] };
    if (view["ssh"]) view["ssh"] = { ...view["ssh"] as object, mesh: { host: "10.0.0.1" } };
  }
  return view;
}
