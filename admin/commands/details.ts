import { shortTime } from "./text.ts";

/** The most characters of a cell that tells details. */
const MOST = 100;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)$/;

/** Details of an event or of an audit row as people read them in a table: names and values, never JSON, cut at 100. */
export function detailText(details: Readonly<Record<string, unknown>>): string {
  return cut(namesAndValues(details));
}

/** A text in a cell: what is left out at its end is shown by `…`. */
export function cut(text: string): string {
  const points = Array.from(text);
  return points.length > MOST ? `${points.slice(0, MOST - 1).join("")}…` : text;
}

function namesAndValues(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details).map(([name, value]) => [name.replaceAll("_", " "), valueText(value)])
    .filter(([, value]) => value !== "").map(([name, value]) => `${name}: ${value}`).join("; ");
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return TIME.test(value) ? shortTime(value)! : value;
  // Some rows of the audit hold a time as its milliseconds.
  if (typeof value === "number" && value > 1e12) return shortTime(new Date(value).toISOString())!;
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.map(itemText).filter((text) => text !== "").join(", ");
  const inner = namesAndValues(value as Record<string, unknown>);
  return inner === "" ? "" : `(${inner})`;
}

/** A session with its times is read more often than anything else in a list. */
function itemText(item: unknown): string {
  if (typeof item !== "object" || item === null || !("start_at" in item) || !("stop_at" in item)) {
    return valueText(item);
  }
  const id = "id" in item ? `${item.id} ` : "";
  return `${id}(${valueText(item.start_at)} to ${valueText(item.stop_at)})`;
}
