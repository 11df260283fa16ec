import type { PodRow } from "../../db/stores/pods.ts";
import { isoTime } from "../clock.ts";
import type { OrgSettings } from "../identity/org_settings.ts";
import { PRESENCE_GAP_MS } from "../presence/note.ts";
import { busyWhy, USE_GAP_MS } from "../presence/use.ts";

/** Since when a pod is idle as far as people and machines go; `why` says what made that the beginning. */
export type Idleness =
  | { readonly kind: "idle"; readonly since: number; readonly why: string }
  | { readonly kind: "busy"; readonly why: string }
  /** Not known, which counts as not idle. */
  | { readonly kind: "unknown"; readonly why: string };

/** What is remembered of a pod's use and its people. */
export type ActivityRow = Pick<
  PodRow,
  | "up_since"
  | "active_at"
  | "active_why"
  | "gpu_percent"
  | "cpu_percent"
  | "use_at"
  | "use_since"
  | "presence_at"
  | "presence_since"
  | "presence_error"
>;

/**
 * Judges what is remembered. Both kinds of report must be fresh and without a gap from the beginning of the idle time on;
 * sessions are not looked at.
 */
export function idleness(now: number, pod: ActivityRow, settings: OrgSettings, hasRunningJob: boolean): Idleness {
  if (hasRunningJob) return { kind: "busy", why: "A job runs on it" };
  const unknown = unknownWhy(now, pod);
  if (unknown !== null) return { kind: "unknown", why: unknown };
  const busy = busyWhy(pod.gpu_percent, pod.cpu_percent, settings);
  if (busy !== null) return { kind: "busy", why: `It is in use: ${busy}` };
  const moments: [number | null, string][] = [
    [pod.up_since, "it is up"],
    [pod.use_since, "RunPod reports its use"],
    [pod.presence_since, "it is known who is on it"],
    [pod.active_at, `it was last in use (${pod.active_why ?? "it is not known by what"})`],
  ];
  const [since, what] = moments.reduce((last, one) => (one[0] ?? 0) >= (last[0] ?? 0) ? one : last);
  return { kind: "idle", since: since ?? now, why: `Idle counts from ${isoTime(since ?? now)}, since when ${what}` };
}

function unknownWhy(now: number, pod: ActivityRow): string | null {
  if (pod.up_since === null) return "It is not known since when it is up";
  if (pod.presence_error !== null) return `Who is on it cannot be read: ${pod.presence_error}`;
  if (!isFresh(now, pod.presence_at, PRESENCE_GAP_MS) || pod.presence_since === null) {
    return pod.presence_at === null
      ? "Who is on it was not read yet"
      : `Who is on it was not read since ${isoTime(pod.presence_at)}`;
  }
  if (!isFresh(now, pod.use_at, USE_GAP_MS) || pod.use_since === null) {
    return pod.use_at === null
      ? "RunPod has not reported how busy it is"
      : `RunPod has not reported since ${isoTime(pod.use_at)} how busy it is`;
  }
  return null;
}

/** A time ahead of the clock is left from a clock that was wrong. */
function isFresh(now: number, at: number | null, gapMs: number): boolean {
  return at !== null && at <= now && now - at <= gapMs;
}
