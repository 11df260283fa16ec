import { describeError, type Log } from "./log.ts";

export interface Loop {
  /** Ends the loop after the turn that runs now. */
  stop(): Promise<void>;
  /** Makes the next turn begin at once, or right after the one that runs now. */
  wake(): void;
}

/**
 * Runs `turn` at once and then every `ms` (counted from start to start): never two at a time, and an error of one turn
 * is logged and does not end the loop.
 */
export function every(name: string, ms: number, turn: () => Promise<void> | void, log: Log): Loop {
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;
  let isWanted = false;
  const tick = () => {
    const begun = performance.now();
    isRunning = true;
    isWanted = false;
    running = (async () => {
      try {
        await turn();
      } catch (error) {
        log.error(`A turn of the ${name} loop failed`, { error: describeError(error) });
      }
      isRunning = false;
      if (!stopped) timer = setTimeout(tick, isWanted ? 0 : Math.max(0, ms - (performance.now() - begun)));
    })();
  };
  tick();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
    wake() {
      isWanted = true;
      if (stopped || isRunning) return;
      clearTimeout(timer);
      timer = setTimeout(tick, 0);
    },
  };
}
