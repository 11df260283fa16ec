/** Work of one name is done by at most so many at a time; the others wait in order of arrival. */
export interface Places {
  take<T>(name: string, work: () => Promise<T>): Promise<T>;
}

export function createPlaces(most: number): Places {
  const busy = new Map<string, { taken: number; readonly waiting: (() => void)[] }>();
  return {
    async take(name, work) {
      const mine = busy.get(name) ?? { taken: 0, waiting: [] };
      busy.set(name, mine);
      if (mine.taken < most) mine.taken++;
      else await new Promise<void>((resolve) => mine.waiting.push(resolve));
      try {
        return await work();
      } finally {
        // Whoever waits takes the place over, so that nobody who comes just now gets in first.
        const next = mine.waiting.shift();
        if (next) next();
        else if (--mine.taken === 0) busy.delete(name);
      }
    },
  };
}
