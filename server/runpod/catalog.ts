import { z } from "zod";

export interface DataCenterStock {
  readonly id: string;
  readonly name: string | null;
  readonly availability: string | null;
}

/** A GPU type on offer. Prices are USD per hour for one GPU; null where that cloud does not sell it. */
export interface GpuType {
  /** The value for `gpu.id`; holds spaces. */
  readonly id: string;
  readonly name: string;
  readonly manufacturer: string | null;
  readonly memoryGb: number | null;
  readonly secure: boolean;
  readonly community: boolean;
  readonly price: { readonly secure: number | null; readonly community: number | null };
  /** The most GPUs of one host: a ceiling, not stock. */
  readonly maxCount: { readonly secure: number | null; readonly community: number | null };
  /** NONE, LOW, MEDIUM or HIGH: a hint, not a reservation. */
  readonly availability: string | null;
  readonly dataCenters: readonly DataCenterStock[];
  readonly cudaVersions: readonly { readonly version: string; readonly available: boolean }[];
}

/** A CPU flavor on offer. The price is USD per hour for one vCPU. */
export interface CpuType {
  readonly id: string;
  readonly name: string;
  readonly group: string | null;
  readonly vcpu: { readonly min: number | null; readonly max: number | null };
  /** May be fractional. */
  readonly ramGbPerVcpu: number | null;
  readonly pricePerVcpu: number | null;
  readonly availability: string | null;
  readonly dataCenters: readonly DataCenterStock[];
}

const text = z.string().nullish().catch(null);
const number = z.number().nonnegative().nullish().catch(null);
const perCloud = z.object({ secure: number, community: number }).nullish().catch(null);
const dataCenters = z.array(z.unknown()).nullish().catch(null).transform((list) =>
  each(list, z.object({ id: z.string(), name: text, availability: text })).map((center) => ({
    id: center.id,
    name: center.name ?? null,
    availability: center.availability ?? null,
  }))
);

const gpuShape = z.object({
  id: z.string().min(1),
  name: text,
  manufacturer: text,
  memory: number,
  secure: z.boolean().nullish().catch(null),
  community: z.boolean().nullish().catch(null),
  price: perCloud,
  maxCount: perCloud,
  availability: text,
  dataCenters,
  cudaVersions: z.array(z.unknown()).nullish().catch(null),
});

const cpuShape = z.object({
  id: z.string().min(1),
  name: text,
  group: text,
  vcpu: z.object({ min: number, max: number }).nullish().catch(null),
  ramGbPerVcpu: number,
  price: z.object({ securePerVcpu: number }).nullish().catch(null),
  availability: text,
  dataCenters,
});

/** The query that asks the catalog for stock as well; neither parameter may come without the other. */
export const STOCK_QUERY = { include: "AVAILABILITY", product: "POD" } as const;

/** Reads `{gpus: […]}`; null when it is no catalog. Entries without an id and RunPod's "unknown" placeholder are left out. */
export function parseGpus(json: unknown): GpuType[] | null {
  const list = z.object({ gpus: z.array(z.unknown()) }).safeParse(json).data?.gpus;
  if (list === undefined) return null;
  return each(list, gpuShape).filter((gpu) => gpu.id.toLowerCase() !== "unknown").map((gpu) => ({
    id: gpu.id,
    name: gpu.name ?? gpu.id,
    manufacturer: gpu.manufacturer ?? null,
    memoryGb: gpu.memory ?? null,
    secure: gpu.secure ?? false,
    community: gpu.community ?? false,
    // A price can be set for a cloud that does not sell the type; the flags decide.
    price: {
      secure: gpu.secure ? gpu.price?.secure ?? null : null,
      community: gpu.community ? gpu.price?.community ?? null : null,
    },
    maxCount: { secure: gpu.maxCount?.secure ?? null, community: gpu.maxCount?.community ?? null },
    availability: gpu.availability ?? null,
    dataCenters: gpu.dataCenters,
    cudaVersions: each(gpu.cudaVersions, z.object({ version: z.string(), available: z.boolean() })),
  }));
}

/** Reads `{cpus: […]}`; null when it is no catalog. */
export function parseCpus(json: unknown): CpuType[] | null {
  const list = z.object({ cpus: z.array(z.unknown()) }).safeParse(json).data?.cpus;
  if (list === undefined) return null;
  return each(list, cpuShape).map((cpu) => ({
    id: cpu.id,
    name: cpu.name ?? cpu.id,
    group: cpu.group ?? null,
    vcpu: { min: cpu.vcpu?.min ?? null, max: cpu.vcpu?.max ?? null },
    ramGbPerVcpu: cpu.ramGbPerVcpu ?? null,
    pricePerVcpu: cpu.price?.securePerVcpu ?? null,
    availability: cpu.availability ?? null,
    dataCenters: cpu.dataCenters,
  }));
}

/** The entries of a list that fit a shape. */
function each<T>(list: readonly unknown[] | null | undefined, shape: z.ZodType<T>): T[] {
  return (list ?? []).flatMap((entry) => {
    const read = shape.safeParse(entry);
    return read.success ? [read.data] : [];
  });
}
