/** The body of `POST /pods`, in RunPod's own names. RunPod refuses any other field with 422. */
export interface CreateBody {
  readonly name: string;
  readonly image: string;
  readonly cloud: "SECURE" | "COMMUNITY";
  readonly disk: number;
  readonly ports: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly gpu?: { readonly id: string; readonly count: number; readonly minCudaVersion?: string };
  readonly cpu?: { readonly id: string; readonly vcpuCount: number };
  readonly mounts?:
    | { readonly persistent: { readonly size: number; readonly path: string } }
    | { readonly network: readonly { readonly volumeId: string; readonly path: string }[] };
}

export interface CreateInput {
  /** With its unique suffix: a lost answer is found again by this name. */
  readonly name: string;
  readonly image: string;
  readonly cloud: "SECURE" | "COMMUNITY";
  /** Container disk, GB. */
  readonly diskGb: number;
  /** The officer's variables and the reserved ones. */
  readonly env: Readonly<Record<string, string>>;
  readonly hardware:
    | { readonly kind: "gpu"; readonly gpuTypeId: string; readonly minCudaVersion?: string | null }
    | { readonly kind: "cpu"; readonly flavor: string; readonly vcpuCount: number };
  /** GB and mount path; a size of 0 is no volume. CPU pods have none, whatever stands here. */
  readonly volume?: { readonly sizeGb: number; readonly path: string } | null;
}

/**
 * The body for a new pod (contract section 11.2). `disk` and `gpu.count` are always sent: without them RunPod answers
 * with misleading refusals. `startSsh` would put all keys of the account into the pod, and `args` would replace the
 * image's own start command, so neither is sent.
 */
export function createBody(input: CreateInput): CreateBody {
  const { hardware, volume } = input;
  const common = {
    name: input.name,
    image: input.image,
    cloud: input.cloud,
    disk: input.diskGb,
    ports: ["22/tcp"],
    env: { ...input.env },
  };
  if (hardware.kind === "cpu") return { ...common, cpu: { id: hardware.flavor, vcpuCount: hardware.vcpuCount } };
  const { minCudaVersion } = hardware;
  return {
    ...common,
    gpu: { id: hardware.gpuTypeId, count: 1, ...(minCudaVersion ? { minCudaVersion } : {}) },
    ...(volume && volume.sizeGb > 0 ? { mounts: { persistent: { size: volume.sizeGb, path: volume.path } } } : {}),
  };
}
