/** Time limits: waiting with an end, and giving up on work without cancelling it for others. */

/** Waits `ms`; false when `signal` ended the wait early. Leaves no timer behind. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve(true);
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** Runs `work` with a signal that aborts after `ms`; the timer is cleared when the work ends. */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The result of `work`, or of `late()` when it takes longer than `ms`; the work itself goes on for its other callers. */
export async function within<T>(work: Promise<T>, ms: number | undefined, late: (ms: number) => T): Promise<T> {
  if (ms === undefined) return await work;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), ms);
  });
  try {
    const first = await Promise.race([work.then((value) => ({ value })), expired]);
    return first === "late" ? late(ms) : first.value;
  } finally {
    clearTimeout(timer);
  }
}
