/** Wall-clock times of a place. The library behind it is heavy: import this file only where such a time is at hand. */
import { Temporal } from "temporal-polyfill";

/** A date and a time on the wall, without a zone. */
export type LocalTime = Temporal.PlainDateTime;

/** Letters first: `+07:00` and whole ISO times, which the library takes too, are no names of zones. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

/** The IANA zone of that name, in its usual spelling; null when there is none. */
export function zoneNamed(name: string): string | null {
  if (name.length > 64 || !ZONE_NAME.test(name)) return null;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** What the clocks of a zone show at an instant (milliseconds UTC). */
export function localTimeAt(ms: number, zone: string): LocalTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime();
}

/**
 * When the clocks of a zone show a local time, in milliseconds UTC (decision 38): where they show it twice, the first
 * time; where they skip it, the first moment after the gap.
 */
export function instantOf(local: LocalTime, zone: string): number {
  const earlier = local.toZonedDateTime(zone, { disambiguation: "earlier" });
  if (earlier.toPlainDateTime().equals(local)) return earlier.epochMilliseconds;
  // Before a gap, and so before the change that makes it.
  return earlier.getTimeZoneTransition("next")!.epochMilliseconds;
}

/** Says what becomes of a local time that the clocks of a zone skip; null for any other. */
export function skipped(local: LocalTime, zone: string): string | null {
  const at = localTimeAt(instantOf(local, zone), zone);
  if (at.equals(local)) return null;
  const time = (one: LocalTime) => one.toPlainTime().toString({ smallestUnit: "minute" });
  return `The clocks of ${zone} skip ${time(local)} on ${local.toPlainDate()}: ${time(at)} is taken in its place`;
}

/** Zones whose names are read as those of a place, and that are one offset all year. */
const FIXED: Readonly<Record<string, string>> = {
  EST: "America/New_York",
  MST: "America/Denver, or America/Phoenix for Arizona",
};

/** Says that a zone has no summer time although its name may be meant to; null for any other. */
export function withoutSummerTime(zone: string): string | null {
  const place = Object.hasOwn(FIXED, zone) ? FIXED[zone]! : null;
  return place === null ? null : `${zone} has no summer time; use ${place}`;
}

/** Reads `2026-09-03 18:00` (or with `T`, or with seconds) as a local time; null when it is none. */
export function readLocalTime(text: string): LocalTime | null {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?$/.test(text)) return null;
  try {
    return Temporal.PlainDateTime.from(text.replace(" ", "T"), { overflow: "reject" });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
