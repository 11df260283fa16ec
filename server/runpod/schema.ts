import { z } from "zod";
import { type SshAddress, sshAddress } from "./address.ts";

/** A pod as RunPod reports it, read defensively: whatever RunPod leaves out or spells oddly is null. */
export interface RunpodPod {
  readonly id: string;
  readonly name: string;
  /** RunPod's word, passed on even when it is new to us; `UNKNOWN` when there is none. */
  readonly status: string;
  /** What RunPod says is legal now; a hint, the call itself decides. */
  readonly actions: readonly string[];
  readonly image: string | null;
  /** Clear text: never log it. Null when RunPod did not send it whole. */
  readonly env: Readonly<Record<string, string>> | null;
  /** USD per hour now; 0 for a stopped pod, whose volume is billed all the same. */
  readonly cost: number | null;
  /** Null for a pod without a GPU; a `count` of 0 is a start that got none. */
  readonly gpu: { readonly id: string | null; readonly count: number | null } | null;
  readonly cpu: { readonly id: string | null; readonly vcpuCount: number | null } | null;
  readonly cloud: string | null;
  readonly dataCenterId: string | null;
  /** Container disk in GB. */
  readonly disk: number | null;
  /** Persistent volume disk in GB. */
  readonly volumeGb: number | null;
  readonly networkVolume: boolean;
  /** Which network volume, and where it is mounted; null when there is none or RunPod did not tell. */
  readonly networkMount: { readonly volumeId: string; readonly path: string } | null;
  /** RunPod's `machine`, else what is known of GPU or CPU type and data center (contract section 4). */
  readonly machine: Readonly<Record<string, unknown>> | null;
  readonly address: SshAddress | null;
  /** Milliseconds UTC, as `startedAt`. */
  readonly createdAt: number | null;
  readonly startedAt: number | null;
  /** Since the container started; null unless RUNNING. */
  readonly uptimeSeconds: number | null;
  /** Use in per cent from 0 to 100: of the busiest GPU, and of the CPUs. Null when RunPod does not say, or says nonsense. */
  readonly gpuPercent: number | null;
  readonly cpuPercent: number | null;
  readonly locked: boolean;
  readonly args: string | null;
}

/** A pod, and the names (never the values) of the fields that had a form nobody expects. */
export interface ParsedPod {
  readonly pod: RunpodPod;
  readonly odd: readonly string[];
}

const text = z.string().nullish();
const count = z.number().int().nonnegative().nullish();
const amount = z.union([
  z.number().nonnegative(),
  z.string().regex(/^\d{1,9}(?:\.\d{1,12})?$/).transform(Number),
]).nullish();
const stamp = z.string().regex(/^\d{4}-\d\d-\d\d[T ]/).transform((value) => Date.parse(value)).pipe(z.number())
  .nullish();

/** v2 names first, then those of v1 that old answers may carry. */
const podShape = z.object({
  name: text,
  status: text,
  desiredStatus: text,
  actions: z.array(z.string()).nullish(),
  image: text,
  imageName: text,
  args: text,
  env: z.record(z.string(), z.string()).nullish(),
  cost: amount,
  costPerHr: amount,
  gpu: z.object({ id: text.catch(null), count: count.catch(null) }).nullish(),
  gpuCount: count,
  cpu: z.object({ id: text.catch(null), vcpuCount: count.catch(null) }).nullish(),
  cpuFlavorId: text,
  vcpuCount: amount,
  cloud: text,
  dataCenterId: text,
  disk: count,
  containerDiskInGb: count,
  volumeInGb: count,
  mounts: z.object({
    persistent: z.object({ size: count }).nullish(),
    network: z.array(z.unknown()).nullish(),
  }).nullish(),
  networkVolume: z.looseObject({}).nullish(),
  networkVolumeId: text,
  machine: z.looseObject({ gpuTypeId: z.unknown(), dataCenterId: z.unknown() }).partial().nullish(),
  createdAt: stamp,
  startedAt: stamp,
  lastStartedAt: stamp,
  locked: z.boolean().nullish(),
}).partial();

const networkMount = z.object({ volumeId: z.string().min(1), path: z.string().min(1) });

type PodFields = z.infer<typeof podShape>;

const uptimeShape = z.object({
  runtime: z.object({ uptime: z.number().nonnegative(), uptimeInSeconds: z.number().nonnegative() }).partial(),
});

const percent = z.number().min(0).max(100);
const gpuUseShape = z.object({ runtime: z.object({ gpus: z.array(z.object({ util: percent })).min(1) }) });
const cpuUseShape = z.object({ runtime: z.object({ cpu: z.object({ util: percent }) }) });

