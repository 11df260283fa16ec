/** Money, times, durations and sizes as officers read them. */
import { DAY, HOUR, MINUTE, SECOND } from "../../../server/clock.ts";

/** USD with two decimals, three under ten cents: `$0.34`, `$0.056`. */
export function money(usd: number): string {
  const sign = usd < 0 ? "-" : "";
  const value = Math.abs(usd);
  return `${sign}$${value.toFixed(value > 0 && value < 0.1 ? 3 : 2)}`;
}

/** USD per hour: `$0.34/hr`. */
export function rate(usdPerHour: number | null): string {
  return usdPerHour === null ? "?" : `${money(usdPerHour)}/hr`;
}

/** A duration in milliseconds: `45 s`, `12 min`, `2h 05m`, `3 days`. */
export function duration(ms: number): string {
  const value = Math.max(0, ms);
  if (value < MINUTE) return `${Math.floor(value / SECOND)} s`;
  if (value < HOUR) return `${Math.floor(value / MINUTE)} min`;
  if (value < 2 * DAY) {
    return `${Math.floor(value / HOUR)}h ${String(Math.floor(value % HOUR / MINUTE)).padStart(2, "0")}m`;
  }
  return `${Math.floor(value / DAY)} days`;
}

/** The same in one unit, for narrow columns: `45s`, `12m`, `2h`, `3d`. */
export function shortDuration(ms: number): string {
  const value = Math.max(0, ms);
  if (value < MINUTE) return `${Math.floor(value / SECOND)}s`;
  if (value < HOUR) return `${Math.floor(value / MINUTE)}m`;
  if (value < 2 * DAY) return `${Math.floor(value / HOUR)}h`;
  return `${Math.floor(value / DAY)}d`;
}

/** How long ago a time of the API was: `3 days ago`; `now` under a minute. */
export function ago(iso: string, now: number): string {
  const past = now - Date.parse(iso);
  return past < MINUTE ? "now" : `${duration(past)} ago`;
}

/** Bytes: `812 B`, `4.2 KB`, `1.3 GB`; powers of 1,000. */
export function size(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Bytes per second: `12.4 MB/s`. */
export function speed(bytesPerSecond: number): string {
  return `${size(bytesPerSecond)}/s`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Stands where a server that is broken, or hostile, sends no time. */
const NO_TIME = "(no time)";
const isTime = (ms: number) => Math.abs(ms) <= 8.64e15;

function partsOf(ms: number, zone: string): Record<string, string> {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      weekday: "short",
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      timeZoneName: "short",
    });
    formats.set(zone, format);
  }
  return Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
}

/** A time in the zone of the officer: `18:00` on the same day, `Mon 7 Dec 18:00`, with the year in another year. */
export function localTime(iso: string | number, zone: string, now: number): string {
  const ms = typeof iso === "number" ? iso : Date.parse(iso);
  if (!isTime(ms)) return NO_TIME;
  const [at, today] = [partsOf(ms, zone), partsOf(now, zone)];
  const clock = `${at.hour}:${at.minute}`;
  if (at.year !== today.year) return `${at.day} ${at.month} ${at.year} ${clock}`;
  return at.day === today.day && at.month === today.month ? clock : `${at.weekday} ${at.day} ${at.month} ${clock}`;
}

/** So far from now a month names only one year. */
const NEAR = 300 * DAY;

/** A time in a calendar: `today 18:00`, `Mon 7 Dec 18:00`, with the year where it is far away. */
export function calendarTime(iso: string, zone: string, now: number): string {
  const ms = Date.parse(iso);
  if (!isTime(ms)) return NO_TIME;
  const [at, today] = [partsOf(ms, zone), partsOf(now, zone)];
  const clock = `${at.hour}:${at.minute}`;
  if (Math.abs(ms - now) > NEAR) return `${at.day} ${at.month} ${at.year} ${clock}`;
  const isToday = at.day === today.day && at.month === today.month;
  return isToday ? `today ${clock}` : `${at.weekday} ${at.day} ${at.month} ${clock}`;
}

/** The clock of the header: `18:05 GMT-7`. */
export function clockText(now: number, zone: string): string {
  const { hour, minute, timeZoneName } = partsOf(now, zone);
  return `${hour}:${minute} ${timeZoneName}`;
}

/** A day in the zone of the officer: `7 Dec 2026`. */
export function dayText(ms: number, zone: string): string {
  if (!isTime(ms)) return NO_TIME;
  const { day, month, year } = partsOf(ms, zone);
  return `${day} ${month} ${year}`;
}
