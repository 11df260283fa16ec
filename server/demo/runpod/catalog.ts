/** `GET /catalog/…`, `/network-volumes` and `/account/ssh-keys`. */
import { type Answer, invalid, json, Refusal, refuse } from "./answers.ts";
import type { CpuType, GpuType, Stock } from "./catalog_data.ts";
import type { Context } from "./context.ts";
import { isBelow } from "./placement.ts";
import { violations } from "./schema_check.ts";
import { sshKeys } from "./schemas.ts";
import { accountOf } from "./state.ts";

const GPU_FILTERS = ["product", "count", "cloud", "countryCodes", "cudaVersions", "minCudaVersion"];
const CPU_FILTERS = ["product", "vcpuCount"];

export function listGpus(context: Context): Answer {
  const available = wantsAvailability(context.query, GPU_FILTERS);
  return json({ gpus: context.world.catalog.gpus.map((type) => gpuView(context, type, available)) });
}

export function getGpu(context: Context): Answer {
  const available = wantsAvailability(context.query, GPU_FILTERS);
  const type = context.world.catalog.gpus.find((one) => one.id === context.params["id"]);
  return type ? json(gpuView(context, type, available)) : refuse(404, "resource not found");
}

export function listCpus(context: Context): Answer {
  const available = wantsAvailability(context.query, CPU_FILTERS);
  return json({ cpus: context.world.catalog.cpus.map((type) => cpuView(context, type, available)) });
}

export function getCpu(context: Context): Answer {
  const available = wantsAvailability(context.query, CPU_FILTERS);
  const type = context.world.catalog.cpus.find((one) => one.id === context.params["id"]);
  return type ? json(cpuView(context, type, available)) : refuse(404, "resource not found");
}

export function listDataCenters({ world, query }: Context): Answer {
  const include = (query.get("include") ?? "").split(",").filter((word) => word !== "");
  checkWords("include", include, ["GPU_AVAILABILITY", "CPU_AVAILABILITY"]);
  const regions = query.get("regions")?.split(",");
  const { gpus, cpus, dataCenters } = world.catalog;
  const stockIn = (types: readonly (GpuType | CpuType)[], center: string) =>
    types.filter((type) => type.dataCenters.includes(center)).map(({ id, name, stock }) => ({
      id,
      name,
      availability: stock,
    }));
  return json({
    dataCenters: dataCenters.filter((one) => !regions || regions.includes(one.region)).map((center) => ({
      ...center,
      ...(include.includes("GPU_AVAILABILITY") ? { gpuAvailability: stockIn(gpus, center.id) } : {}),
      ...(include.includes("CPU_AVAILABILITY") ? { cpuAvailability: stockIn(cpus, center.id) } : {}),
    })),
  });
}

export function listNetworkVolumes({ world }: Context): Answer {
  return json({ networkVolumes: world.catalog.networkVolumes });
}

export function getNetworkVolume({ world, params }: Context): Answer {
  const volume = world.catalog.networkVolumes.find((one) => one.id === params["id"]);
  return volume ? json(volume) : refuse(404, `network volume ${params["id"]} not found`);
}

export function listSshKeys({ world, account }: Context): Answer {
  return json({ keys: accountOf(world, account).sshKeys });
}

export function replaceSshKeys({ world, account, body }: Context): Answer {
  const found = violations(sshKeys, body ?? null);
  if (found.length > 0) return invalid(found);
  const { keys } = body as { keys: string[] };
  accountOf(world, account).sshKeys = keys;
  return json({ keys });
}

/** `include` needs `product`, and every filter needs `include`: else 400. */
function wantsAvailability(query: URLSearchParams, filters: readonly string[]): boolean {
  const include = query.get("include");
  if (include === null) {
    const lonely = filters.find((name) => query.has(name));
    if (lonely !== undefined) refuse(400, `${lonely} requires include=AVAILABILITY`);
    return false;
  }
  checkWords("include", [include], ["AVAILABILITY"]);
  const product = query.get("product");
  if (product === null) refuse(400, "include=AVAILABILITY requires product");
  checkWords("product", [product], ["POD", "SERVERLESS"]);
  return true;
}

function checkWords(name: string, words: readonly string[], known: readonly string[]): void {
  const wrong = words.find((word) => !known.includes(word));
  if (wrong !== undefined) throw new Refusal(invalid([`${name}: value must be one of ${known.join(", ")}`]));
}

function gpuView({ query }: Context, type: GpuType, available: boolean): unknown {
  const { stock: _stock, dataCenters, cudaVersions, ...view } = type;
  if (!available) return view;
  const cloud = query.get("cloud") ?? "SECURE";
  checkWords("cloud", [cloud], ["SECURE", "COMMUNITY"]);
  const [sold, most] = cloud === "SECURE"
    ? [type.secure, type.maxCount.secure]
    : [type.community, type.maxCount.community];
  const wanted = query.get("cudaVersions")?.split(",");
  const least = query.get("minCudaVersion");
  const versions = cudaVersions?.filter((version) =>
    (!wanted || wanted.includes(version)) && (least === null || !isBelow(version, least))
  );
  const hasCuda = (!wanted && least === null) || (versions ?? []).length > 0;
  const stock = sold && hasCuda && Number(query.get("count") ?? 1) <= most ? type.stock : "NONE";
  return {
    ...view,
    ...availability(stock, dataCenters),
    ...(cudaVersions
      ? { cudaVersions: cudaVersions.map((version) => ({ version, available: versions?.includes(version) ?? false })) }
      : {}),
  };
}

function cpuView({ query }: Context, type: CpuType, available: boolean): unknown {
  const { stock, dataCenters, ...view } = type;
  if (!available) return view;
  const fits = Number(query.get("vcpuCount") ?? type.vcpu.min) <= type.vcpu.max;
  return { ...view, ...availability(fits ? stock : "NONE", dataCenters) };
}

/** `dataCenters` is left out when the type is available nowhere. */
function availability(stock: Stock, dataCenters: readonly string[]) {
  if (stock === "NONE") return { availability: stock };
  return { availability: stock, dataCenters: dataCenters.map((id) => ({ id, name: id, availability: stock })) };
}
