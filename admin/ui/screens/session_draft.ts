/**
 * What the forms of sessions make of what stands in them: the body for the server, its mistakes by the server's own rules,
 * and how the times were understood. It loads the rules of the world's clocks: import it only for a form.
 */
import { z } from "zod";
import { DAY, HOUR, MINUTE } from "../../../server/clock.ts";
import { AppError, shown } from "../../../server/errors.ts";
import { instantOf, localTimeAt, readLocalTime, zoneNamed } from "../../../server/schedule/local_time.ts";
import { seriesOf } from "../../../server/schedule/series.ts";
import {
  checkChange,
  checkNewSession,
  MOST_OPEN,
  type newSessionSchema,
  readChange,
  type sessionChangeSchema,
} from "../../../server/schedule/session_rules.ts";
import { flagTime, wallTime } from "../../commands/session_times.ts";
import { typedTime } from "../../commands/typed_time.ts";
import type { Session } from "../data/pods.ts";
import type { Values } from "../widgets/form/fields.ts";

export type NewBody = z.input<typeof newSessionSchema>;
export type ChangeBody = z.input<typeof sessionChangeSchema>;

/** A form that was read: `body` is null while it has a mistake. Times are milliseconds UTC. */
export interface Draft<B> {
  readonly body: B | null;
  readonly mistake: { readonly field: string | null; readonly sentence: string } | null;
  /** What is understood of the times, as far as they can be read: the sessions, and what may not be meant. */
  readonly windows: readonly { readonly startAt: number; readonly stopAt: number }[];
  readonly warnings: readonly string[];
  readonly zone: string | null;
}

/** The schema of a draft, for the form: its mistake stands at its field. */
export const draftSchema = z.custom<Draft<unknown>>().superRefine(({ mistake }, context) => {
  if (mistake === null) return;
  const path = mistake.field === null ? [] : [mistake.field];
  context.addIssue({ code: "custom", path, message: mistake.sentence });
});

/** A mistake at a field that the sentence itself does not name. */
class AtField extends Error {
  constructor(readonly field: string | null, sentence: string) {
    super(sentence);
  }
}

const textIn = (values: Values, name: string) => String(values[name] ?? "");

/** A time as the forms take it: `2026-11-30 14:00`, with its offset only where the clocks show that twice and it is the second. */
export function wallText(ms: number, zone: string): string {
  const local = localTimeAt(floored(ms), zone);
  if (instantOf(local, zone) !== floored(ms)) return flagTime(new Date(ms).toISOString(), zone);
  return local.toString({ smallestUnit: "minute" }).replace("T", " ");
}

/** The next full hour on the wall of a zone. */
export function nextHour(now: number, zone: string): number {
  const local = localTimeAt(now, zone).round({ smallestUnit: "hour", roundingMode: "floor" });
  return instantOf(local.add({ hours: 1 }), zone);
}

/** How a stop is proposed: `16:00` where that is read as the same moment again, else with its day. */
export function proposedStop(startAt: number, stopAt: number, zone: string): string {
  const whole = wallText(stopAt, zone);
  const clock = localTimeAt(stopAt, zone).toPlainTime().toString({ smallestUnit: "minute" });
  return typedTime("stop_at", clock, zone, { now: startAt, after: startAt }).iso ===
      new Date(floored(stopAt)).toISOString()
    ? clock
    : whole;
}

/** Forms show minutes, so what lies within one is the same time. */
const floored = (ms: number) => Math.floor(ms / MINUTE) * MINUTE;

function zoneIn(values: Values): string {
  const text = textIn(values, "time_zone");
  const zone = zoneNamed(text);
  if (zone === null) {
    throw new AtField("time_zone", `time_zone is not the name of a time zone, such as America/Phoenix: ${shown(text)}`);
  }
  return zone;
}

const note = (name: "Start" | "Stop", warning: string | null) => warning === null ? [] : [`${name}: ${warning}`];

/** A new session, or a series of them. */
export function newDraft(values: Values, now: number): Draft<NewBody> {
  return draftOf((found) => {
    const zone = found.zone = zoneIn(values);
    const start = typedTime("start_at", textIn(values, "start_at"), zone, { now, after: now });
    const startAt = Date.parse(start.iso);
    const stop = typedTime("stop_at", textIn(values, "stop_at"), zone, { now, after: startAt });
    found.warnings.push(...note("Start", start.warning), ...note("Stop", stop.warning));
    found.windows = [{ startAt, stopAt: Date.parse(stop.iso) }];
    const body: NewBody = {
      start_at: start.iso,
      stop_at: stop.iso,
      ...(values.title === undefined ? {} : { title: textIn(values, "title") }),
      over_budget: values.over_budget === true,
      on_gpu_taken: textIn(values, "on_gpu_taken") as NonNullable<NewBody["on_gpu_taken"]>,
      ...(values.series === "once" ? {} : { repeat: repeatIn(values, startAt, zone) }),
    };
    const { repeat } = checkNewSession(body, now);
    if (repeat !== null) {
      const series = seriesOf(found.windows[0]!, repeat);
      found.windows = series.windows;
      found.warnings.push(...series.warnings);
    }
    return body;
  });
}

