import { shortTime } from "./text.ts";

/** The most characters of a cell that tells details. */
const MOST = 100;
/** What lies deeper in details is not told. */
const DEEPEST = 8;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)$/;

/** Details of an event or of an audit row as people read them in a table: names and values, never JSON, cut at 100. */
export function detailText(details: Readonly<Record<string, unknown>>): string {
  return cut(namesAndValues(details, utc));
}

/** A text in a cell: what is left out at its end is shown by `…`. */
export function cut(text: string): string {
  const points = Array.from(text);
  return points.length > MOST ? `${points.slice(0, MOST - 1).join("")}…` : text;
}

/** How a time of the API (ISO, UTC) is written. */
type TimeText = (iso: string) => string;

const utc: TimeText = (iso) => shortTime(iso)!;

/** The details that say something, by their names in words, whole. */
export function detailParts(
  details: Readonly<Record<string, unknown>>,
  timeText: TimeText = utc,
  depth = 0,
): (readonly [name: string, value: string])[] {
  return Object.entries(details).map(([name, value]) =>
    // What was changed is named by settings; other texts may be names of people's own.
    [name.replaceAll("_", " "), (name === "changed" ? words : valueText)(value, timeText, depth)] as const
  )
    .filter(([, value]) => value !== "");
}

function words(value: unknown, timeText: TimeText, depth: number): string {
  const text = valueText(value, timeText, depth);
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? text.replaceAll("_", " ") : text;
}

function namesAndValues(details: Readonly<Record<string, unknown>>, timeText: TimeText, depth = 0): string {
  return detailParts(details, timeText, depth).map(([name, value]) => `${name}: ${value}`).join("; ");
}

function valueText(value: unknown, timeText: TimeText, depth: number): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return TIME.test(value) ? timeText(value) : value;
  // Some rows of the audit hold a time as its milliseconds.
  if (typeof value === "number" && value > 1e12 && value <= 8.64e15) return timeText(new Date(value).toISOString());
  if (typeof value !== "object") return String(value);
  if (depth === DEEPEST) return "…";
  if (Array.isArray(value)) {
    return value.map((item) => itemText(item, timeText, depth + 1)).filter((text) => text !== "").join(", ");
  }
  const inner = namesAndValues(value as Record<string, unknown>, timeText, depth + 1);
  return inner === "" ? "" : `(${inner})`;
}

/** A session with its times is read more often than anything else in a list. */
function itemText(item: unknown, timeText: TimeText, depth: number): string {
  if (typeof item !== "object" || item === null || !("start_at" in item) || !("stop_at" in item)) {
    return valueText(item, timeText, depth);
  }
  const id = "id" in item ? `${item.id} ` : "";
  return `${id}(${valueText(item.start_at, timeText, depth)} to ${valueText(item.stop_at, timeText, depth)})`;
}
