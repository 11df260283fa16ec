import { AppError, shown } from "../errors.ts";
import { instantOf, localTimeAt, skipped, withoutSummerTime, zoneNamed } from "./local_time.ts";
import { LONGEST_MS, type Repeat } from "./session_rules.ts";

/** From when until when a pod must run; milliseconds UTC. */
export interface Window {
  readonly startAt: number;
  readonly stopAt: number;
}

/** The windows of a series, and what its officer may not have meant. */
export interface Series {
  readonly windows: Window[];
  readonly warnings: string[];
}

/**
 * The windows of a series, the first as it was sent. "Thursdays 18:00 to 20:00" keeps both times on the wall, so that a
 * session over a change of the clocks is shorter or longer by that change. Only where nothing of it would be left (it
 * lies in a gap) does it keep its length. A time that the clocks skip is warned of, and so is a zone that is one offset all
 * year. Throws `invalid_request` for an unknown zone, and for a session that would be longer than 24 hours because the
 * clocks are put back in it.
 */
export function seriesOf(first: Window, repeat: Repeat): Series {
  const zone = zoneNamed(repeat.timeZone);
  if (zone === null) {
    throw new AppError(
      "invalid_request",
      `repeat.time_zone is not the name of a time zone: ${shown(repeat.timeZone)}. ` +
        "Send a name of the IANA list, such as America/Phoenix",
    );
  }
  const start = localTimeAt(first.startAt, zone);
  const stop = localTimeAt(first.stopAt, zone);
  const windows = [first];
  const warnings = [withoutSummerTime(zone)];
  for (let n = 1; n < repeat.count; n++) {
    const later = { weeks: n * repeat.everyWeeks };
    const startAt = instantOf(start.add(later), zone);
    const localStopAt = instantOf(stop.add(later), zone);
    const stopAt = localStopAt > startAt ? localStopAt : startAt + (first.stopAt - first.startAt);
    if (stopAt - startAt > LONGEST_MS) {
      throw new AppError(
        "invalid_request",
        `A session can be at most 24 hours long, and the one of ${start.add(later).toPlainDate()} would be longer: ` +
          `the clocks of ${zone} are put back in it`,
      );
    }
    windows.push({ startAt, stopAt });
    warnings.push(skipped(start.add(later), zone), skipped(stop.add(later), zone));
  }
  return { windows, warnings: warnings.filter((warning) => warning !== null) };
}
