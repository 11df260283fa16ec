import { DAY } from "../../../server/clock.ts";
import type { Reading } from "../core/cache.ts";
import { type At, defineScreen } from "../core/screen.ts";
import { podSessionsResource, type Session } from "../data/pods.ts";
import { sessionFacts, sessionSpan, stopText } from "../data/session_words.ts";
import { orgSessionsResource, partsOf, pastSessionsResource, pastSpan, scheduleResource } from "../data/sessions.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { calendarTime, dayText, duration } from "../text/units.ts";
import { factLines } from "../widgets/facts.ts";
import { listOf, type ListState, NEW_LIST } from "../widgets/list.ts";
import { drawReading } from "../widgets/reading.ts";
import type { TableSpec } from "../widgets/table.ts";
import { addSession, sessionActions } from "./session_actions.ts";
import type { PodOfSession } from "./session_form.ts";
import { sessionScreen } from "./session.ts";

/** The sessions of one pod, or of the whole org. */
export interface SessionsParams {
  readonly pod: PodOfSession | null;
}

interface State extends ListState {
  readonly isPast: boolean;
  /** Of the past sessions of the whole org: how many times back. */
  readonly page: number;
}

type SessionsAt = At<SessionsParams, State>;

/** From this height on, the selected session is told below the list. */
const TALL = 13;
const NONE: readonly Session[] = [];

const specOf = (at: SessionsAt): TableSpec<Session> => {
  const { zone, now } = at;
  return {
    columns: [
      {
        id: "start",
        title: "START",
        width: 16,
        priority: 0,
        cell: ({ start_at }) => calendarTime(start_at, zone, now),
        sortBy: ({ start_at }) => Date.parse(start_at),
      },
      {
        id: "stop",
        title: "STOP",
        width: 16,
        priority: 3,
        cell: (session) => stopText(session, zone),
      },
      {
        id: "state",
        title: "STATE",
        width: 11,
        priority: 0,
        cell: sessionSpan,
        sortBy: ({ state }) => state,
      },
      ...(at.params.pod !== null ? [] : [{
        id: "pod",
        title: "POD",
        width: 7,
        grow: 2,
        most: 30,
        priority: 0,
        cell: ({ pod_name }: Session) => pod_name,
        sortBy: ({ pod_name }: Session) => pod_name,
      }]),
      {
        id: "title",
        title: "TITLE",
        width: 20,
        grow: 3,
        most: 50,
        priority: 1,
        cell: ({ title }) => title ?? "",
        sortBy: ({ title }) => title,
      },
      {
        id: "series",
        title: "SERIES",
        width: 6,
        priority: 5,
        cell: ({ series_id }) => series_id?.slice(0, 6) ?? "",
        sortBy: ({ series_id }) => series_id,
      },
      {
        id: "budget",
        title: "BUDGET",
        width: 6,
        priority: 7,
        cell: ({ over_budget }) => over_budget ? span("over", "warn") : "",
      },
      {
        id: "length",
        title: "LENGTH",
        width: 7,
        priority: 6,
        cell: ({ start_at, stop_at }) => duration(Date.parse(stop_at) - Date.parse(start_at)),
      },
      ...(allOf(at).every(({ error }) => error === null) ? [] : [{
        id: "why",
        title: "WHY",
        width: 16,
        grow: 4,
        priority: 4,
        cell: ({ error }: Session) => span(error ?? "", "bad"),
      }]),
    ],
    keyOf: ({ id }) => String(id),
    textOf: (one) =>
      [one.pod_name, one.pod_id, one.title, one.state, one.series_id, one.error, calendarTime(one.start_at, zone, now)]
        .join(" "),
    isDim: ({ finished }) => finished,
  };
};

/** What is listed now, as it is known. */
function readingOf(at: SessionsAt): Reading<{ readonly sessions: readonly Session[]; readonly more: boolean }> {
  const { params, state } = at;
  if (params.pod !== null) {
    const reading = at.read(podSessionsResource(params.pod.id));
    return { ...reading, value: reading.value && { sessions: reading.value, more: false } };
  }
  return at.read(state.isPast ? pastSessionsResource(pastSpan(state.page, at.now)) : orgSessionsResource);
}

const allOf = (at: SessionsAt): readonly Session[] => {
  const { open, over } = partsOf(readingOf(at).value?.sessions ?? NONE);
  return at.state.isPast ? over : open;
};
const isPastOfOrg = (at: SessionsAt) => at.state.isPast && at.params.pod === null;
const list = listOf<SessionsParams, State, Session>({
  spec: specOf,
  all: allOf,
  height: (at, { rows }) => {
    const room = at.height - headLines(at).length;
    return at.height < TALL ? room : Math.max(4, Math.min(rows(at).length + 1, Math.floor(room / 2)));
  },
});

