import type { Database } from "../../db/database.ts";
import type { Org } from "../../db/stores/organizations.ts";
import {
  addSums,
  NO_SUMS,
  podNames,
  runsOfSessionPods,
  sessionsThatRan,
  sumOfOrg,
  type Sums,
  sumsByPod,
  type SumSpan,
} from "../../db/stores/spend_sums.ts";
import { isoTime } from "../clock.ts";
import { usd } from "./budget.ts";
import { bySession } from "./by_session.ts";
import { monthsBetween } from "./months.ts";
import type { Group, Span } from "./span.ts";
import { LOOK_MS } from "./stretches.ts";

/** USD with four decimals, hours with four decimals. */
export interface Amounts {
  readonly amount: number;
  readonly running_amount: number;
  readonly storage_amount: number;
  readonly running_hours: number;
  /**
   * The most that was perhaps spent beside `amount`: what the times would cost in which nobody looked and of which
   * RunPod tells nothing afterwards, at the highest price the pod can have had.
   */
  readonly unsure: number;
}

export interface SpendRow extends Amounts {
  /** RunPod's id of the pod, the month, the session's id or `outside sessions`, or the org's prefix. */
  readonly key: string;
  /** The pod's name, the session's title, or the org's name. */
  readonly name: string | null;
  /** RunPod's id of the pod, for pods and sessions. */
  readonly pod_id: string | null;
  /** For sessions: when it really ran. */
  readonly started_at: string | null;
  readonly finished_at: string | null;
  /** For pods: it is terminated, and its money stays. */
  readonly terminated: boolean | null;
}

export interface SpendReport {
  readonly rows: SpendRow[];
  readonly total: Amounts;
}

/** What an org's pods cost within a span, as far as it lies before `now`. A fixed number of queries per month and group. */
export function spendReport(db: Database, org: Org, span: Span, group: Group, now: number): SpendReport {
  const sumSpan: SumSpan = { orgId: org.id, ...span, now, lookMs: LOOK_MS };
  if (group === "pod") {
    // Large orgs have long lists of stretches: they are read once, and the total is that of the pods.
    const sums = sumsByPod(db, sumSpan);
    return { rows: podRows(db, org, sums), total: amountsOf(sums.reduce(addSums, NO_SUMS)) };
  }
  const total = sumOfOrg(db, sumSpan);
  return { rows: rowsOf(db, org, sumSpan, group, total), total: amountsOf(total) };
}

function rowsOf(db: Database, org: Org, span: SumSpan, group: Exclude<Group, "pod">, total: Sums): SpendRow[] {
  switch (group) {
    case "org":
      return [row(org.prefix, org.name, total)];
    case "month":
      return monthsBetween(span.from, span.to).map(({ name, from, to }) =>
        row(name, null, sumOfOrg(db, { ...span, from, to }))
      );
    case "session":
      return sessionRows(db, org, span, total);
  }
}

function podRows(db: Database, org: Org, all: ReturnType<typeof sumsByPod>): SpendRow[] {
  const pods = new Map(podNames(db, org.id).map((pod) => [pod.id, pod]));
  return all.map((sums) => {
    const pod = pods.get(sums.podId);
    const podId = pod?.runpodId ?? null;
    return {
      ...row(podId ?? sums.podId, pod?.name ?? null, sums),
      pod_id: podId,
      terminated: pod?.state === "terminated",
    };
  }).sort((a, b) => b.amount - a.amount || a.key.localeCompare(b.key));
}

/** Sessions in order of their real start, then what was spent outside of all sessions, storage included. */
function sessionRows(db: Database, org: Org, span: SumSpan, total: Sums): SpendRow[] {
  const end = Math.min(span.to, span.now);
  const pods = new Map(podNames(db, org.id).map((pod) => [pod.id, pod.runpodId]));
  const shares = bySession(sessionsThatRan(db, org.id, span.from, end), runsOfSessionPods(db, span), end);
  const inside = { running: 0, runningHours: 0, unsure: 0 };
  for (const share of shares) {
    inside.running += share.running;
    inside.runningHours += share.runningHours;
    inside.unsure += share.unsure;
  }
  const rows = shares.sort((a, b) => a.session.startedAt - b.session.startedAt || a.session.id - b.session.id).map((
    share,
  ) => ({
    ...row(String(share.session.id), share.session.title, { ...share, storage: 0 }),
    pod_id: pods.get(share.session.podId) ?? null,
    started_at: isoTime(share.session.startedAt),
    finished_at: share.session.finishedAt === null ? null : isoTime(share.session.finishedAt),
  }));
  const outside = {
    running: Math.max(0, total.running - inside.running),
    runningHours: Math.max(0, total.runningHours - inside.runningHours),
    unsure: Math.max(0, total.unsure - inside.unsure),
    storage: total.storage,
  };
  return [...rows, row("outside sessions", null, outside)];
}

function row(key: string, name: string | null, sums: Sums): SpendRow {
  return { key, name, pod_id: null, started_at: null, finished_at: null, terminated: null, ...amountsOf(sums) };
}

function amountsOf({ running, storage, runningHours, unsure }: Sums): Amounts {
  return {
    amount: usd(running + storage),
    running_amount: usd(running),
    storage_amount: usd(storage),
    running_hours: usd(runningHours),
    unsure: usd(unsure),
  };
}
