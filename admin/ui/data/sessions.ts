import { DAY, SECOND } from "../../../server/clock.ts";
import { type Api, read } from "../../client/api.ts";
import type { Resource } from "../core/cache.ts";
import type { Session } from "./pods.ts";

/** Sessions in one answer of the API, and answers at most for one list. */
const PAGE = 500;
const MOST_PAGES = 10;

type Span = { readonly from?: string; readonly to?: string };

/**
 * The sessions of all pods of the org in a span, by start; without `from` those of the last day and all that are not over.
 * The API gives them in parts, each from the start of the last one known on. `more`: there are later ones still.
 */
export async function sessionsOfSpan(
  api: Api,
  org: string,
  span: Span,
): Promise<{ sessions: readonly Session[]; more: boolean }> {
  const known = new Map<number, Session>();
  let next: Span = span;
  for (let page = 0; page < MOST_PAGES; page++) {
    const { value } = await read(api.org.sessions.$get({ param: { org }, query: { ...next, limit: String(PAGE) } }));
    const before = known.size;
    for (const session of value.sessions) known.set(session.id, session);
    const last = value.sessions.at(-1);
    if (!value.more || last === undefined || known.size === before) {
      return { sessions: [...known.values()], more: value.more };
    }
    next = { ...span, from: last.start_at };
  }
  return { sessions: [...known.values()], more: true };
}

/** The sessions of the whole org that are to come or just over. */
export const orgSessionsResource = {
  key: "sessions",
  everyMs: 30 * SECOND,
  load: (api: Api, org: string) => sessionsOfSpan(api, org, {}),
} satisfies Resource<unknown>;

/** Days that one list of past sessions of the whole org covers. */
export const PAST_DAYS = 28;

/** The time of a list of past sessions: `page` 0 ends with today (UTC), 1 lies before it. Milliseconds. */
export function pastSpan(page: number, now: number): { from: number; to: number } {
  const to = Math.floor(now / DAY + 1) * DAY - page * PAST_DAYS * DAY;
  return { from: to - PAST_DAYS * DAY, to };
}

/** The sessions of the org in such a time. */
export const pastSessionsResource = ({ from, to }: { readonly from: number; readonly to: number }) => ({
  key: `past sessions ${from}`,
  everyMs: 60 * SECOND,
  load: (api: Api, org: string) =>
    sessionsOfSpan(api, org, { from: new Date(from).toISOString(), to: new Date(to).toISOString() }),
} satisfies Resource<unknown>);

/** Whether the schedule runs, and what it did last. */
export const scheduleResource = {
  key: "schedule",
  everyMs: 30 * SECOND,
  load: async (api: Api, org: string) => (await read(api.org.schedule.$get({ param: { org } }))).value,
} satisfies Resource<unknown>;

/** The sessions of a list that are not over, by start, and those that are, the last one first; made once per list. */
export interface SessionParts {
  readonly open: readonly Session[];
  readonly over: readonly Session[];
}

const parts = new WeakMap<readonly Session[], SessionParts>();

export function partsOf(sessions: readonly Session[]): SessionParts {
  let found = parts.get(sessions);
  if (found === undefined) {
    found = {
      open: sessions.filter(({ finished }) => !finished),
      over: sessions.filter(({ finished }) => finished).toReversed(),
    };
    parts.set(sessions, found);
  }
  return found;
}
