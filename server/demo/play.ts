import { isoTime, MINUTE, SECOND } from "../clock.ts";
import type { AutoStopTimings } from "../auto_stop/jobs.ts";
import { EVENT_KINDS } from "../events/kinds.ts";
import type { ScheduleTimings } from "../schedule/decide.ts";

/** With `--fast` the schedule looks every two seconds and starts a pod ten seconds before its session. The clock stays. */
export const FAST_SCHEDULE: ScheduleTimings = { turnMs: 2 * SECOND, leadMs: 10 * SECOND, giveUpMs: 5 * MINUTE };

/** People on a pod are told one minute and twenty seconds before it stops. */
export const FAST_AUTO_STOP: AutoStopTimings = {
  turnMs: 5 * SECOND,
  warnTurnMs: 2 * SECOND,
  presenceEveryMs: 10 * SECOND,
  warnMinutesMs: [MINUTE, 20 * SECOND],
};

const BEGINS_IN_MS = 15 * SECOND;
const SESSION_MS = 2 * MINUTE;

/** Calls the demo's API as its operator. */
export type Api = <T>(method: string, path: string, body?: unknown) => Promise<T>;

interface SessionAnswer {
  readonly id: number;
  readonly state: string;
  readonly start_at: string;
  readonly stop_at: string;
}

interface EventAnswer {
  readonly id: number;
  readonly kind: string;
  readonly subject: string | null;
  readonly actor: string | null;
  readonly details: { readonly did?: string; readonly error?: string; readonly changed?: readonly string[] };
  readonly created_at: string;
}

/** Plans a session of two minutes on a pod that is stopped. */
export async function planSession(api: Api, base: string, podId: string, now: number): Promise<SessionAnswer> {
  const startAt = now + BEGINS_IN_MS;
  const body = { title: "Two minutes", start_at: isoTime(startAt), stop_at: isoTime(startAt + SESSION_MS) };
  return (await api<{ session: SessionAnswer }>("POST", `${base}/pods/${podId}/sessions`, body)).session;
}

/**
 * Shows a session as it plays: a line for each event of the org and for each new state of the session, until it is over
 * or `stopped` is aborted.
 */
export async function showSession(
  api: Api,
  base: string,
  podId: string,
  session: SessionAnswer,
  say: (line: string) => Promise<void>,
  stopped: AbortSignal,
): Promise<void> {
  let lastEvent = 0;
  let state = "";
  while (!stopped.aborted) {
    const { events } = await api<{ events: EventAnswer[] }>("GET", `${base}/events?limit=100`);
    for (const event of events.filter((one) => one.id > lastEvent).reverse()) {
      lastEvent = event.id;
      await say(`${timeOf(event.created_at)}  ${event.kind.padEnd(KIND_WIDTH)}${sentenceOf(event)}`);
    }
    const { sessions } = await api<{ sessions: SessionAnswer[] }>("GET", `${base}/pods/${podId}/sessions`);
    const current = sessions.find((one) => one.id === session.id);
    if (current === undefined) return;
    if (current.state !== state) {
      state = current.state;
      const span = `${timeOf(current.start_at)} to ${timeOf(current.stop_at)}`;
      await say(`${timeOf(new Date().toISOString())}  ${"session".padEnd(KIND_WIDTH)}${state} (${span})`);
    }
    if (["done", "missed", "failed"].includes(state)) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** A column for the longest kind of event and two spaces. */
const KIND_WIDTH = Math.max(...EVENT_KINDS.map((kind) => kind.length)) + 2;

const timeOf = (iso: string) => new Date(iso).toISOString().slice(11, 19);

function sentenceOf({ subject, actor, details }: EventAnswer): string {
  const what = details.did ?? details.error ?? details.changed?.join(", ") ?? "";
  return [subject, what, actor === null ? "" : `by ${actor}`].filter((part) => part).join(" ");
}
