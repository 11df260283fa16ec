import { DAY, MINUTE } from "../clock.ts";

/** A stretch at one price that was not closed yet, as far as judging it needs. Times are milliseconds UTC. */
export interface OpenStretch {
  readonly kind: "running" | "storage";
  readonly runpodId: string;
}

/** One look at a pod, and what was known before it. */
export interface Look {
  readonly at: number;
  /** The look before it, never after `at`; null for a pod that was neither seen nor made here before. */
  readonly last: number | null;
  readonly open: OpenStretch | null;
  readonly before: { readonly status: string | null; readonly startedAt: number | null };
  /** What RunPod says; null when the pod is gone or terminated. */
  readonly now: { readonly runpodId: string; readonly status: string; readonly startedAt: number | null } | null;
  /** The newest action of ours that was sent between the two looks. */
  readonly ours: { readonly action: string; readonly sentAt: number } | null;
}

/**
 * What a look means for a pod's stretches: nothing; the open one goes on; or it ends at `until` and the next (if it
 * costs anything) begins at `from`. Between the two nobody knows what the pod did.
 */
export type Judgement =
  | { readonly kind: "nothing" }
  | { readonly kind: "goes_on" }
  | {
    readonly kind: "changes";
    readonly until: number;
    readonly from: number;
    readonly next: "running" | "storage" | null;
  };

/** Pods are looked at at least every five minutes while RunPod answers; a longer silence is a gap. */
export const LOOK_MS = 10 * MINUTE;
/** A container that is RUNNING this long after it was seen starting may be that same start. */
const BOOT_MS = 10 * MINUTE;
/** An action is answered, or read back, within this time. */
const ANSWER_MS = MINUTE;
/** RunPod's word that a pod we never saw runs for longer than this is not believed. */
const LONGEST_MS = 31 * DAY;

type Phase = "running" | "stopped" | "waiting" | "ended" | "unknown";

/**
 * What RunPod bills by a pod's status. Hardware is billed from STARTING on, when the pod has its machine, and not while
 * it waits for one in PROVISIONING. A pod in ERROR is billed like a stopped one. A word nobody knows tells nothing.
 */
export function phaseOf(status: string): Phase {
  switch (status) {
    case "RUNNING":
    case "STARTING":
      return "running";
    case "EXITED":
    case "ERROR":
      return "stopped";
    case "PROVISIONING":
      return "waiting";
    case "TERMINATED":
      return "ended";
    default:
      return "unknown";
  }
}

/** Judges one look by the rules above. Pure. */
export function judge(look: Look): Judgement {
  const { open, now } = look;
  const phase = now === null ? "ended" : phaseOf(now.status);
  const isSamePod = open !== null && open.runpodId === now?.runpodId;
  switch (phase) {
    case "unknown":
      return { kind: "nothing" };
    case "waiting":
      if (open === null) return { kind: "nothing" };
      return isSamePod ? { kind: "goes_on" } : { kind: "changes", until: lastOf(look), from: look.at, next: null };
    case "running":
      if (isSamePod && open.kind === "running" && ranOn(look)) return { kind: "goes_on" };
      return { kind: "changes", ...beginning(look, isSamePod), next: "running" };
    case "stopped":
      if (isSamePod && open.kind === "storage" && !ranBetween(look)) return { kind: "goes_on" };
      if (open === null && wasDown(look) && !ranBetween(look)) {
        return { kind: "changes", until: look.at, from: look.at, next: "storage" };
      }
      return { kind: "changes", ...ending(look), next: "storage" };
    case "ended":
      if (open === null && (wasDown(look) || wasGone(look))) return { kind: "nothing" };
      return { kind: "changes", ...ending(look), next: null };
  }
}

const lastOf = (look: Look) => look.last ?? look.at;

function wasDown({ before, last }: Look): boolean {
  return last === null || before.status === "EXITED" || before.status === "ERROR";
}

const wasGone = ({ before }: Look) => before.status === "GONE" || before.status === "TERMINATED";

/** The stopped pod was started since the last look: it ran for a time that nobody saw. */
function ranBetween({ before, now, last, at }: Look): boolean {
  const startedAt = now?.startedAt ?? null;
  return startedAt !== null && last !== null && startedAt !== before.startedAt && startedAt > last && startedAt <= at;
}

/** An action of ours that makes the pod run, sent between the last look and `before`. */
function ownStart({ ours, last }: Look, before: number): number | null {
  if (ours === null || ours.action !== "start" && ours.action !== "restart") return null;
  return ours.sentAt > (last ?? 0) && ours.sentAt <= before ? ours.sentAt : null;
}

/**
 * The pod was running at the last look and runs now: without a break? A run that began before the last look is the one
 * that was seen then, however long ago that was. A restart of ours is billed through.
 */
function ranOn(look: Look): boolean {
  const { before, now, at } = look;
  const last = lastOf(look);
  const startedAt = now?.startedAt ?? null;
  if (now?.status === "RUNNING" && startedAt !== null) {
    if (startedAt <= last) return true;
    if (before.status === "RUNNING" && startedAt === before.startedAt) return true;
    const own = ownStart(look, Math.min(startedAt, at));
    if (own !== null && own - last <= LOOK_MS) return true;
    return before.status !== "RUNNING" && Math.min(startedAt, at) - last <= BOOT_MS;
  }
  if (now?.status === "RUNNING" && before.status === "RUNNING") return true;
  const own = ownStart(look, at);
  return at - last <= BOOT_MS || own !== null && own - last <= LOOK_MS;
}

/** When a run began that the last look did not see, and until when the stretch before it is certain. */
function beginning(look: Look, isSamePod: boolean): { until: number; from: number } {
  const { before, now, open, at } = look;
  const told = now?.startedAt ?? null;
  // A stopped pod that starts and names its old start does not tell when it started.
  const isOld = told !== null && told === before.startedAt && wasDown(look);
  const startedAt = told === null || told > at || isOld ? null : told;
  if (look.last === null) {
    const from = startedAt === null ? at : Math.max(startedAt, at - LONGEST_MS);
    return { until: from, from };
  }
  const own = ownStart(look, startedAt ?? at);
  if (own !== null) {
    const isSeenUntilThen = open === null ? wasDown(look) : isSamePod && open.kind === "storage";
    return { until: isSeenUntilThen ? own : look.last, from: own };
  }
  return { until: look.last, from: startedAt === null ? at : Math.max(startedAt, look.last) };
}

/** When a pod stopped or ended: at our own action, else somewhere between the last look and this one. */
function ending(look: Look): { until: number; from: number } {
  const { ours, open, at } = look;
  const last = lastOf(look);
  const isOurs = ours !== null && (ours.action === "stop" || ours.action === "terminate") && ours.sentAt > last;
  if (!isOurs) return { until: last, from: at };
  const end = at - ours.sentAt <= ANSWER_MS ? at : ours.sentAt;
  const isSeen = open?.kind === "storage" || open !== null && ours.sentAt - last <= LOOK_MS;
  return { until: isSeen ? end : last, from: end };
}
