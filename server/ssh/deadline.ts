/** Ends of a call: one signal that fires when its deadline passes, its caller gives up, or what it leans on is gone. */

/** The reason of a {@link CallLimit}'s signal when the time is over. */
export class DeadlinePassed extends Error {
  override readonly name = "DeadlinePassed";

  constructor(readonly deadlineMs: number) {
    super(`No answer within ${Math.max(0, Math.round(deadlineMs))} ms`);
  }
}

export interface CallLimit {
  /** Aborted with `DeadlinePassed`, or with the reason of a signal that is followed. */
  readonly signal: AbortSignal;
  /** Makes `other` end this call too. */
  follow(other: AbortSignal): void;
  /** Frees the timer and the listeners. Must be called once the call is over. */
  end(): void;
}

const LONGEST_TIMER = 2 ** 31 - 1;

/** Starts the time of one call. `deadlineMs` of zero or less has passed already. Throws a TypeError for NaN. */
export function limitCall(deadlineMs: number, signal?: AbortSignal): CallLimit {
  if (Number.isNaN(deadlineMs)) throw new TypeError("The deadline is not a number");
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  const follow = (other: AbortSignal) => {
    const stop = () => controller.abort(other.reason);
    if (other.aborted) return stop();
    other.addEventListener("abort", stop, { once: true });
    undo.push(() => other.removeEventListener("abort", stop));
  };

  if (signal) follow(signal);
  if (deadlineMs <= 0) controller.abort(new DeadlinePassed(deadlineMs));
  else {
    const timer = setTimeout(
      () => controller.abort(new DeadlinePassed(deadlineMs)),
      Math.min(deadlineMs, LONGEST_TIMER),
    );
    undo.push(() => clearTimeout(timer));
  }
  return {
    signal: controller.signal,
    follow,
    end: () => {
      for (const step of undo.splice(0)) step();
    },
  };
}

/** `work`, or a rejection with the signal's reason, whichever comes first. What `work` does later is not looked at. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const done = () => signal.removeEventListener("abort", stop);
    work.then((value) => (done(), resolve(value)), (error) => (done(), reject(error)));
  });
}
