import type { Org } from "../../db/stores/organizations.ts";
import { usablePods } from "../../db/stores/pods.ts";
import { isoTime, SECOND } from "../clock.ts";
import { asClause } from "../errors.ts";
import type { PersonCaller } from "../identity/callers.ts";
import { type Planned, plannedOf } from "../schedule/planned.ts";
import type { PodDeps } from "./deps.ts";
import type { Refresher } from "./refresh.ts";

/** One list call serves everybody who asks within these (the client asks once or twice per command). */
export const ME_PODS_AGE_MS = 5 * SECOND;
/** RunPod's share of the 4 s in which the answer must be out. */
export const ME_PODS_RUNPOD_MS = 3 * SECOND;
/** The whole answer, Discord's part included, less what writing it takes: the client gives up after 5 s. */
const ME_PODS_MS = 3_700;

export interface MyPod extends Planned {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly is_public: boolean;
  readonly stale: boolean;
  /** False when a stop loses every file. */
  readonly keeps_files: boolean;
}

export interface MyPods {
  readonly pods: MyPod[];
  readonly stale: boolean;
  readonly as_of: string | null;
  readonly warnings: string[];
}

/**
 * The pods this member may use: the running ones, or with `all` the stopped ones too. An officer sees all of the org.
 * RunPod never makes it fail: an outage or a missing key gives what is known, marked stale. `receivedAt` is when the request
 * came in, by `performance.now()`.
 */
export async function myPods(
  deps: PodDeps & { readonly refresher: Refresher },
  org: Org,
  me: PersonCaller,
  options: { readonly all: boolean; readonly receivedAt: number },
): Promise<MyPods> {
  let usable = usablePods(deps.db, org.id, me);
  if (usable.length === 0) return { pods: [], stale: false, as_of: null, warnings: [] };
  let freshness = deps.refresher.recent(org, ME_PODS_AGE_MS);
  if (freshness === null) {
    const left = ME_PODS_MS - (performance.now() - options.receivedAt);
    const timeoutMs = Math.max(1, Math.min(ME_PODS_RUNPOD_MS, left));
    freshness = await deps.refresher.refresh(org, { maxAgeMs: ME_PODS_AGE_MS, timeoutMs });
    usable = usablePods(deps.db, org.id, me);
  }
  const { fresh, error } = freshness;
  const rows = options.all
    ? usable.filter((row) => row.status !== "GONE")
    : usable.filter((row) => row.status === "RUNNING");
  let asOf: number | null = null;
  for (const row of rows) if (row.as_of !== null && (asOf === null || row.as_of < asOf)) asOf = row.as_of;
  const plannedFor = plannedOf(deps.db, org.id, deps.clock.now());
  return {
    pods: rows.map((row) => ({
      id: row.runpod_id!,
      name: row.name,
      status: row.status ?? "UNKNOWN",
      is_public: row.is_public === 1,
      stale: !fresh || row.missing_count > 0,
      keeps_files: row.keeps_files === 1,
      ...plannedFor(row.id),
    })),
    stale: !fresh,
    as_of: asOf === null ? null : isoTime(asOf),
    warnings: error === null ? [] : [`${asClause(error.message)}. These are the last known states.`],
  };
}
