import { AppError, shown } from "../../server/errors.ts";
import type { CountedFrom } from "./typed_time.ts";

/** The zone of this machine. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A time of the API on the wall of a zone, as `Thu 2026-09-03 18:00 MST`. */
export function wallTime(iso: string, zone: string): string {
  const { weekday, year, month, day, hour, minute, timeZoneName } = partsOf(iso, zone, "short");
  return `${weekday} ${year}-${month}-${day} ${hour}:${minute} ${timeZoneName}`;
}

/** From when until when on the wall of a zone, with the zone's name where the times do not say it already. */
export function wallSpan(from: string, to: string, zone: string): string {
  const name = partsOf(to, zone, "short").timeZoneName === zone ? "" : `, ${zone}`;
  return `${wallTime(from, zone)} to ${wallTime(to, zone)}${name}`;
}

/** A time of the API as a flag of the command line takes it back, on the wall of a zone: `2026-09-03T18:00-07:00`. */
export function flagTime(iso: string, zone: string): string {
  const { year, month, day, hour, minute, timeZoneName = "" } = partsOf(iso, zone, "longOffset");
  return `${year}-${month}-${day}T${hour}:${minute}${timeZoneName.replace("GMT", "") || "Z"}`;
}

/** A sentence of the API with its times on the wall of a zone. */
export function withWallTimes(sentence: string, zone: string): string {
  return sentence.replace(
    /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/g,
    (iso) => wallTime(iso, zone),
  );
}

function partsOf(iso: string, zone: string, zoneName: "short" | "longOffset"): Record<string, string> {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZoneName: zoneName,
  });
  return Object.fromEntries(format.formatToParts(new Date(iso)).map(({ type, value }) => [type, value]));
}

/** The zone that `--time-zone` names, in its usual spelling. Throws `AppError("usage")`. */
export async function zoneOf(name: string): Promise<string> {
  const { zoneNamed } = await import("../../server/schedule/local_time.ts");
  const zone = zoneNamed(name);
  if (zone !== null) return zone;
  throw new AppError("usage", `--time-zone is not the name of a time zone, such as America/Phoenix: ${shown(name)}`);
}

/** What may surprise in a zone: that it has no summer time although its name sounds so; null for most. */
export async function zoneWarning(zone: string): Promise<string | null> {
  return (await import("../../server/schedule/local_time.ts")).withoutSummerTime(zone);
}

/**
 * A time of the command line as the API takes it: with an offset as it is, without one on the wall of `zone`, also as
 * `18:00`, `today 18:00` and `tomorrow 18:00`. `warn` hears of a wall time that the clocks skip. Throws
 * `AppError("usage")`.
 */
export async function apiTime(
  flag: string,
  text: string,
  zone: string,
  from: CountedFrom,
  warn: (warning: string) => Promise<void> = () => Promise.resolve(),
): Promise<string> {
  const { typedTime } = await import("./typed_time.ts");
  const typed = typedTime(flag, text, zone, from);
  if (typed.warning !== null) await warn(`${flag}: ${typed.warning}`);
  return typed.iso;
}

/** The same for the bounds of a list, where a day (`2026-09-03`) or a month (`2026-09`) means its beginning in `zone`. */
export async function boundTime(flag: string, text: string, zone: string, now: number): Promise<string> {
  const whole = /^\d{4}-\d\d$/.test(text) ? `${text}-01` : text;
  const time = /^\d{4}-\d\d-\d\d$/.test(whole) ? `${whole} 00:00` : text;
  return await apiTime(flag, time, zone, { now, after: now });
}
