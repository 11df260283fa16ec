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
  return {
    list: () => [...stops.keys()],
    async make(what, work, options) {
      const call: Call = { what, since: now() };
      const stop = new AbortController();
      const signal = options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal]);
      stops.set(call, stop);
      onBegin(what);
      try {
        return await session.call(work, { ...options, signal });
      } finally {
        stops.delete(call);
        onEnd(what);
      }
    },
    giveUp() {
      for (const stop of stops.values()) stop.abort();
    },
  };
}
