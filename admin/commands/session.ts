import { systemClock } from "../../server/clock.ts";
import { AppError, shown } from "../../server/errors.ts";
import { type Api, read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import { flagWords } from "./flag_words.ts";
import {
  apiTime,
  boundTime,
  flagTime,
  ownZone,
  wallSpan,
  wallTime,
  withWallTimes,
  zoneOf,
  zoneWarning,
} from "./session_times.ts";
import type { Shell } from "./shell.ts";
import { plain, table } from "./text.ts";

type SessionView = Awaited<
  ReturnType<Awaited<ReturnType<Api["org"]["sessions"]["$get"]>>["json"]>
>["sessions"][number];

export type OnGpuTaken = "wait" | "fresh_pod";

export interface ListFlags {
  readonly limit: number;
  readonly before?: number;
  readonly state?: SessionView["state"];
  readonly from?: string;
  readonly to?: string;
  readonly timeZone?: string;
}

export interface TimeFlags {
  readonly start?: string;
  readonly stop?: string;
  readonly timeZone?: string;
}

interface RuleFlags {
  readonly title?: string;
  readonly overBudget?: boolean;
  readonly onGpuTaken?: OnGpuTaken;
}

export type AddFlags = TimeFlags & RuleFlags & {
  readonly start: string;
  readonly stop: string;
  readonly weekly?: number;
  readonly count?: number;
};

export type EditFlags = TimeFlags & RuleFlags;

/** `orgpods session list [pod]`: of one pod all sessions ever, of the whole organization those of the last day and later. */
export async function listSessions(shell: Shell, pod: string | undefined, flags: ListFlags): Promise<void> {
  const zone = flags.timeZone === undefined ? ownZone() : await zoneOf(flags.timeZone);
  if (pod !== undefined) return await listOfPod(shell, pathPart(pod, "The pod's id"), flags, zone);
  if (flags.before !== undefined) throw new AppError("usage", "--before is for one pod: name it");
  const bound = async (flag: string, text: string) => {
    const time = await boundTime(flag, text, zone, systemClock.now());
    await shell.say(`${flag}: ${wallTime(time, zone)}`);
    return time;
  };
  const query = {
    limit: String(flags.limit),
    ...(flags.state === undefined ? {} : { state: flags.state }),
    ...(flags.from === undefined ? {} : { from: await bound("--from", flags.from) }),
    ...(flags.to === undefined ? {} : { to: await bound("--to", flags.to) }),
  };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.sessions.$get({ param: { org }, query }));
    const { sessions, more } = answer.value;
    if (sessions.length === 0) await shell.say("No sessions.");
    await shell.result(answer, ({ sessions }) => describe(sessions, zone));
    await sayWhatToDo(shell, sessions, zone);
    if (more) {
      const from = flagTime(sessions.at(-1)!.start_at, zone);
      await shell.say(`These are the first ${sessions.length}, by start; later ones: --from ${from}`);
    }
  });
}

async function listOfPod(shell: Shell, id: string, flags: ListFlags, zone: string): Promise<void> {
  if (flags.state !== undefined || flags.from !== undefined || flags.to !== undefined) {
    throw new AppError("usage", "--state, --from and --to are for the whole organization: name no pod");
  }
  const query = {
    limit: String(flags.limit),
    ...(flags.before === undefined ? {} : { before: String(flags.before) }),
  };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.pods[":id"].sessions.$get({ param: { org, id }, query }));
    const { sessions } = answer.value;
    if (sessions.length === 0) await shell.say("No sessions.");
    await shell.result(answer, ({ sessions }) => describe(sessions, zone));
    await sayWhatToDo(shell, sessions, zone);
    if (sessions.length === flags.limit) {
      await shell.say(`These are the last ${sessions.length}, by start; earlier ones: --before ${sessions[0]!.id}`);
    }
  });
}

function describe(sessions: readonly SessionView[], zone: string): string {
  return sessions.length === 0 ? "" : table(
    ["ID", "POD", "NAME", "START", "STOP", "STATE", "SERIES", "TITLE", "ERROR"],
    sessions.map((session) => [
      session.id,
      session.pod_id,
      session.pod_name,
      wallTime(session.start_at, zone),
      wallTime(session.stop_at, zone),
      session.state,
      session.series_id?.slice(0, 6) ?? null,
      session.title,
      session.error === null ? null : sentenceIn(session.error, zone),
    ]),
  );
}

/** A sentence of the API as a person at this command line reads it. */
const sentenceIn = (sentence: string, zone: string) => flagWords(withWallTimes(sentence, zone));

async function sayWhatToDo(shell: Shell, sessions: readonly SessionView[], zone: string): Promise<void> {
  for (const { id, todo } of sessions) {
    if (todo !== null) await shell.say(`session ${id}: ${sentenceIn(todo, zone)}`);
  }
}

/** `orgpods session add`: prints the numbers of the new sessions, and says which times were understood. */
export async function addSession(shell: Shell, pod: string, flags: AddFlags): Promise<void> {
  const id = pathPart(pod, "The pod's id");
  const repeat = await repeatOf(flags);
  const { start_at, stop_at } = await timesOf(shell, flags, () => Promise.resolve(systemClock.now()));
  const json = {
    start_at: start_at!,
    stop_at: stop_at!,
    ...rulesOf(flags),
    ...(repeat === null ? {} : { repeat }),
  };
  const zone = flags.timeZone === undefined ? ownZone() : await zoneOf(flags.timeZone);
  // Of the zone of a series the server warns by itself.
  if (repeat === null) await warnOfZone(shell, flags);
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.pods[":id"].sessions.$post({ param: { org, id }, json }));
    const made = sessionsIn(answer.value);
    for (const session of made) await shell.say(understood(session, zone));
    await shell.result(answer, () => made.map((session) => session.id).join("\n"));
  });
}