const idShape = z.object({ id: z.string().min(1).max(100) });

/** Reads a pod. Null when it has no id; any other oddity costs only the field that has it. */
export function parsePod(raw: unknown): ParsedPod | null {
  const id = idShape.safeParse(raw).data?.id;
  if (id === undefined) return null;
  const { fields, odd } = readFields(raw as Record<string, unknown>);
  const status = fields.status || fields.desiredStatus || "UNKNOWN";
  const gpu = gpuOf(fields);
  const cpu = cpuOf(fields);
  const dataCenterId = fields.dataCenterId ?? asText(fields.machine?.dataCenterId);
  const uptime = uptimeShape.safeParse(raw).data?.runtime;
  const pod: RunpodPod = {
    id,
    name: fields.name ?? "",
    status,
    actions: fields.actions ?? [],
    image: fields.image ?? fields.imageName ?? null,
    env: fields.env ?? null,
    cost: fields.cost ?? fields.costPerHr ?? null,
    gpu,
    cpu,
    cloud: fields.cloud ?? null,
    dataCenterId,
    disk: fields.disk ?? fields.containerDiskInGb ?? null,
    volumeGb: fields.mounts?.persistent?.size ?? fields.volumeInGb ?? null,
    networkVolume: (fields.mounts?.network ?? []).length > 0 || Boolean(fields.networkVolume ?? fields.networkVolumeId),
    networkMount: networkMount.safeParse(fields.mounts?.network?.[0]).data ?? null,
    machine: machineOf(fields, gpu?.id ?? null, cpu?.id ?? null, dataCenterId),
    address: sshAddress(raw, status),
    createdAt: fields.createdAt ?? null,
    startedAt: fields.startedAt ?? fields.lastStartedAt ?? null,
    uptimeSeconds: status === "RUNNING" ? uptime?.uptime ?? uptime?.uptimeInSeconds ?? null : null,
    ...useOf(raw, status),
    locked: fields.locked ?? false,
    args: fields.args ?? null,
  };
  return { pod, odd };
}

/** Parses the fields, leaving out those that do not fit, so that one odd field never hides a pod that costs money. */
function readFields(raw: Record<string, unknown>): { fields: PodFields; odd: string[] } {
  const first = podShape.safeParse(raw);
  if (first.success) return { fields: first.data, odd: [] };
  const odd = [...new Set(first.error.issues.map((issue) => String(issue.path[0])))];
  const rest = Object.fromEntries(Object.entries(raw).filter(([key]) => !odd.includes(key)));
  return { fields: podShape.parse(rest), odd };
}

/** One GPU without a figure could be the busy one, so then nothing is known of them. */
function useOf(raw: unknown, status: string): Pick<RunpodPod, "gpuPercent" | "cpuPercent"> {
  if (status !== "RUNNING") return { gpuPercent: null, cpuPercent: null };
  const gpus = gpuUseShape.safeParse(raw).data?.runtime.gpus.map((gpu) => gpu.util);
  return {
    gpuPercent: gpus === undefined ? null : Math.max(...gpus),
    cpuPercent: cpuUseShape.safeParse(raw).data?.runtime.cpu.util ?? null,
  };
}

function gpuOf(fields: PodFields): RunpodPod["gpu"] {
  const id = fields.gpu?.id ?? asText(fields.machine?.gpuTypeId);
  const gpuCount = fields.gpu?.count ?? fields.gpuCount ?? null;
  return fields.gpu || id !== null || gpuCount !== null ? { id, count: gpuCount } : null;
}

function cpuOf(fields: PodFields): RunpodPod["cpu"] {
  if (fields.cpu) return { id: fields.cpu.id ?? null, vcpuCount: fields.cpu.vcpuCount ?? null };
  // In v1 a GPU pod has a vCPU count too; only the flavor makes a CPU pod.
  return fields.cpuFlavorId ? { id: fields.cpuFlavorId, vcpuCount: fields.vcpuCount ?? null } : null;
}

function machineOf(
  fields: PodFields,
  gpuTypeId: string | null,
  cpuTypeId: string | null,
  dataCenterId: string | null,
): RunpodPod["machine"] {
  if (fields.machine && Object.keys(fields.machine).length > 0) return fields.machine;
  const known = Object.entries({ gpuTypeId, cpuTypeId, dataCenterId }).filter(([, value]) => value !== null);
  return known.length === 0 ? null : Object.fromEntries(known);
}

function asText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
