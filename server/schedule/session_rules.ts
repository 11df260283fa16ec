import { z } from "zod";
import type { SessionChange, SessionRow } from "../../db/stores/sessions.ts";
import { HOUR, MINUTE } from "../clock.ts";
import { AppError } from "../errors.ts";
import { readIsoTime } from "./iso_time.ts";

/** The longest a session may be planned for; what it is extended by comes on top. */
export const LONGEST_MS = 24 * HOUR;
/** Unfinished sessions of one pod. */
export const MOST_OPEN = 100;
/** Minutes by which one session may be extended, in all (decision 38). */
export const MOST_EXTENSION = 120;
const MOST_TITLE = 200;

export type OnGpuTaken = "wait" | "fresh_pod";

/** The same local time again, every so many weeks, in a zone that the caller named. */
export interface Repeat {
  readonly everyWeeks: number;
  /** How many sessions in all, the first one included. */
  readonly count: number;
  readonly timeZone: string;
}

/** A session as an officer asks for it. Times are milliseconds UTC. */
export interface WantedSession {
  readonly title: string | null;
  readonly startAt: number;
  readonly stopAt: number;
  readonly overBudget: boolean;
  readonly onGpuTaken: OnGpuTaken;
  readonly repeat: Repeat | null;
}

// The schemas hold the names and the types for clients. What values are checked for, and in which order, is contract
// section 8.2 and stands in the functions below: a schema would check a title before it knows the time.
const fields = {
  title: z.custom<string | null>().optional(),
  over_budget: z.custom<boolean>().optional(),
  on_gpu_taken: z.custom<OnGpuTaken>().optional(),
};
const repeatBody = z.custom<{ every_weeks: number; count: number; time_zone: string }>();
const NOT_A_TIME = "must be an ISO 8601 time with a timezone";
const wantedTime = (name: string) => z.custom<string>((value) => value !== undefined, `${name} ${NOT_A_TIME}`);

/** Body of `POST /pods/<id>/sessions`. */
export const newSessionSchema = z.strictObject({
  start_at: wantedTime("start_at"),
  stop_at: wantedTime("stop_at"),
  ...fields,
  repeat: repeatBody.optional(),
});
export const NO_SESSION = "Send start_at and stop_at";

/** Body of `PUT /pods/<id>/sessions/<session>`. */
export const sessionChangeSchema = z.strictObject({
  start_at: z.custom<string>().optional(),
  stop_at: z.custom<string>().optional(),
  ...fields,
});
export const NO_CHANGE = "Send title, start_at, stop_at, over_budget or on_gpu_taken";

const MINUTES = `minutes must be a whole number from 1 to ${MOST_EXTENSION}`;
/** Body of `POST /pods/<id>/sessions/<session>/extend`. */
export const extendSchema = z.strictObject({
  minutes: z.int(MINUTES).min(1, MINUTES).max(MOST_EXTENSION, MINUTES),
});

const refuse = (sentence: string) => new AppError("invalid_request", sentence);

/** Checks a new session by the rules of contract section 8.2, in their order. Throws `invalid_request`. */
export function checkNewSession(body: z.output<typeof newSessionSchema>, now: number): WantedSession {
  const startAt = timeOf("start_at", body.start_at);
  const stopAt = timeOf("stop_at", body.stop_at);
  checkWindow(startAt, stopAt, now);
  return {
    startAt,
    stopAt,
    title: titleOf(body.title),
    overBudget: body.over_budget === undefined ? false : flagOf("over_budget", body.over_budget),
    onGpuTaken: body.on_gpu_taken === undefined ? "wait" : onGpuTakenOf(body.on_gpu_taken),
    repeat: body.repeat === undefined ? null : repeatOf(body.repeat),
  };
}