function sessionsIn(answer: { session: SessionView; sessions?: SessionView[] | undefined }): SessionView[] {
  return answer.sessions ?? [answer.session];
}

async function repeatOf(flags: AddFlags) {
  if (flags.weekly === undefined && flags.count === undefined) return null;
  if (flags.weekly === undefined || flags.count === undefined || flags.timeZone === undefined) {
    throw new AppError("usage", "A series needs --weekly, --count and --time-zone");
  }
  return { every_weeks: flags.weekly, count: flags.count, time_zone: await zoneOf(flags.timeZone) };
}

/** `orgpods session edit`: what is not named stays. */
export async function editSession(shell: Shell, pod: string, session: string, flags: EditFlags): Promise<void> {
  const param = { id: pathPart(pod, "The pod's id"), session: sessionNumber(session) };
  const startNow = async () => {
    let start = 0;
    await withOrg(shell, async (api, org) => {
      const answer = await read(api.org.pods[":id"].sessions[":session"].$get({ param: { org, ...param } }));
      start = Date.parse(answer.value.session.start_at);
    });
    return start;
  };
  const json = { ...await timesOf(shell, flags, startNow), ...rulesOf(flags) };
  if (Object.keys(json).length === 0) throw new AppError("usage", "Name what to change, such as --title or --stop");
  const zone = flags.timeZone === undefined ? ownZone() : await zoneOf(flags.timeZone);
  await warnOfZone(shell, flags);
  await withOrg(shell, async (api, org) => {
    const answer = await read(
      api.org.pods[":id"].sessions[":session"].$put({ param: { org, ...param }, json }),
    );
    await shell.say(understood(answer.value.session, zone));
    await shell.result(answer, (done) => String(done.session.id));
  });
}

/** `orgpods session extend`: puts the stop off. */
export async function extendSession(
  shell: Shell,
  pod: string,
  session: string,
  flags: { readonly minutes: number },
): Promise<void> {
  const param = { id: pathPart(pod, "The pod's id"), session: sessionNumber(session) };
  await withOrg(shell, async (api, org) => {
    const answer = await read(
      api.org.pods[":id"].sessions[":session"].extend.$post({ param: { org, ...param }, json: flags }),
    );
    await shell.say(understood(answer.value.session, ownZone()));
    await shell.result(answer, (done) => String(done.session.id));
  });
}

/** `orgpods session remove`: one that runs ends now. Prints the numbers of all that were taken away. */
export async function removeSession(
  shell: Shell,
  pod: string,
  session: string,
  flags: { readonly series?: boolean },
): Promise<void> {
  const param = { id: pathPart(pod, "The pod's id"), session: sessionNumber(session) };
  const query = flags.series ? { series: "true" as const } : {};
  await withOrg(shell, async (api, org) => {
    const answer = await read(
      api.org.pods[":id"].sessions[":session"].$delete({ param: { org, ...param }, query }),
    );
    await shell.result(answer, ({ deleted, sessions = [deleted] }) => sessions.join("\n"));
  });
}

/** The number of a session as a path takes it. */
function sessionNumber(word: string): string {
  if (/^[1-9]\d{0,14}$/.test(word)) return word;
  throw new AppError("usage", `<session> must be the number of a session, as session list shows it: ${shown(word)}`);
}

/** `startNow` asks for the start that stays: a stop as a clock time alone is the first one after the start. */
async function timesOf(
  shell: Shell,
  flags: TimeFlags,
  startNow: () => Promise<number>,
): Promise<{ start_at?: string; stop_at?: string }> {
  const zone = flags.timeZone === undefined ? ownZone() : await zoneOf(flags.timeZone);
  const warn = (warning: string) => shell.say(`warning: ${warning}`);
  const now = systemClock.now();
  const times: { start_at?: string; stop_at?: string } = {};
  if (flags.start !== undefined) {
    times.start_at = await apiTime("--start", flags.start, zone, { now, after: now }, warn);
  }
  if (flags.stop !== undefined) {
    const { isClockTime } = await import("./typed_time.ts");
    const start = times.start_at === undefined ? null : Date.parse(times.start_at);
    const after = start ?? (isClockTime(flags.stop) ? await startNow() : now);
    times.stop_at = await apiTime("--stop", flags.stop, zone, { now, after }, warn);
  }
  return times;
}

async function warnOfZone(shell: Shell, flags: TimeFlags): Promise<void> {
  const warning = flags.timeZone === undefined ? null : await zoneWarning(await zoneOf(flags.timeZone));
  if (warning !== null) await shell.say(`warning: ${warning}`);
}

function rulesOf(flags: RuleFlags) {
  return {
    ...(flags.title === undefined ? {} : { title: flags.title }),
    ...(flags.overBudget === undefined ? {} : { over_budget: flags.overBudget }),
    ...(flags.onGpuTaken === undefined ? {} : { on_gpu_taken: flags.onGpuTaken }),
  };
}

function understood(session: SessionView, zone: string): string {
  const title = session.title === null ? "" : ` (${plain(session.title)})`;
  return `Session ${session.id}${title} of ${plain(session.pod_name)}: ${
    wallSpan(session.start_at, session.stop_at, zone)
  }.`;
}