function repeatIn(values: Values, startAt: number, zone: string): NonNullable<NewBody["repeat"]> {
  const everyWeeks = values.every_weeks as number;
  const isCounted = values.series === "count";
  const count = isCounted ? values.count as number : countUntil(textIn(values, "until"), startAt, everyWeeks, zone);
  return { every_weeks: everyWeeks, count, time_zone: zone };
}

/** How many sessions of a series begin on a day or before it. */
function countUntil(until: string, startAt: number, everyWeeks: number, zone: string): number {
  const last = readLocalTime(`${until} 00:00`);
  if (last === null) throw new AtField("until", `until must be a day such as 2026-12-20: ${shown(until)}`);
  const first = localTimeAt(startAt, zone).toPlainDate();
  const days = Math.round((instantOf(last, "UTC") - Date.parse(`${first}T00:00Z`)) / DAY);
  if (days < 0) throw new AtField("until", `until must not be before the first session: ${shown(until)}`);
  if (!Number.isInteger(everyWeeks) || everyWeeks < 1) return 1; // The rules of the server refuse those weeks.
  const count = Math.floor(days / (7 * everyWeeks)) + 1;
  if (count > MOST_OPEN) {
    throw new AtField("until", `until leaves room for ${count} sessions; a series has at most ${MOST_OPEN}`);
  }
  return count;
}

/** A change of a session: only what is different goes to the server, so that changes of others stay. */
export function changeDraft(values: Values, session: Session, now: number): Draft<ChangeBody> {
  return draftOf((found) => {
    const zone = found.zone = zoneIn(values);
    const before = { startAt: Date.parse(session.start_at), stopAt: Date.parse(session.stop_at) };
    const start = session.started ? null : typedTime("start_at", textIn(values, "start_at"), zone, { now, after: now });
    const startAt = start === null ? before.startAt : Date.parse(start.iso);
    const stop = typedTime("stop_at", textIn(values, "stop_at"), zone, { now, after: startAt });
    const stopAt = Date.parse(stop.iso);
    found.windows = [{ startAt, stopAt }];
    found.warnings.push(...note("Start", start?.warning ?? null), ...note("Stop", stop.warning));
    const title = values.title === undefined ? null : textIn(values, "title").trim();
    const body: ChangeBody = {
      ...(floored(startAt) === floored(before.startAt) ? {} : { start_at: start!.iso }),
      ...(floored(stopAt) === floored(before.stopAt) ? {} : { stop_at: stop.iso }),
      ...(title === session.title ? {} : { title }),
      ...(values.over_budget === session.over_budget ? {} : { over_budget: values.over_budget === true }),
      ...(values.on_gpu_taken === session.on_gpu_taken
        ? {}
        : { on_gpu_taken: values.on_gpu_taken as NonNullable<ChangeBody["on_gpu_taken"]> }),
    };
    if (Object.keys(body).length === 0) throw new AtField(null, "Nothing is different yet");
    const rows = {
      start_at: before.startAt,
      stop_at: before.stopAt,
      started: session.started ? 1 : 0,
      extended_minutes: session.extended_minutes,
    } as const;
    checkChange(rows, readChange(body), now);
    return body;
  });
}

interface Found {
  windows: Draft<unknown>["windows"];
  warnings: string[];
  zone: string | null;
}

/** Reads a form; what is understood until a mistake is kept. */
function draftOf<B>(read: (found: Found) => B): Draft<B> {
  const found: Found = { windows: [], warnings: [], zone: null };
  try {
    const body = read(found);
    return { ...found, body, mistake: null };
  } catch (error) {
    if (error instanceof AtField) {
      return { ...found, body: null, mistake: { field: error.field, sentence: error.message } };
    }
    if (!(error instanceof AppError)) throw error;
    // Only the rule about the length names no field.
    const [first = ""] = error.message.match(/start_at|stop_at|title|every_weeks|count|time_zone|on_gpu_taken/) ?? [];
    return { ...found, body: null, mistake: { field: first || "stop_at", sentence: error.message } };
  }
}

/** How the times were understood, in sentences. `costPerHour` in USD; null while it is not known. */
export function understood({ windows, zone }: Draft<unknown>, costPerHour: number | null): string[] {
  const [first] = windows;
  if (first === undefined || zone === null || first.stopAt <= first.startAt) return [];
  const at = (ms: number) => wallTime(new Date(ms).toISOString(), zone);
  const last = windows.at(-1)!;
  const hours = windows.reduce((sum, { startAt, stopAt }) => sum + (stopAt - startAt) / HOUR, 0);
  return [
    `${at(first.startAt)} to ${at(first.stopAt)} (${zone})`,
    ...(windows.length === 1 ? [] : [`${windows.length} sessions, the last one ${at(last.startAt)}`]),
    ...(costPerHour === null
      ? []
      : [`About $${(hours * costPerHour).toFixed(2)} for ${Math.round(hours * 10) / 10} hours`]),
  ];
}