/** What a change asks for, each value by itself; how they fit the session is checked by `checkChange`. */
export function readChange(body: z.output<typeof sessionChangeSchema>): SessionChange {
  const change: SessionChange = {
    ...(body.start_at === undefined ? {} : { start_at: timeOf("start_at", body.start_at) }),
    ...(body.stop_at === undefined ? {} : { stop_at: timeOf("stop_at", body.stop_at) }),
    ...(body.title === undefined ? {} : { title: titleOf(body.title) }),
    ...(body.over_budget === undefined ? {} : { over_budget: flagOf("over_budget", body.over_budget) ? 1 : 0 }),
    ...(body.on_gpu_taken === undefined ? {} : { on_gpu_taken: onGpuTakenOf(body.on_gpu_taken) }),
  };
  if (Object.keys(change).length === 0) throw refuse(NO_CHANGE);
  return change;
}

/**
 * Checks the window that a session would have after a change; a change that leaves the times alone is always fine.
 * Throws `conflict` for another start of a session that has started, else as for a new session.
 */
export function checkChange(
  session: Pick<SessionRow, "start_at" | "stop_at" | "started" | "extended_minutes">,
  change: SessionChange,
  now: number,
): void {
  const startAt = change.start_at ?? session.start_at;
  const stopAt = change.stop_at ?? session.stop_at;
  if (startAt !== session.start_at && session.started === 1) {
    throw new AppError("conflict", "The session has started, so its start_at cannot be changed; change stop_at");
  }
  if (startAt === session.start_at && stopAt === session.stop_at) return;
  checkWindow(startAt, stopAt, now, session.extended_minutes * MINUTE);
}

function checkWindow(startAt: number, stopAt: number, now: number, extendedMs = 0): void {
  if (stopAt <= startAt) throw refuse("stop_at must be after start_at");
  if (stopAt - startAt > LONGEST_MS + extendedMs) throw refuse("A session can be at most 24 hours long");
  if (stopAt <= now) throw refuse("stop_at is in the past");
}

/** A time of a body or a query. Throws the contract's sentences. */
export function timeOf(name: string, value: unknown): number {
  const read = readIsoTime(value);
  if (read.kind === "time") return read.ms;
  throw refuse(
    read.kind === "no_zone" ? `${name} needs a timezone, such as -07:00 or Z` : `${name} ${NOT_A_TIME}`,
  );
}

/** Control and direction characters, and halves of characters: they would forge lines where the title is shown. */
const UNSHOWABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** Trimmed; an empty title is none. */
function titleOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const sentence = `title must be text of at most ${MOST_TITLE} characters`;
  if (typeof value !== "string") throw refuse(sentence);
  const title = value.trim();
  if ([...title].length > MOST_TITLE) throw refuse(sentence);
  if (UNSHOWABLE.test(title)) throw refuse("title must be one line without control characters");
  return title === "" ? null : title;
}

function flagOf(name: string, value: unknown): boolean {
  if (typeof value !== "boolean") throw refuse(`${name} must be true or false`);
  return value;
}

function onGpuTakenOf(value: unknown): OnGpuTaken {
  if (value !== "wait" && value !== "fresh_pod") throw refuse("on_gpu_taken must be wait or fresh_pod");
  return value;
}

function repeatOf(value: unknown): Repeat {
  const names = ["every_weeks", "count", "time_zone"];
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject || Object.keys(value).some((key) => !names.includes(key))) {
    throw refuse("repeat must be an object with every_weeks, count and time_zone");
  }
  const { every_weeks: everyWeeks, count, time_zone: timeZone } = value as Record<string, unknown>;
  if (!isWhole(everyWeeks, 52)) throw refuse("repeat.every_weeks must be a whole number from 1 to 52");
  if (!isWhole(count, MOST_OPEN)) throw refuse(`repeat.count must be a whole number from 1 to ${MOST_OPEN}`);
  if (typeof timeZone !== "string") {
    throw refuse("repeat.time_zone must be the name of a time zone, such as America/Phoenix");
  }
  return { everyWeeks, count, timeZone };
}

function isWhole(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max;
}
