import { AppError, shown } from "../../server/errors.ts";
import { readIsoTime } from "../../server/schedule/iso_time.ts";

/** The zone of this machine. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A time of the API on the wall of a zone, as `Thu 2026-09-03 18:00 MST`. */
export function wallTime(iso: string, zone: string): string {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  });
  const part = Object.fromEntries(format.formatToParts(new Date(iso)).map(({ type, value }) => [type, value]));
  const { weekday, year, month, day, hour, minute, timeZoneName } = part;
  return `${weekday} ${year}-${month}-${day} ${hour}:${minute} ${timeZoneName}`;
}

/** The zone that `--time-zone` names, in its usual spelling. Throws `AppError("usage")`. */
export async function zoneOf(name: string): Promise<string> {
  const { zoneNamed } = await import("../../server/schedule/local_time.ts");
  const zone = zoneNamed(name);
  if (zone !== null) return zone;
  throw new AppError("usage", `--time-zone is not the name of a time zone, such as America/Phoenix: ${shown(name)}`);
}

/**
 * A time of the command line as the API takes it: with an offset as it is, without one as the wall time of `zone`. Throws
 * `AppError("usage")` where neither can be.
 */
export async function apiTime(flag: string, text: string, zone: string | undefined): Promise<string> {
  const read = readIsoTime(text.replace(" ", "T"));
  if (read.kind === "time") return new Date(read.ms).toISOString();
  if (read.kind === "no_zone" && zone === undefined) {
    throw new AppError(
      "usage",
      `${flag} needs an offset, such as ${shown(text)}-07:00, or --time-zone: ${shown(text)}`,
    );
  }
  if (read.kind === "no_zone" && zone !== undefined) {
    const { instantOf, readLocalTime } = await import("../../server/schedule/local_time.ts");
    const local = readLocalTime(text);
    if (local !== null) return new Date(instantOf(local, zone)).toISOString();
  }
  throw new AppError(
    "usage",
    `${flag} must be a time such as "2026-09-03 18:00" or 2026-09-03T18:00-07:00: ${shown(text)}`,
  );
}
