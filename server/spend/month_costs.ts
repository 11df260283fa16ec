import type { Database } from "../../db/database.ts";
import { SECOND } from "../clock.ts";
import { monthCostByPod } from "./budget.ts";

/** What each pod of an org cost in the month (UTC) of `now`, in USD, by our own id of the pod. */
export type MonthCosts = (orgId: number, now: number) => ReadonlyMap<string, number>;

const KEPT_MS = 30 * SECOND;

/** Month costs for lists that are asked for every few seconds: half a minute's cost of a pod is less than a cent. */
export function createMonthCosts(db: Database): MonthCosts {
  const kept = new Map<number, { at: number; costs: ReadonlyMap<string, number> }>();
  return (orgId, now) => {
    const known = kept.get(orgId);
    if (known !== undefined && known.at <= now && now - known.at < KEPT_MS) return known.costs;
    const costs = monthCostByPod(db, orgId, now);
    kept.set(orgId, { at: now, costs });
    return costs;
  };
}
