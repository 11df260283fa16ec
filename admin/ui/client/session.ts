import { MINUTE, SECOND } from "../../../server/clock.ts";
import { type Api, createApi, read } from "../../client/api.ts";
import type { Connection } from "../../client/connection.ts";
import { Problem, problemOf } from "./problem.ts";

/** How it stands between the admin and the server. */
export type Link =
  | { readonly kind: "connected" }
  | { readonly kind: "lost"; readonly since: number; readonly sentence: string }
  | { readonly kind: "signed_out"; readonly sentence: string };

/** A call of the API: `api` is typed by the server's routes. It may be made a second time after a 429. */
export type Work<T> = (api: Api, org: string, signal: AbortSignal) => Promise<T>;

export interface CallOptions {
  /** Milliseconds for the whole call; null for transfers, which only end when nothing moves any more. */
  readonly deadlineMs?: number | null;
  /** Gives the call up. */
  readonly signal?: AbortSignal;
  /** The org that it is meant for; it is not made in another one. The present one when left out. */
  readonly org?: string;
}

export interface Renewal {
  /** Gives it up. */
  readonly signal?: AbortSignal;
  /** Asked when the answer is there, which may be long after. */
  isWanted?(): boolean;
}

/** Everything the admin asks the server goes through here. */
export interface Session {
  readonly org: string;
  /** The server's address, or null on the server itself. */
  readonly address: string | null;
  readonly link: Link;
  /** Until when calls wait because the server asked for it (429), milliseconds since 1970; null before the first time. */
  readonly heldUntil: number | null;
  /** Calls the API. Throws `Problem`; anything else is a mistake in the program. */
  call<T>(work: Work<T>, options?: CallOptions): Promise<T>;
  /**
   * Goes on with another way to the server (a new token) or another org. Throws `Problem` when that does not work, and
   * when it is not wanted any more, or another one was begun, by the time of the answer.
   */
  renew(connection: Connection, org: string, how?: Renewal): Promise<void>;
  /** Calls `listener` whenever the link or the org changes. */
  onLink(listener: () => void): void;
  close(): Promise<void>;
}

export const CALL_MS = 30 * SECOND;
/** A create or an action may wait for RunPod. */
export const ACTION_MS = 90 * SECOND;
/** What a 429 may make one call wait in all. */
const MOST_WAIT_MS = MINUTE;
const ELSEWHERE = "It was not sent, because this is another organization now.";
const RECONNECT_MS = [1, 2, 4, 8, 15].map((seconds) => seconds * SECOND);

export interface SessionOptions {
  readonly connection: Connection;
  readonly org: string;
  readonly address: string | null;
  readonly now: () => number;
  /** Waits before the tries to reach a lost server, the last one again and again. */
  readonly reconnectMs?: readonly number[];
}

export function createSession({ address, now, reconnectMs = RECONNECT_MS, ...first }: SessionOptions): Session {
  let { connection, org } = first;
  let link: Link = { kind: "connected" };
  let heldUntil: number | null = null;
  let listener = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;
  let renewals = 0;

  const setLink = (next: Link) => {
    if (isClosed || next.kind === "connected" && link.kind === "connected") return;
    const isNew = link.kind !== next.kind;
    link = next.kind === "lost" && link.kind === "lost" ? { ...next, since: link.since } : next;
    if (isNew) {
      clearTimeout(timer);
      timer = undefined;
      if (link.kind === "lost") reconnect(0);
    }
    listener();
  };

  const reconnect = (tries: number) => {
    timer = setTimeout(async () => {
      try {
        await attempt((api, org) => read(api.org.me.$get({ param: { org } })), { deadlineMs: CALL_MS });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (link.kind === "lost" && !isClosed) reconnect(tries + 1);
      }
    }, reconnectMs[Math.min(tries, reconnectMs.length - 1)]);
  };

  /** One try, with what it tells of the link. */
  const attempt = async <T>(work: Work<T>, options: CallOptions): Promise<T> => {
    const used = connection;
    try {
      const value = await once(used, org, work, options);
      if (used === connection) setLink({ kind: "connected" });
      return value;
    } catch (error) {
      const problem = problemOf(error);
      if (problem === null) throw error;
      if (used === connection) {
        if (problem.kind === "away" || problem.kind === "late") {
          setLink({ kind: "lost", since: now(), sentence: problem.sentence });
        } else if (problem.kind === "signed_out") setLink({ kind: "signed_out", sentence: problem.sentence });
        else if (problem.kind !== "stopped") setLink({ kind: "connected" });
      }
      throw problem;
    }
  };

  return {
    get org() {
      return org;
    },
    address,
    get link() {
      return link;
    },
    get heldUntil() {
      return heldUntil;
    },
    async call(work, options = {}) {
      // One may have gone to another org since it was meant, and while it waits.
      const { org: wanted = org } = options;
      for (let waited = 0;;) {
        if (wanted !== org) throw new Problem("stopped", ELSEWHERE);
        try {
          return await attempt(work, options);
        } catch (error) {
          const wait = error instanceof Problem && error.kind === "busy" ? error.facts.retryAfterMs ?? 2_000 : Infinity;
          waited += wait;
          if (waited > MOST_WAIT_MS) throw error;
          heldUntil = Math.max(heldUntil ?? 0, now() + wait);
          await pause(wait, options.signal);
        }
      }
    },
    async renew(next, nextOrg, { signal, isWanted } = {}) {
      const turn = ++renewals;
      await once(next, nextOrg, (api, org) => read(api.org.me.$get({ param: { org } })), {
        ...(signal === undefined ? {} : { signal }),
      });
      // An answer that comes late must not lead away from where one went after it.
      if (turn !== renewals || isWanted?.() === false) {
        throw new Problem("stopped", `${nextOrg} answered after you began something else, so you are still in ${org}.`);
      }
      connection = next;
      org = nextOrg;
      clearTimeout(timer);
      link = { kind: "connected" };
      listener();
    },
    onLink(next) {
      listener = next;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await connection.close();
    },
  };
}

/** Makes one call; when it is given up or its time is over, whatever still comes of it is dropped. */
async function once<T>(connection: Connection, org: string, work: Work<T>, options: CallOptions): Promise<T> {
  const { deadlineMs = CALL_MS, signal } = options;
  const stop = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (problem: Problem) => {
    stop.abort(problem);
    reject(problem);
  };
  const onAbort = () => end(new Problem("stopped", "It was given up here; whether it was carried out is not known."));
  if (signal?.aborted) throw new Problem("stopped", "It was given up before it began.");
  signal?.addEventListener("abort", onAbort, { once: true });
  const timer = deadlineMs === null ? undefined : setTimeout(
    () => end(new Problem("late", `No answer within ${deadlineMs / 1_000} s; what came of the call is not known.`)),
    deadlineMs,
  );
  const api = createApi({
    ...connection,
    fetch: (request) => connection.fetch(new Request(request, { signal: stop.signal })),
  });
  try {
    return await Promise.race([work(api, org, stop.signal), ended]);
  } catch (error) {
    throw problemOf(error) ?? error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  }, { once: true });
  return promise;
}
