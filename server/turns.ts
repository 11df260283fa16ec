/** Work on one name is done one after the other; work on different names runs side by side. */
export interface Turns {
  take<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is being done any more, whether it failed or not. */
  idle(): Promise<void>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    async take(name, work) {
      const before = last.get(name);
      const mine = (async () => {
        if (before) await Promise.allSettled([before]);
        return await work();
      })();
      last.set(name, mine);
      try {
        return await mine;
      } finally {
        if (last.get(name) === mine) last.delete(name);
      }
    },
    async idle() {
      while (last.size > 0) await Promise.allSettled(last.values());
    },
  };
}
