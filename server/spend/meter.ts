import type { Database } from "../../db/database.ts";
import type { PodRow } from "../../db/stores/pods.ts";
import {
  closeStretch,
  confirmStretch,
  correctRates,
  insertStretch,
  lastKnownRate,
  lastStretch,
  type OpenRow,
  openStretch,
  ownAction,
  reopenStretch,
} from "../../db/stores/spend.ts";
import { type DiskRates, diskRatesOf } from "./prices.ts";
import { judge, type Judgement, type Look, phaseOf } from "./stretches.ts";

/** What RunPod said of a pod, as far as money goes; `null` in place of it: the pod is gone or terminated. */
export interface MeterReading {
  readonly runpodId: string;
  readonly status: string;
  /** USD per hour of the hardware; 0 or null for a pod that is up means that RunPod does not know it yet. */
  readonly costPerHour: number | null;
  readonly startedAt: number | null;
  /** It is up without the GPU it should have: then a rate of 0 is the truth. */
  readonly isWithoutGpu?: boolean;
}

/**
 * Brings a pod's stretches of cost up to date with what was seen at `at`. `pod` is the row as it was stored before. Call
 * it in the transaction that stores what was seen.
 *
 * What costs what is in `stretches.ts` (by status) and `prices.ts` (disks). A pod that is up is billed at the rate that
 * RunPod reports; while RunPod does not tell one, at the pod's last known rate, which is corrected when it does.
 */
export function meterReading(db: Database, pod: PodRow, reading: MeterReading | null, at: number): void {
  const open = openStretch(db, pod.id);
  if (open === undefined && reading !== null && resumed(db, pod, reading, at)) return;
  const last = lastLook(pod, open, at);
  const look: Look = {
    at,
    last,
    open: open === undefined ? null : { kind: open.kind, runpodId: open.runpod_id },
    before: { status: pod.status, startedAt: pod.started_at },
    now: reading,
    ours: null,
  };
  let judgement = judge(look);
  // Actions of ours only matter where something changed since the last look, which is rare.
  if (judgement.kind === "changes" && judgement.from !== judgement.until) {
    judgement = judge({
      ...look,
      ours: ownAction(db, pod.id, reading?.runpodId ?? pod.runpod_id, last ?? 0, at) ?? null,
    });
  }
  if (judgement.kind === "goes_on" && open !== undefined) goOn(db, pod, open, reading, at);
  if (judgement.kind === "changes") change(db, pod, open, reading, judgement, at);
}

/** When the pod was last known to be in the state that is stored; null for one that was adopted just now. */
function lastLook(pod: PodRow, open: OpenRow | undefined, at: number): number | null {
  if (open !== undefined) return Math.min(open.observed_at, at);
  if (pod.as_of !== null) return Math.min(pod.as_of, at);
  const isAdopted = (JSON.parse(pod.config) as { adopted?: boolean }).adopted === true;
  return isAdopted ? null : Math.min(pod.created_at, at);
}

/** A pod that had vanished, or was held for terminated, is back in the run or stop of before: it never ended. */
function resumed(db: Database, pod: PodRow, reading: MeterReading, at: number): boolean {
  if (pod.status !== "GONE" && pod.status !== "TERMINATED") return false;
  const ended = lastStretch(db, pod.id);
  if (ended === undefined || ended.until_at === null || ended.runpod_id !== reading.runpodId) return false;
  const { startedAt } = reading;
  const phase = phaseOf(reading.status);
  const isSame = ended.kind === "running"
    ? phase === "running" && startedAt !== null && startedAt <= ended.until_at
    : phase === "stopped" && (startedAt === null || startedAt <= ended.until_at);
  if (isSame) reopenStretch(db, ended, at);
  return isSame;
}

/** The rate of the hardware as RunPod tells it; null while it does not. */
function toldRate(reading: MeterReading | null): number | null {
  const cost = reading?.costPerHour ?? null;
  if (cost !== null && cost > 0) return cost;
  return reading?.isWithoutGpu === true && cost === 0 ? 0 : null;
}

function goOn(db: Database, pod: PodRow, open: OpenRow, reading: MeterReading | null, at: number): void {
  confirmStretch(db, open.id, at);
  const rate = open.kind === "running" ? toldRate(reading) : null;
  if (rate === null || reading === null) return;
  if (open.rate_known === 0) return correctRates(db, pod.id, rate);
  if (rate === open.hardware_per_hour) return;
  closeStretch(db, open.id, at);
  insertStretch(db, { ...common(pod, reading.runpodId, at), ...running(rate, open.disk_per_hour), from: at });
}

const common = (pod: PodRow, runpodId: string, at: number) => ({
  orgId: pod.org_id,
  podId: pod.id,
  runpodId,
  observedAt: at,
  until: null,
});

const running = (rate: number, disk: number, rateKnown = true) =>
  ({ kind: "running", hardwarePerHour: rate, diskPerHour: disk, rateKnown }) as const;

function change(
  db: Database,
  pod: PodRow,
  open: OpenRow | undefined,
  reading: MeterReading | null,
  judgement: Judgement & { kind: "changes" },
  at: number,
): void {
  const disks = diskRatesOf(pod.config);
  const known = knownRate(db, pod);
  if (open !== undefined) closeStretch(db, open.id, Math.min(judgement.until, at));
  const runpodId = reading?.runpodId ?? open?.runpod_id ?? pod.runpod_id;
  if (runpodId === null) return;
  const stretch = common(pod, runpodId, at);
  const bound = highestRate(open, disks, known, toldRate(reading));
  if (judgement.from > judgement.until && bound > 0) {
    insertStretch(db, {
      ...stretch,
      kind: "unseen",
      hardwarePerHour: bound,
      diskPerHour: 0,
      rateKnown: true,
      from: judgement.until,
      until: judgement.from,
    });
  }
  if (judgement.next === "running") {
    const told = toldRate(reading);
    if (told !== null) correctRates(db, pod.id, told);
    insertStretch(db, {
      ...stretch,
      ...running(told ?? known ?? 0, disks.running, told !== null),
      from: judgement.from,
    });
  }
  if (judgement.next === "storage" && disks.stopped > 0) {
    insertStretch(db, {
      ...stretch,
      kind: "storage",
      hardwarePerHour: 0,
      diskPerHour: disks.stopped,
      rateKnown: true,
      from: judgement.from,
    });
  }
}

/** The rate at which the pod ran before, as far as RunPod ever told it. */
function knownRate(db: Database, pod: PodRow): number | null {
  const { cost_per_hour } = pod;
  return cost_per_hour !== null && cost_per_hour > 0 ? cost_per_hour : lastKnownRate(db, pod.id) ?? null;
}

/** The most that an hour can have cost while nobody looked, USD. */
function highestRate(
  open: OpenRow | undefined,
  disks: DiskRates,
  known: number | null,
  told: number | null,
): number {
  const seen = open === undefined ? 0 : open.hardware_per_hour + open.disk_per_hour;
  return Math.max(seen, Math.max(known ?? 0, told ?? 0) + disks.running, disks.stopped);
}
