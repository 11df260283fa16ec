import type { CallOptions, Session, Work } from "../client/session.ts";

/** What the server is being asked to do for somebody who waits for it. */
export interface Call {
  /** Such as `Stop workshop`. */
  readonly what: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

export interface Calls {
  /** Oldest first. */
  list(): readonly Call[];
  /** Makes a call that is shown while it is under way, and can be given up. Throws `Problem` as `Session.call` does. */
  make<T>(what: string, work: Work<T>, options: CallOptions): Promise<T>;
  /** The same for anything else that waits for the server, and ends soon after the signal. */
  during<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Waits for none of them any more; what comes of them is not known. */
  giveUp(): void;
}

export function createCalls(
  { session, now, onBegin, onEnd }: {
    readonly session: Pick<Session, "call">;
    readonly now: () => number;
    onBegin(what: string): void;
    onEnd(what: string): void;
  },
): Calls {
  const stops = new Map<Call, AbortController>();
  const during: Calls["during"] = async (what, work) => {
    const call: Call = { what, since: now() };
    const stop = new AbortController();
    stops.set(call, stop);
    onBegin(what);
    try {
      return await work(stop.signal);
    } finally {
      stops.delete(call);
      onEnd(what);
    }
  };
  return {
    list: () => [...stops.keys()],
    make: (what, work, options) =>
      during(what, (stop) => {
        const signal = options.signal === undefined ? stop : AbortSignal.any([stop, options.signal]);
        return session.call(work, { ...options, signal });
      }),
    during,
    giveUp() {
      for (const stop of stops.values()) stop.abort();
    },
  };
}
