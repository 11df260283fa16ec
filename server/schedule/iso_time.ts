const SHAPE = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;
const OFFSET = /^([+-])(\d\d):?(\d\d)?$/;

/** Years outside are slips of the keyboard. */
const FIRST_YEAR = 2000;
const LAST_YEAR = 2199;

/** A time as people and programs send it: what it says, or what is wrong with it. */
export type ReadTime =
  | { readonly kind: "time"; readonly ms: number }
  | { readonly kind: "no_zone" }
  | { readonly kind: "not_a_time" };

const NOT_A_TIME: ReadTime = { kind: "not_a_time" };

/**
 * Reads an ISO 8601 date and time with an offset or `Z`: seconds and their fraction may be left out, days and hours must
 * exist (no 30 February, no 24:00, no leap second), years are 2000 to 2199. Fractions are cut to milliseconds.
 */
export function readIsoTime(value: unknown): ReadTime {
  const found = typeof value === "string" && value.length <= 40 ? SHAPE.exec(value) : null;
  if (found === null) return NOT_A_TIME;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((digits) => Number(digits ?? 0)) as SixNumbers;
  if (year < FIRST_YEAR || year > LAST_YEAR || minute > 59 || second > 59) return NOT_A_TIME;
  const millis = Number((found[7] ?? "").slice(0, 3).padEnd(3, "0"));
  const local = new Date(Date.UTC(year, month - 1, day, hour, minute, second, millis));
  // A day or an hour that does not exist rolls over into another day.
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return NOT_A_TIME;
  if (found[8] === undefined) return { kind: "no_zone" };
  const offset = offsetMinutes(found[8]);
  return offset === null ? NOT_A_TIME : { kind: "time", ms: local.getTime() - offset * 60_000 };
}

type SixNumbers = [number, number, number, number, number, number];

/** Minutes east of Greenwich; null for an offset that no clock can have. */
function offsetMinutes(text: string): number | null {
  if (text.toUpperCase() === "Z") return 0;
  const [, sign, hours, minutes] = OFFSET.exec(text) ?? [];
  if (Number(hours) > 23 || Number(minutes ?? 0) > 59) return null;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes ?? 0));
}