/** The sessions of a pod or of the whole org, as a calendar: what is to come and what was. */
export const sessionsScreen = defineScreen<SessionsParams, State>({
  id: "sessions",
  command: { word: "sessions", about: "the sessions of all pods", open: () => ({ pod: null }) },
  title: (at) => `${at.state.isPast ? "Past sessions" : "Sessions"} ${list.count(at)}`,
  about:
    "Sessions start a pod some minutes before their start and stop it at their stop. ○ is scheduled, ◐ starts, ● runs, " +
    "✓ is done; ! was missed or failed, or could not be started yet, and WHY says the reason. Times are those of the " +
    "time zone above the list; start the admin with TZ=America/Phoenix, for example, for another one.",
  init: () => ({ ...NEW_LIST, isPast: false, page: 0 }),
  hasFilter: true,
  actions: [
    {
      keys: ["enter"],
      label: "open",
      about: "all that is known of the selected session",
      when: (at) => typeof list.selected(at)?.pod_id === "string",
      run: (at) => at.open(sessionScreen, { podId: list.selected(at)!.pod_id!, id: list.selected(at)!.id }),
    },
    {
      keys: ["n", "a"],
      word: "add",
      label: "add",
      about: "a new session, or a weekly series",
      run: (at) => addSession(at, at.params.pod),
    },
    ...sessionActions<SessionsParams, State>(list.selected),
    {
      keys: ["p"],
      word: "past",
      label: "past",
      about: "sessions that are over, the last one first",
      when: (at) => !at.state.isPast,
      run: (at) => at.set({ isPast: true, page: 0, ...NEW_LIST }),
    },
    {
      keys: ["u"],
      word: "upcoming",
      label: "upcoming",
      about: "sessions that are not over",
      when: (at) => at.state.isPast,
      run: (at) => at.set({ isPast: false, ...NEW_LIST }),
    },
    {
      keys: ["left", "["],
      label: "earlier",
      about: "the four weeks before",
      when: isPastOfOrg,
      run: (at) => at.set(({ page }) => ({ isPast: true, page: page + 1, ...NEW_LIST })),
    },
    {
      keys: ["right", "]"],
      label: "later",
      about: "the four weeks after",
      when: (at) => isPastOfOrg(at) && at.state.page > 0,
      run: (at) => at.set(({ page }) => ({ isPast: true, page: Math.max(0, page - 1), ...NEW_LIST })),
    },
    ...list.actions,
  ],
  view: (at) => {
    const head = headLines(at);
    return [...head, ...drawReading(readingOf(at), at.width, at.height - head.length, () => listLines(at))];
  },
});

function listLines(at: SessionsAt): Line[] {
  const table = list.draw(at, emptyText(at));
  const one = list.selected(at);
  if (at.height < TALL || one === undefined) return table;
  const open = partsOf(readingOf(at).value?.sessions ?? NONE).open.filter(({ pod_id }) => pod_id === one.pod_id);
  const facts = factLines(sessionFacts(at, one, open), at.width - 2).map((fact): Line => [span(" "), ...fact]);
  return [...table, BLANK, ...facts];
}

function emptyText(at: SessionsAt): string {
  if (at.filter !== "") return "No session fits the filter; esc shows all.";
  if (at.state.isPast) return "No session ended in that time.";
  return "There are no sessions to come; n adds one.";
}

/** The zone of the times, the time of a list of the past, and what keeps all sessions from happening. */
function headLines(at: SessionsAt): Line[] {
  const { zone, state } = at;
  const time = isPastOfOrg(at) ? pastText(at) : "";
  const schedule = at.read(scheduleResource).value;
  const trouble = schedule === undefined
    ? null
    : schedule.paused !== null
    ? `The schedule is paused: ${schedule.paused}`
    : schedule.running
    ? null
    : "Nothing starts or stops pods now: orgpods serve does not run";
  const more = readingOf(at).value?.more === true ? "There are later ones that are not listed" : null;
  return [
    line(span(` Time zone ${zone}${time}`, "dim")),
    ...[state.isPast ? null : trouble, more].filter((text) => text !== null).map((text) =>
      line(span(` ! ${text}`, "warn"))
    ),
  ];
}

function pastText(at: SessionsAt): string {
  const { from, to } = pastSpan(at.state.page, at.now);
  return `   ${dayText(from, at.zone)} to ${dayText(to - DAY, at.zone)}`;
}
