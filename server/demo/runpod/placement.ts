/** The scheduler: a data center and a CUDA version for a create, or null when nothing fits. */
import type { Catalog } from "./catalog_data.ts";
import type { CreateBody } from "./schemas.ts";

export interface Placed {
  readonly dataCenterId: string;
  readonly cudaVersion: string | null;
}

/**
 * Finds a place. A GPU id that does not exist, a list of data centers that has none in stock and a count no host has
 * all end the same way as a lack of capacity does: null.
 */
export function place(catalog: Catalog, body: CreateBody): Placed | null {
  const offers = body.gpu ? gpuOffer(catalog, body) : cpuOffer(catalog, body);
  if (!offers) return null;
  const volumeId = body.mounts?.network?.[0]?.volumeId;
  const volume = catalog.networkVolumes.find((one) => one.id === volumeId);
  const wanted = body.dataCenterIds ?? [];
  const dataCenterId = offers.dataCenters.find((id) =>
    (wanted.length === 0 || wanted.includes(id)) && (!volume || volume.dataCenter === id)
  );
  return dataCenterId === undefined ? null : { dataCenterId, cudaVersion: offers.cudaVersion };
}

interface Offer {
  readonly dataCenters: readonly string[];
  readonly cudaVersion: string | null;
}

function gpuOffer(catalog: Catalog, { gpu, cloud = "SECURE" }: CreateBody): Offer | null {
  const type = catalog.gpus.find((one) => one.id === gpu?.id);
  if (!gpu || !type || type.stock === "NONE") return null;
  const sold = cloud === "SECURE" ? type.secure : type.community;
  const most = cloud === "SECURE" ? type.maxCount.secure : type.maxCount.community;
  if (!sold || (gpu.count ?? 1) > most) return null;
  const allowed = gpu.allowedCudaVersions ?? [];
  const least = gpu.minCudaVersion;
  const versions = (type.cudaVersions ?? []).filter((version) =>
    (allowed.length === 0 || allowed.includes(version)) && (least === undefined || !isBelow(version, least))
  );
  if (versions.length === 0 && (allowed.length > 0 || least !== undefined)) return null;
  return { dataCenters: type.dataCenters, cudaVersion: versions.at(-1) ?? null };
}

function cpuOffer(catalog: Catalog, { cpu, cloud = "SECURE" }: CreateBody): Offer | null {
  const flavor = catalog.cpus.find((one) => one.id === cpu?.id);
  // CPU pods are sold on SECURE only.
  if (!flavor || flavor.stock === "NONE" || cloud !== "SECURE") return null;
  return { dataCenters: flavor.dataCenters, cudaVersion: null };
}

/** Compares `major.minor` as numbers: 12.11 is above 12.2. */
export function isBelow(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split(".").map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}
