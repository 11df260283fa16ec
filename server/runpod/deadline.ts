/** A time limit as a signal: it aborts after `limitMs`, or when `parent` does. `stop()` must be called at the end. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** True when the time ran out, false when the caller gave up. */
  timedOut(): boolean;
  stop(): void;
}

export function startTimeLimit(limitMs: number, parent?: AbortSignal): TimeLimit {
  const controller = new AbortController();
  let out = false;
  const timer = setTimeout(() => {
    out = true;
    controller.abort();
  }, limitMs);
  const onParent = () => controller.abort();
  if (parent?.aborted) controller.abort();
  else parent?.addEventListener("abort", onParent, { once: true });
  return {
    signal: controller.signal,
    timedOut: () => out,
    stop: () => {
      clearTimeout(timer);
      parent?.removeEventListener("abort", onParent);
    },
  };
}

/** Waits `ms`; returns early, with false, when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (whole: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(whole);
    };
    const onAbort = () => end(false);
    const timer = setTimeout(() => end(true), ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
