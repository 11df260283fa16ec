/** Hardware, data centers, templates and volumes of the made-up RunPod, with the traps real catalogs have. */

export type Stock = "NONE" | "LOW" | "MEDIUM" | "HIGH";

export interface GpuType {
  readonly id: string;
  readonly name: string;
  readonly pool: string | null;
  readonly manufacturer: "NVIDIA" | "AMD" | "UNKNOWN";
  /** VRAM in GB. */
  readonly memory: number;
  readonly secure: boolean;
  readonly community: boolean;
  /** USD per hour for one GPU. */
  readonly price: { readonly secure: number; readonly community: number };
  readonly maxCount: { readonly secure: number; readonly community: number };
  stock: Stock;
  readonly dataCenters: readonly string[];
  /** Absent where the type has no CUDA. */
  readonly cudaVersions?: readonly string[];
}

export interface CpuType {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly vcpu: { readonly min: number; readonly max: number };
  readonly ramGbPerVcpu: number;
  /** USD per hour for one vCPU. */
  readonly price: { readonly securePerVcpu: number; readonly serverlessPerVcpu: number };
  stock: Stock;
  readonly dataCenters: readonly string[];
}

export interface DataCenter {
  readonly id: string;
  readonly name: string;
  readonly location: string;
  readonly region: string;
  readonly globalNetwork: boolean;
  readonly networkVolumeTypes: readonly string[];
  readonly compliance: readonly string[];
}

export interface NetworkVolume {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly dataCenter: string;
  readonly type: "STANDARD" | "HIGH_PERFORMANCE";
}

export interface Template {
  readonly id: string;
  readonly serverless: boolean;
  readonly image: string;
  readonly disk: number;
  readonly ports: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The catalog of one stand-in; `stock` may be changed by tests. */
export interface Catalog {
  readonly gpus: readonly GpuType[];
  readonly cpus: readonly CpuType[];
  readonly dataCenters: readonly DataCenter[];
  readonly networkVolumes: readonly NetworkVolume[];
  readonly templates: readonly Template[];
  readonly registries: readonly string[];
}

const EVERYWHERE = ["EU-RO-1", "EUR-IS-1", "US-TX-3", "US-KS-2"];
const CUDA = ["12.4", "12.6", "12.8"];

const GPUS: readonly GpuType[] = [
  gpu("NVIDIA RTX A4000", "RTX A4000", 16, 0.25, 0.17, { stock: "HIGH" }),
  gpu("NVIDIA GeForce RTX 4090", "RTX 4090", 24, 0.69, 0.34, { stock: "MEDIUM" }),
  gpu("NVIDIA L40S", "L40S", 48, 0.86, 0.79, { stock: "LOW", cudaVersions: ["12.8", "13.0"] }),
  gpu("NVIDIA H200", "H200 SXM", 141, 3.59, 3.29, { community: false, stock: "MEDIUM" }),
  gpu("NVIDIA GeForce RTX 3090", "RTX 3090", 24, 0.46, 0.22, { secure: false, stock: "MEDIUM" }),
  gpu("NVIDIA B200", "B200", 180, 5.98, 5.19, { stock: "NONE", dataCenters: [] }),
  gpu("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000", 96, 1.69, 1.49, { stock: "LOW" }),
  gpu("NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb", "RTX PRO 6000 MIG 1g.24gb", 24, 0.45, 0.4, {
    stock: "LOW",
    maxCount: { secure: 1, community: 1 },
  }),
  {
    id: "AMD Instinct MI300X OAM",
    name: "MI300X",
    pool: null,
    manufacturer: "AMD",
    memory: 192,
    secure: true,
    community: false,
    price: { secure: 2.69, community: 0 },
    maxCount: { secure: 8, community: 0 },
    stock: "LOW",
    dataCenters: ["EU-RO-1"],
  },
  {
    id: "unknown",
    name: "unknown",
    pool: null,
    manufacturer: "UNKNOWN",
    memory: 0,
    secure: false,
    community: false,
    price: { secure: 0, community: 0 },
    maxCount: { secure: 0, community: 0 },
    stock: "NONE",
    dataCenters: [],
  },
];

const CPUS: readonly CpuType[] = [
  cpu("cpu3c", "Compute-Optimized", 32, 2, 0.03),
  cpu("cpu3g", "General Purpose", 32, 4, 0.04),
  cpu("cpu3m", "Memory-Optimized", 32, 8, 0.055),
  cpu("cpu5c", "Compute-Optimized", 32, 1.9375, 0.035),
  cpu("cpu5g", "General Purpose", 16, 3.875, 0.045),
  cpu("cpu5m", "Memory-Optimized", 16, 7.75, 0.065),
];

const DATA_CENTERS: readonly DataCenter[] = [
  center("EU-RO-1", "Romania", "EUROPE"),
  center("EUR-IS-1", "Iceland", "EUROPE"),
  center("US-TX-3", "Texas", "NORTH_AMERICA"),
  center("US-KS-2", "Kansas", "NORTH_AMERICA"),
];

/** A fresh catalog, so that a change of stock in one test is not seen in another. */
export function newCatalog(): Catalog {
  return structuredClone({
    gpus: GPUS,
    cpus: CPUS,
    dataCenters: DATA_CENTERS,
    networkVolumes: [
      { id: "vol1shared0000", name: "shared-data", size: 100, dataCenter: "EU-RO-1", type: "STANDARD" as const },
    ],
    templates: [
      {
        id: "tplpod00000001",
        serverless: false,
        image: "runpod/base:1.0.2-ubuntu2204",
        disk: 20,
        ports: ["22/tcp"],
        env: { FROM_TEMPLATE: "yes" },
      },
      { id: "tplserverless1", serverless: true, image: "runpod/worker:1", disk: 10, ports: [], env: {} },
    ],
    registries: ["regcred0000001"],
  });
}

function gpu(
  id: string,
  name: string,
  memory: number,
  secure: number,
  community: number,
  rest: Partial<GpuType>,
): GpuType {
  return {
    id,
    name,
    pool: null,
    manufacturer: "NVIDIA",
    memory,
    secure: true,
    community: true,
    price: { secure, community },
    maxCount: { secure: 8, community: 4 },
    stock: "HIGH",
    dataCenters: EVERYWHERE,
    cudaVersions: CUDA,
    ...rest,
  };
}

function cpu(id: string, group: string, max: number, ramGbPerVcpu: number, securePerVcpu: number): CpuType {
  return {
    id,
    name: `${group} ${id.slice(3)}`,
    group,
    vcpu: { min: 2, max },
    ramGbPerVcpu,
    price: { securePerVcpu, serverlessPerVcpu: securePerVcpu * 2 },
    stock: "HIGH",
    dataCenters: EVERYWHERE,
  };
}

function center(id: string, location: string, region: string): DataCenter {
  return { id, name: id, location, region, globalNetwork: true, networkVolumeTypes: ["STANDARD"], compliance: [] };
}
