import type { Database } from "../../db/database.ts";
import { type AccountMoney, billedByRunpodId } from "../../db/stores/account_money.ts";
import { podNames, sumsByRunpodId } from "../../db/stores/spend_sums.ts";
import { isoTime } from "../clock.ts";
import { billedSpan } from "./account.ts";
import { usd } from "./budget.ts";
import { LOOK_MS } from "./stretches.ts";

/** A difference above this is shown as one. */
const DIFFERS_PERCENT = 5;
/** Less than a cent is no difference, whatever its part of the bill. */
const DIFFERS_USD = 0.01;

export interface Difference {
  readonly own_usd: number;
  readonly runpod_usd: number;
  /** Of RunPod's amount; null where RunPod billed nothing. Positive: ours is higher. */
  readonly difference_percent: number | null;
  readonly differs: boolean;
}

/** Our figures beside RunPod's own bill, for the whole days (UTC) it was last read of. */
export interface BillingCheck extends Difference {
  readonly from: string | null;
  readonly to: string | null;
  readonly read_at: string | null;
  /** Why RunPod's bill could not be read at the last try. */
  readonly error: string | null;
  /** The pods that differ, by RunPod's id. */
  readonly pods: readonly (Difference & { readonly pod_id: string; readonly name: string | null })[];
}

/** Compares what was counted here with what RunPod billed. Without a bill nothing differs. */
export function billingCheck(
  db: Database,
  orgId: number,
  account: AccountMoney | undefined,
  now: number,
): BillingCheck {
  const readAt = account?.billing_read_at ?? null;
  const error = account?.billing_error ?? null;
  if (readAt === null) {
    return { from: null, to: null, read_at: null, error, ...difference(0, 0), pods: [] };
  }
  const { from, to } = billedSpan(readAt);
  const own = sumsByRunpodId(db, { orgId, from, to, now, lookMs: LOOK_MS });
  const names = new Map(podNames(db, orgId).map((pod) => [pod.id, pod.name]));
  const pods = new Map(own.map(({ runpodId, podId, running, storage }) => [
    runpodId,
    { name: names.get(podId) ?? null, own: running + storage, billed: 0 },
  ]));
  for (const { runpodId, usd: billed } of billedByRunpodId(db, orgId, from, to)) {
    const pod = pods.get(runpodId);
    if (pod === undefined) pods.set(runpodId, { name: null, own: 0, billed });
    else pod.billed = billed;
  }
  let [ownSum, billedSum] = [0, 0];
  for (const pod of pods.values()) {
    ownSum += pod.own;
    billedSum += pod.billed;
  }
  return {
    from: isoTime(from),
    to: isoTime(to),
    read_at: isoTime(readAt),
    error,
    ...difference(ownSum, billedSum),
    pods: [...pods].map(([pod_id, pod]) => ({ pod_id, name: pod.name, ...difference(pod.own, pod.billed) }))
      .filter((pod) => pod.differs)
      .sort((a, b) => Math.abs(b.own_usd - b.runpod_usd) - Math.abs(a.own_usd - a.runpod_usd)),
  };
}

function difference(own: number, billed: number): Difference {
  const percent = billed === 0 ? null : (own - billed) / Math.abs(billed) * 100;
  const isLarge = percent === null ? own > 0 : Math.abs(percent) > DIFFERS_PERCENT;
  return {
    own_usd: usd(own),
    runpod_usd: usd(billed),
    difference_percent: percent === null ? null : Math.round(percent * 100) / 100,
    differs: isLarge && Math.abs(own - billed) >= DIFFERS_USD,
  };
}
