import { z } from "zod";
import type { PodRow } from "../../db/stores/pods.ts";
import { DAY, HOUR, MINUTE } from "../clock.ts";
import { MAX_IDLE_MINUTES, MAX_RUN_HOURS, type OrgSettings } from "../identity/org_settings.ts";

/** A pod's own rule: null takes the org's, 0 switches it off. */
const ownRule = (name: string, min: number, max: number) => {
  const sentence =
    `${name} must be a whole number from ${min} to ${max}, 0 for never, or null for the organization's rule`;
  return z.union([z.number(), z.null()], sentence).refine(
    (value) => value === null || value === 0 || Number.isInteger(value) && value >= min && value <= max,
    sentence,
  );
};

export const ownAutoStopSchema = ownRule("auto_stop_after_minutes", 5, MAX_IDLE_MINUTES);
export const ownMaxRunSchema = ownRule("max_run_hours", 1, MAX_RUN_HOURS);

/** How long a pod must be idle before it is stopped; null when that rule is off. */
export function idleMs(pod: Pick<PodRow, "auto_stop_after_minutes">, settings: OrgSettings): number | null {
  const minutes = pod.auto_stop_after_minutes ?? settings.auto_stop_after_minutes;
  return minutes === null || minutes === 0 ? null : minutes * MINUTE;
}

/** How long one run of a pod may last; null when that rule is off. */
export function maxRunMs(pod: Pick<PodRow, "max_run_hours">, settings: OrgSettings): number | null {
  const hours = pod.max_run_hours ?? settings.max_run_hours;
  return hours === null || hours === 0 ? null : hours * HOUR;
}

/** The longest that an officer may put stops off at once. */
export const LONGEST_KEEP_MS = DAY;

/** Until when an officer keeps the pod up; null when that is over. Further ahead it is left from a clock that was wrong. */
export function keptUntil(now: number, { keep_until: until }: Pick<PodRow, "keep_until">): number | null {
  return until === null || until <= now || until > now + LONGEST_KEEP_MS ? null : until;
}
