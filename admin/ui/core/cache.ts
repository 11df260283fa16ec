import type { Problem } from "../client/problem.ts";
import { problemOf } from "../client/problem.ts";
import type { Work } from "../client/session.ts";

/** Something of the server that screens show: how it is loaded, and how often while it is shown. */
export interface Resource<T> {
  /** The same key is the same thing; for one of many it holds the id. */
  readonly key: string;
  /** Milliseconds between loads while it is shown; null: only at first and when it is refreshed. */
  readonly everyMs: number | null;
  /** A load begins only after it was shown for so long, so that scrolling past asks for nothing. */
  readonly delayMs?: number;
  readonly load: Work<T>;
}

/** What is known of a resource now. The last good value stays when a later load fails. */
export interface Reading<T> {
  readonly value: T | undefined;
  /** When the value was loaded. */
  readonly at: number | null;
  /** Why the last load failed; null after a good one. */
  readonly problem: Problem | null;
  readonly isLoading: boolean;
  /** When the load that is under way began. */
  readonly since?: number;
}

const NOTHING: Reading<never> = { value: undefined, at: null, problem: null, isLoading: true };
/** Values of things that are not shown any more; they are drawn at once when one comes back. */
const MOST_KEPT = 200;

export interface Cache {
  read<T>(resource: Resource<T>): Reading<T>;
  /** Says what the screen shows now: exactly these are loaded and kept fresh. */
  show(resources: ReadonlyMap<string, Resource<unknown>>): void;
  /** Loads again what is shown, or one resource, now. Gives how many loads began; the others are under way already. */
  refresh(key?: string): number;
  /** Forgets everything, as for another org. */
  clear(): void;
  close(): void;
}

interface Entry {
  reading: Reading<unknown>;
  timer: ReturnType<typeof setTimeout> | undefined;
  abort: AbortController | undefined;
  /** A refresh that came while a load was under way. */
  isAgain: boolean;
  /** It was refreshed while it was not shown: the next time it is loaded at once. */
  isDue: boolean;
}

export function createCache(deps: {
  readonly call: <T>(work: Work<T>, options: { signal: AbortSignal }) => Promise<T>;
  readonly now: () => number;
  /** False while there is no link: then nothing is loaded; call `refresh` when there is one again. */
  readonly isLinked: () => boolean;
  readonly onChange: () => void;
}): Cache {
  const entries = new Map<string, Entry>();
  let shown: ReadonlyMap<string, Resource<unknown>> = new Map();

  const plan = (resource: Resource<unknown>, entry: Entry, ms: number) => {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => load(resource, entry), ms);
  };

  const load = async (resource: Resource<unknown>, entry: Entry) => {
    clearTimeout(entry.timer);
    entry.timer = undefined;
    if (entry.abort !== undefined) {
      entry.isAgain = true;
      return;
    }
    if (!deps.isLinked()) return;
    const abort = entry.abort = new AbortController();
    entry.isDue = false;
    entry.reading = { ...entry.reading, isLoading: true, since: deps.now() };
    let wait = resource.everyMs;
    try {
      const value = await deps.call(resource.load, { signal: abort.signal });
      if (abort.signal.aborted) return;
      entry.reading = { value, at: deps.now(), problem: null, isLoading: false };
    } catch (error) {
      const problem = problemOf(error);
      if (problem === null) throw error;
      if (abort.signal.aborted) return;
      const { since: _, ...before } = entry.reading;
      entry.reading = { ...before, problem, isLoading: false };
      if (problem.facts.retryAfterMs !== undefined) wait = Math.max(wait ?? 0, problem.facts.retryAfterMs);
    }
    entry.abort = undefined;
    if (shown.has(resource.key)) {
      if (entry.isAgain) plan(resource, entry, 0);
      else if (wait !== null) plan(resource, entry, wait);
    }
    entry.isAgain = false;
    deps.onChange();
  };

  const entryOf = (key: string): Entry => {
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = { reading: NOTHING, timer: undefined, abort: undefined, isAgain: false, isDue: false };
      entries.set(key, entry);
    }
    return entry;
  };

  return {
    read: <T>(resource: Resource<T>) => (entries.get(resource.key)?.reading ?? NOTHING) as Reading<T>,
    show(next) {
      const before = shown;
      shown = next;
      for (const [key, resource] of next) {
        if (before.has(key)) continue;
        const entry = entryOf(key);
        const { at } = entry.reading;
        const left = at === null || entry.isDue ? 0 : (resource.everyMs ?? Infinity) - (deps.now() - at);
        if (left !== Infinity) plan(resource, entry, Math.max(left, resource.delayMs ?? 0));
        // The newest ones are kept longest.
        entries.delete(key);
        entries.set(key, entry);
      }
      for (const key of before.keys()) {
        if (!next.has(key)) clearTimeout(entries.get(key)?.timer);
      }
      for (const [key, entry] of entries) {
        if (entries.size <= MOST_KEPT) break;
        if (!next.has(key) && entry.abort === undefined) entries.delete(key);
      }
    },
    refresh(wanted) {
      let begun = 0;
      for (const [key, resource] of shown) {
        if (wanted !== undefined && wanted !== key) continue;
        const entry = entryOf(key);
        if (entry.abort === undefined && deps.isLinked()) begun++;
        load(resource, entry);
      }
      for (const [key, entry] of entries) {
        if (!shown.has(key) && (wanted === undefined || wanted === key)) entry.isDue = true;
      }
      return begun;
    },
    clear() {
      for (const entry of entries.values()) {
        clearTimeout(entry.timer);
        entry.abort?.abort();
      }
      entries.clear();
      shown = new Map();
    },
    close() {
      this.clear();
    },
  };
}
