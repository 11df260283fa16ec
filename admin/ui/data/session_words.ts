/** A session in the words that officers read, the same on every screen. */
import { MOST_EXTENSION } from "../../../server/schedule/session_rules.ts";
import { withWallTimes } from "../../commands/session_times.ts";
import type { Ui } from "../core/screen.ts";
import { type Span, span } from "../text/line.ts";
import { ago, calendarTime, duration } from "../text/units.ts";
import type { Fact } from "../widgets/facts.ts";
import type { Session } from "./pods.ts";

const MARKS: Readonly<Record<string, readonly [mark: string, tone: Span["tone"]]>> = {
  scheduled: ["○", undefined],
  starting: ["◐", "warn"],
  running: ["●", "good"],
  done: ["✓", "dim"],
  missed: ["!", "bad"],
  failed: ["!", "bad"],
};

/** The state with its mark: `● Running`; a `!` where the last try failed. */
export function sessionSpan({ state, error }: Session): Span {
  const word = state.charAt(0).toUpperCase() + state.slice(1);
  // A newer server may have states of its own.
  const [mark, tone] = error === null ? MARKS[state] ?? ["?", undefined] : ["!", "bad" as const];
  return span(`${mark} ${word}`, tone);
}

/** From when until when in the officer's zone: `Mon 7 Dec 18:00 to 20:00`. */
export function spanText(
  { start_at, stop_at }: Pick<Session, "start_at" | "stop_at">,
  { zone, now }: Pick<Ui, "zone" | "now">,
): string {
  return `${calendarTime(start_at, zone, now)} to ${stopText({ start_at, stop_at }, zone)}`;
}

/** When it stops, with the day where that is not the day it starts. */
export function stopText({ start_at, stop_at }: Pick<Session, "start_at" | "stop_at">, zone: string): string {
  return calendarTime(stop_at, zone, Date.parse(start_at)).replace("today ", "");
}

/** Whether the schedule may have started the pod for it: then its end stops the pod. */
export const hasBegun = ({ started, state }: Session) => started || state === "starting";

/** A stop is put off only once the session has begun; before that its times are changed. */
export const canExtend = (session: Session, now: number) =>
  !session.finished && session.pod_id !== null && (hasBegun(session) || Date.parse(session.start_at) <= now);

export const canChange = ({ finished, pod_id }: Session) => !finished && pod_id !== null;

/** The sessions of a series that are not over, from one of them on. */
export function restOfSeries(open: readonly Session[], from: Session): Session[] {
  if (from.series_id === null) return [];
  return open.filter((one) => one.series_id === from.series_id && one.start_at >= from.start_at);
}

/** What is known of a session, its failure first. `open` are the unfinished sessions of its pod, as far as they are known. */
export function sessionFacts(ui: Pick<Ui, "zone" | "now">, session: Session, open: readonly Session[]): Fact[] {
  const { zone, now } = ui;
  const length = Date.parse(session.stop_at) - Date.parse(session.start_at);
  const rest = restOfSeries(open, session).length;
  return [
    ["State", sessionSpan(session)],
    ["Why", session.error === null ? null : span(withWallTimes(session.error, zone), "bad")],
    ["Tried", session.error_at === null ? null : calendarTime(session.error_at, zone, now)],
    ["What to do", session.todo === null ? null : withWallTimes(session.todo, zone)],
    ["When", `${spanText(session, ui)} (${zone}), ${duration(length)}`],
    ["Pod", session.pod_name],
    ["Title", session.title],
    ["Extended", session.extended_minutes === 0 ? null : `${session.extended_minutes} of ${MOST_EXTENSION} minutes`],
    ["Series", session.series_id === null ? null : `one of a series; ${rest} from this one on are to come`],
    [
      "Budget",
      session.over_budget ? "starts even when the month's is spent" : "no start once the month's is spent",
    ],
    ["GPU taken", session.on_gpu_taken === "wait" ? "the start is tried again" : "a fresh pod takes its place"],
    ["Made", `${ago(session.created_at, now)}${session.created_by === null ? "" : ` by ${session.created_by}`}`],
    ["Number", String(session.id)],
  ];
}
