import type { Database } from "../database.ts";

/** What is summed: an org's stretches between two times, as it is known at `now`; milliseconds UTC. */
export interface SumSpan {
  readonly orgId: number;
  readonly from: number;
  readonly to: number;
  readonly now: number;
  /** An open stretch that was confirmed within this time is counted up to now, an older one up to its last look. */
  readonly lookMs: number;
}

/** USD and hours. `unsure` is the most that was perhaps spent beside it while nobody looked. */
export interface Sums {
  readonly running: number;
  readonly storage: number;
  readonly runningHours: number;
  readonly unsure: number;
}

/**
 * Every stretch that touches the span, cut to it: from `a` to `b`, and the time since the last look (`tail`) that is not
 * counted. Parameters: 1 org, 2 from, 3 to (not after now), 4 now, 5 look time.
 */
const cutWith = (columns: string, which = "") => `
  with cut as (
    select ${columns} kind, hardware_per_hour + disk_per_hour as rate, max(from_at, ?2) as a, min(until_at, ?3) as b,
      0 as tail
    from compute_spend where org_id = ?1 and until_at > ?2 and from_at < ?3${which}
    union all
    select ${columns} kind, hardware_per_hour + disk_per_hour, max(from_at, ?2),
      min(?3, case when ?4 - observed_at <= ?5 then ?4 else observed_at end),
      case when ?4 - observed_at > ?5 then max(0, ?3 - max(observed_at, ?2)) else 0 end
    from compute_spend where org_id = ?1 and until_at is null and from_at < ?3
  )`;

/** Of the stretches that ended: only those that do not lie within the span as a whole. */
const CROSSING = " and (from_at < ?2 or until_at > ?3)";

/** The sums of stretches of `ms` milliseconds at `rate`, of which `tail` at the end is not counted. */
const sumsOf = (ms: string, rate: string, tail: string) => `
    total(case when kind = 'running' then ${ms} * ${rate} end) / 3600000 as running,
    total(case when kind = 'storage' then ${ms} * ${rate} end) / 3600000 as storage,
    total(case when kind = 'running' then ${ms} end) / 3600000 as runningHours,
    total((case when kind = 'unseen' then ${ms} else ${tail} end) * ${rate}) / 3600000 as unsure`;
const SUMS = sumsOf("max(0, b - a)", "rate", "tail");

type Values = [number, number, number, number, number];
const valuesOf = ({ orgId, from, to, now, lookMs }: SumSpan): Values => [orgId, from, Math.min(to, now), now, lookMs];

/** What is summed for: the whole org, or each pod (or incarnation) by itself. */
type Group = "" | "pod_id" | "runpod_id";
interface Grouped {
  readonly key: string;
  readonly podId: string;
}

/**
 * Sums of an org's stretches. Most stretches of a long list lie within the span as a whole: they are summed from the index
 * alone, and only those that cross a border or go on are cut.
 */
function sumsBy(db: Database, group: Group, span: SumSpan): (Grouped & Sums)[] {
  const key = group === "" ? "''" : group;
  const values = valuesOf(span);
  const names = `${key} as key, max(pod_id) as podId`;
  const grouped = group === "" ? "" : ` group by ${group}`;
  const whole = db.all<Grouped & Sums>(
    `select ${names}, ${
      sumsOf("(until_at - from_at)", "(hardware_per_hour + disk_per_hour)", "0")
    } from compute_spend where org_id = ?1 and until_at > ?2 and until_at <= ?3 and from_at >= ?2${grouped}`,
    ...values,
  );
  const columns = group === "" ? "pod_id," : group === "pod_id" ? "pod_id," : "runpod_id, pod_id,";
  const cut = db.all<Grouped & Sums>(
    `${cutWith(columns, CROSSING)} select ${names}, ${SUMS} from cut${grouped}`,
    ...values,
  );
  const byKey = new Map(whole.map((sums) => [sums.key, sums]));
  for (const part of cut) {
    const other = byKey.get(part.key);
    byKey.set(part.key, other === undefined ? part : { ...addSums(other, part), key: part.key, podId: part.podId });
  }
  return [...byKey.values()];
}

export function addSums(a: Sums, b: Sums): Sums {
  return {
    running: a.running + b.running,
    storage: a.storage + b.storage,
    runningHours: a.runningHours + b.runningHours,
    unsure: a.unsure + b.unsure,
  };
}

export const NO_SUMS: Sums = { running: 0, storage: 0, runningHours: 0, unsure: 0 };

/** All of an org together. */
export function sumOfOrg(db: Database, span: SumSpan): Sums {
  return sumsBy(db, "", span).reduce<Sums>(addSums, NO_SUMS);
}

/** By our own id of the pod. */
export function sumsByPod(db: Database, span: SumSpan): ({ readonly podId: string } & Sums)[] {
  return sumsBy(db, "pod_id", span);
}

/** By RunPod's id: each incarnation of a pod by itself. */
export function sumsByRunpodId(
  db: Database,
  span: SumSpan,
): ({ readonly runpodId: string; readonly podId: string } & Sums)[] {
  return sumsBy(db, "runpod_id", span).map(({ key, ...sums }) => ({ ...sums, runpodId: key }));
}

/** A stretch cut to the span; USD per hour. */
export interface CutStretch {
  readonly podId: string;
  readonly kind: "running" | "unseen";
  readonly rate: number;
  readonly a: number;
  readonly b: number;
}

/** The runs and the unseen times of pods that had sessions, each pod's in order of time. */
export function runsOfSessionPods(db: Database, span: SumSpan): CutStretch[] {
  return db.all(
    `${cutWith("pod_id,")} select pod_id as podId, kind, rate, a, b from cut where kind != 'storage' and b > a ` +
      "and pod_id in (select pod_id from compute_sessions where org_id = ?1 and started_at is not null) " +
      "order by pod_id, a",
    ...valuesOf(span),
  );
}

/** USD per hour that an org's pods cost at this moment: what runs, and the storage of what is stopped. */
export function rateOfOrg(db: Database, orgId: number): number {
  return db.get<{ rate: number }>(
    "select total(hardware_per_hour + disk_per_hour) as rate from compute_spend where org_id = ? and until_at is null",
    orgId,
  )!.rate;
}

/** A session that really ran within a span; milliseconds UTC. */
export interface RanSession {
  readonly id: number;
  readonly podId: string;
  readonly title: string | null;
  readonly startedAt: number;
  /** Null while it goes on. */
  readonly finishedAt: number | null;
}

/** Sessions that started, in order of pod and real start. */
export function sessionsThatRan(db: Database, orgId: number, from: number, to: number): RanSession[] {
  return db.all(
    "select id, pod_id as podId, title, started_at as startedAt, finished_at as finishedAt from compute_sessions " +
      "where org_id = ? and started = 1 and started_at < ? and coalesce(finished_at, ?) > ? " +
      "order by pod_id, started_at, id",
    orgId,
    to,
    to,
    from,
  );
}

/** Names of an org's pods, terminated ones too. */
export function podNames(
  db: Database,
  orgId: number,
): { id: string; name: string; runpodId: string | null; state: string }[] {
  return db.all("select id, name, runpod_id as runpodId, state from compute_pods where org_id = ?", orgId);
}
