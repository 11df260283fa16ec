/** `GET /billing/pods`: one record for each pod and bucket of time, in USD. Buckets are in UTC. */
import { DAY, HOUR } from "../../clock.ts";
import { type Answer, invalid, json, Refusal, refuse } from "./answers.ts";
import type { Context } from "./context.ts";
import { amountsBetween, podsOfAccount } from "./meter.ts";

const SIZES = ["hour", "day", "week", "month", "year"] as const;
type BucketSize = (typeof SIZES)[number];

/** More buckets than this are refused, so that one query cannot ask for a century of hours. */
const MOST_BUCKETS = 10_000;

export function billPods(context: Context): Answer {
  const { world, account, query } = context;
  const now = world.clock.now();
  const bucketSize = sizeOf(query.get("bucketSize"));
  const { from, to } = spanOf(query, bucketSize, now);
  const podId = query.get("podId");
  const pods = podsOfAccount(world, account).filter((pod) => podId === null || pod.id === podId);
  const records = bucketsOf(from, to, bucketSize).flatMap(({ start, end }) =>
    pods.map((pod) => ({ pod, amounts: amountsBetween(pod, start, end, now) }))
      .filter(({ amounts }) => amounts.total > 0)
      .map(({ pod, amounts }) => ({
        startTime: new Date(start).toISOString(),
        endTime: new Date(end).toISOString(),
        podId: pod.id,
        totalAmount: amounts.total,
        gpuAmount: amounts.gpu,
        cpuAmount: amounts.cpu,
        diskAmount: amounts.disk,
      }))
  );
  const sum = (name: "totalAmount" | "gpuAmount" | "cpuAmount" | "diskAmount") =>
    records.reduce((total, one) => total + one[name], 0);
  return json({
    records,
    metadata: {
      query: { bucketSize, startTime: new Date(from).toISOString(), endTime: new Date(to).toISOString(), podId },
      recordCount: records.length,
      uniquePodCount: new Set(records.map((one) => one.podId)).size,
      totals: {
        totalAmount: sum("totalAmount"),
        gpuAmount: sum("gpuAmount"),
        cpuAmount: sum("cpuAmount"),
        diskAmount: sum("diskAmount"),
      },
    },
  });
}

function sizeOf(text: string | null): BucketSize {
  const size = SIZES.find((one) => one === (text ?? "day"));
  if (size) return size;
  throw new Refusal(invalid([`bucketSize: value must be one of ${SIZES.join(", ")}`]));
}

/** The span, widened to bucket borders: 30 days up to now unless said; `lastN` excludes the two times. */
function spanOf(query: URLSearchParams, size: BucketSize, now: number): { from: number; to: number } {
  const lastN = query.get("lastN");
  if (lastN !== null) {
    if (query.has("startTime") || query.has("endTime")) refuse(400, "lastN excludes startTime and endTime");
    if (!/^[1-9]\d{0,4}$/.test(lastN)) throw new Refusal(invalid(["lastN: must be an integer of at least 1"]));
    let from = bucketStart(now, size);
    for (let left = Number(lastN) - 1; left > 0; left--) from = bucketStart(from - 1, size);
    return { from, to: bucketEnd(bucketStart(now, size), size) };
  }
  const from = bucketStart(timeOf(query, "startTime") ?? now - 30 * DAY, size);
  const until = timeOf(query, "endTime") ?? now;
  const start = bucketStart(until, size);
  return { from, to: start === until ? until : bucketEnd(start, size) };
}

function timeOf(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null) return null;
  const time = Date.parse(text);
  if (/^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(time)) return time;
  throw new Refusal(invalid([`${name}: must be an RFC 3339 time`]));
}

function bucketsOf(from: number, to: number, size: BucketSize): { start: number; end: number }[] {
  const buckets = [];
  for (let start = from; start < to; start = bucketEnd(start, size)) {
    if (buckets.length === MOST_BUCKETS) refuse(400, "the time range holds too many buckets");
    buckets.push({ start, end: bucketEnd(start, size) });
  }
  return buckets;
}

function bucketStart(time: number, size: BucketSize): number {
  const date = new Date(time);
  if (size === "hour") return Math.floor(time / HOUR) * HOUR;
  if (size === "day") return Math.floor(time / DAY) * DAY;
  // 1970-01-05 was a Monday.
  if (size === "week") return Math.floor((time - 4 * DAY) / (7 * DAY)) * 7 * DAY + 4 * DAY;
  return Date.UTC(date.getUTCFullYear(), size === "month" ? date.getUTCMonth() : 0);
}

function bucketEnd(start: number, size: BucketSize): number {
  const date = new Date(start);
  if (size === "hour") return start + HOUR;
  if (size === "day") return start + DAY;
  if (size === "week") return start + 7 * DAY;
  return size === "month"
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
    : Date.UTC(date.getUTCFullYear() + 1, 0);
}
