/** The routes under `/v2`, and how a path finds its handler. */
import { actOnPod, deletePod } from "./actions.ts";
import { billPods } from "./billing.ts";
import {
  getCpu,
  getGpu,
  getNetworkVolume,
  listCpus,
  listDataCenters,
  listGpus,
  listNetworkVolumes,
  listSshKeys,
  replaceSshKeys,
} from "./catalog.ts";
import type { Handler } from "./context.ts";
import { createPod } from "./create.ts";
import { getPod, listPods } from "./list.ts";
import { openapiDocument } from "./openapi.ts";
import { updatePod } from "./update.ts";

const ROUTES: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
  "/pods": { GET: listPods, POST: createPod },
  "/pods/{id}": { GET: getPod, PATCH: updatePod, DELETE: deletePod },
  "/pods/{id}/action": { POST: actOnPod },
  "/account/ssh-keys": { GET: listSshKeys, PUT: replaceSshKeys },
  "/catalog/gpus": { GET: listGpus },
  "/catalog/gpus/{id}": { GET: getGpu },
  "/catalog/cpus": { GET: listCpus },
  "/catalog/cpus/{id}": { GET: getCpu },
  "/catalog/datacenters": { GET: listDataCenters },
  "/network-volumes": { GET: listNetworkVolumes },
  "/network-volumes/{id}": { GET: getNetworkVolume },
  "/billing/pods": { GET: billPods },
};

export interface Route {
  readonly methods: Readonly<Record<string, Handler>>;
  readonly params: Readonly<Record<string, string>>;
}

/** The route of a path (without `/v2`), or null when there is none. Segments come URL-decoded. */
export function findRoute(path: string): Route | null {
  const segments = path.split("/").map(decodedSegment);
  for (const [pattern, methods] of Object.entries(ROUTES)) {
    const wanted = pattern.split("/");
    if (wanted.length !== segments.length) continue;
    const params: Record<string, string> = {};
    const fits = wanted.every((word, index) => {
      const segment = segments[index];
      if (segment === null || segment === undefined) return false;
      if (!word.startsWith("{")) return word === segment;
      params[word.slice(1, -1)] = segment;
      return segment !== "";
    });
    if (fits) return { methods, params };
  }
  return null;
}

export const openapi = openapiDocument([
  ...Object.entries(ROUTES).map(([path, methods]) => ({ path, methods: Object.keys(methods) })),
  { path: "/openapi.json", methods: ["GET"] },
]);

function decodedSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
