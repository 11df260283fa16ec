/** The channels of one SSH connection: a limit, a queue in order of arrival, and the end of an idle connection. */
import { clearTimeout, setTimeout } from "node:timers";
import type { Link, Login } from "./dial.ts";

/** How long a command that was given up may hold its channel on a connection that takes no new calls. */
const GRACE_MS = 5_000;

/** A queued call meets a connection that takes no new calls; it goes to the next connection. */
export class ConnectionRetired extends Error {
  override readonly name = "ConnectionRetired";
}

/** The right to one channel. */
export interface Lease {
  readonly gone: AbortSignal;
  release(): void;
  /**
   * The channel may still be open on the pod's side, where it counts (MaxSessions), so the connection takes no new
   * calls and ends with its last one. The lease is given back when `rest` settles, after 5 s at the latest.
   */
  abandon(rest: Promise<unknown>): void;
}

export interface Connection {
  /** Rejects with the AppError for the caller. */
  readonly ready: Promise<Login>;
  readonly closed: Promise<void>;
  /** A channel for a connection that is ready. Rejects with the signal's reason or with `ConnectionRetired`. */
  lease(signal: AbortSignal): Promise<Lease>;
  /** Runs `f` after the earlier ones have ended: at most one channel beyond the limit. */
  aside<T>(f: () => Promise<T>): Promise<T>;
  /** Takes no new calls and ends with the last one. */
  retire(): void;
  destroy(): void;
  readonly channels: number;
  readonly waiting: number;
}

interface Waiter {
  grant(): void;
  refuse(): void;
}

/** Keeps count for a link. `ready` is the link's login with errors in the caller's terms. */
export function openConnection(
  link: Link,
  ready: Promise<Login>,
  options: {
    readonly maxChannels: number;
    readonly idleMs: number;
    /** Asked when it was unused for so long: true keeps it for as long again. */
    readonly isKept?: () => boolean;
    /** Called once, when the connection takes no new calls any more or is lost. */
    readonly onRetired: () => void;
  },
): Connection {
  const queue: Waiter[] = [];
  let channels = 0;
  let retired = false;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let lastAside: Promise<unknown> = Promise.resolve();

  const retire = () => {
    if (!retired) options.onRetired();
    retired = true;
    for (const waiter of queue.splice(0)) waiter.refuse();
    settle();
  };

  /** What is to be done when nobody uses the connection. */
  const settle = () => {
    clearTimeout(idle);
    if (channels > 0 || link.gone.aborted) return;
    if (retired) return link.destroy();
    idle = setTimeout(() => options.isKept?.() === true ? settle() : link.destroy(), options.idleMs);
    idle.unref();
  };

  const takeLease = (): Lease => {
    clearTimeout(idle);
    channels++;
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      channels--;
      queue.shift()?.grant();
      settle();
    };
    const abandon = (rest: Promise<unknown>) => {
      const timer = setTimeout(release, GRACE_MS);
      timer.unref();
      const done = () => (clearTimeout(timer), release());
      rest.then(done, done);
      if (link.gone.aborted) done();
      else link.gone.addEventListener("abort", done, { once: true });
      retire();
    };
    return { gone: link.gone, release, abandon };
  };

  const queued = (signal: AbortSignal) =>
    new Promise<Lease>((resolve, reject) => {
      const leave = () => {
        signal.removeEventListener("abort", stop);
        const place = queue.indexOf(waiter);
        if (place >= 0) queue.splice(place, 1);
      };
      const stop = () => (leave(), reject(signal.reason));
      const waiter: Waiter = {
        grant: () => (leave(), resolve(takeLease())),
        refuse: () => (leave(), reject(new ConnectionRetired())),
      };
      signal.addEventListener("abort", stop, { once: true });
      queue.push(waiter);
    });

  link.gone.addEventListener("abort", retire, { once: true });
  // A failed login is told to every call that waits for `ready`; here is nothing to do about it.
  ready.then(settle, () => {});
  return {
    ready,
    closed: link.closed,
    async lease(signal) {
      signal.throwIfAborted();
      if (retired) throw new ConnectionRetired();
      return await (channels < options.maxChannels ? takeLease() : queued(signal));
    },
    aside(f) {
      const run = lastAside.then(f, f);
      lastAside = run.then(() => {}, () => {});
      return run;
    },
    retire,
    destroy: link.destroy,
    get channels() {
      return channels;
    },
    get waiting() {
      return queue.length;
    },
  };
}
