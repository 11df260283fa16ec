import { z } from "zod";
import { DAY } from "../clock.ts";
import { type Deadline, type Request, unreadable } from "./request.ts";

/** What RunPod billed for one pod on one day (UTC; `dayAt` is its first millisecond), in USD. */
export interface PodBill {
  readonly runpodId: string;
  readonly dayAt: number;
  readonly usd: number;
}

/** Whole days (UTC), from the first millisecond of the first to the first one after the last. */
export interface BillingSpan {
  readonly from: number;
  readonly to: number;
}

/** More than this for one pod and day is a slip of somebody: the spend cap of an account is 80 USD an hour. */
const MOST_USD = 1_000_000;

/** Refunds may be negative. RunPod has been seen to write amounts as text. */
const amount = z.union([
  z.number(),
  z.string().regex(/^-?\d{1,9}(?:\.\d{1,15})?$/).transform(Number),
]).refine((value) => Math.abs(value) <= MOST_USD);

const recordShape = z.object({
  podId: z.string().min(1).max(100),
  startTime: z.string().regex(/^\d{4}-\d\d-\d\dT/).transform((text) => Date.parse(text)).pipe(z.number()),
  totalAmount: amount.nullish(),
  gpuAmount: amount.nullish(),
  cpuAmount: amount.nullish(),
  diskAmount: amount.nullish(),
});

const answerShape = z.object({ records: z.array(recordShape) });

/**
 * Reads RunPod's own bill of each pod and day. Everything or an error: with a record left out, a bill would look
 * smaller than it is. A record without a total counts the sum of its parts.
 */
export async function readBilling(request: Request, deadline: Deadline, { from, to }: BillingSpan): Promise<PodBill[]> {
  const query = new URLSearchParams({
    bucketSize: "day",
    startTime: new Date(from).toISOString(),
    endTime: new Date(to).toISOString(),
  });
  const { status, json } = await request({ method: "GET", path: `/billing/pods?${query}`, repeatable: true }, deadline);
  const read = answerShape.safeParse(json);
  if (!read.success) throw unreadable(status, "RunPod sent a bill that cannot be read");
  const bills = new Map<string, PodBill>();
  for (const record of read.data.records) {
    const parts = [record.gpuAmount, record.cpuAmount, record.diskAmount].filter((part) => typeof part === "number");
    const usd = record.totalAmount ?? (parts.length > 0 ? parts.reduce((sum, part) => sum + part, 0) : null);
    if (usd === null) throw unreadable(status, "RunPod sent a bill without amounts");
    // Buckets are widened to whole days: what lies outside was not asked for.
    const dayAt = Math.floor(record.startTime / DAY) * DAY;
    if (dayAt < from || dayAt >= to) continue;
    const key = `${dayAt} ${record.podId}`;
    bills.set(key, { runpodId: record.podId, dayAt, usd: usd + (bills.get(key)?.usd ?? 0) });
  }
  return [...bills.values()];
}
