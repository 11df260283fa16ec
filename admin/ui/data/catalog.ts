/** What RunPod offers, with prices and stock: a hint, never a promise. */
import { MINUTE } from "../../../server/clock.ts";
import { type Api, read } from "../../client/api.ts";
import type { Resource } from "../core/cache.ts";

export type Cloud = "SECURE" | "COMMUNITY";

/** GPU types, with the stock of one of RunPod's clouds. */
export const gpusResource = (cloud: Cloud) => ({
  key: `catalog gpus ${cloud}`,
  everyMs: MINUTE,
  load: async (api: Api, org: string) =>
    (await read(api.org.catalog.gpus.$get({ param: { org }, query: { cloud } }))).value.gpus,
} satisfies Resource<unknown>);

export type GpuOffer = Awaited<ReturnType<ReturnType<typeof gpusResource>["load"]>>[number];

export const cpusResource = {
  key: "catalog cpus",
  everyMs: MINUTE,
  load: async (api: Api, org: string) => (await read(api.org.catalog.cpus.$get({ param: { org } }))).value.cpus,
} satisfies Resource<unknown>;

export type CpuOffer = Awaited<ReturnType<typeof cpusResource.load>>[number];

/** The image that a pod gets when none is named: the organization's, else that of this server. */
export const defaultImageResource = {
  key: "default image",
  everyMs: null,
  load: async (api: Api, org: string) => {
    const { settings } = (await read(api.org.settings.$get({ param: { org } }))).value;
    return settings.pod_image ?? settings.deployment_pod_image;
  },
} satisfies Resource<unknown>;

/** USD per hour for one GPU in a cloud; null where it is not sold there. */
export function gpuPrice(gpu: GpuOffer, cloud: Cloud): number | null {
  return cloud === "SECURE" ? gpu.price.secure : gpu.price.community;
}

const STOCK: Readonly<Record<string, string>> = {
  NONE: "none free",
  LOW: "few free",
  MEDIUM: "some free",
  HIGH: "many free",
};

/** RunPod's word for its stock as officers read it; "" when it says nothing. */
export function stockText(availability: string | null): string {
  return availability === null ? "" : STOCK[availability] ?? availability.toLowerCase();
}

/** GPU types that are proposed while RunPod's catalog is not known. */
export const KNOWN_GPUS: readonly string[] = [
  "NVIDIA RTX A4000",
  "NVIDIA RTX A5000",
  "NVIDIA RTX A6000",
  "NVIDIA A40",
  "NVIDIA L4",
  "NVIDIA L40S",
  "NVIDIA GeForce RTX 4090",
  "NVIDIA RTX 6000 Ada Generation",
  "NVIDIA A100 80GB PCIe",
  "NVIDIA H100 80GB HBM3",
];

/** The same for flavors of CPU pods. */
export const KNOWN_FLAVORS: readonly string[] = ["cpu3c", "cpu3g", "cpu3m", "cpu5c", "cpu5g", "cpu5m"];
