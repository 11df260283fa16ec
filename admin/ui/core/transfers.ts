import { Problem, problemOf } from "../client/problem.ts";
import { type Amount, type Sample, withSample } from "./samples.ts";

/** A file on its way, or one that has been. */
export interface Transfer {
  readonly id: number;
  /** What it is, such as `Download results.csv`. */
  readonly title: string;
  /** Where it goes. */
  readonly place: string;
  readonly state: "running" | "stopping" | "done" | "failed" | "cancelled";
  /** Of the last seconds, oldest first. */
  readonly samples: readonly Sample[];
  /** What came of it, in a sentence; empty while it runs. */
  readonly note: string;
}

export interface TransferTask {
  /** The org that it belongs to; it goes on when another one is shown. */
  readonly org?: string;
  readonly title: string;
  readonly place: string;
  /** Does it, and gives the sentence that says what was done. It must end soon after the signal. */
  work(report: (amount: Amount) => void, signal: AbortSignal): Promise<string>;
}

/** Files that are on their way in the background, whatever screen is shown. */
export interface Transfers {
  /** The newest first. The same array until something changes. */
  list(): readonly Transfer[];
  /** Begins one; true once it is done. What kept it from that has been said. */
  start(task: TransferTask): Promise<boolean>;
  cancel(id: number): void;
  /** Forgets those that have ended. */
  forgetEnded(): void;
  /** Cancels all, and waits for a moment until they have cleaned up. */
  close(): Promise<void>;
}

/** Frames of a progress a second: enough for the eye, little for the line. */
const EVERY_MS = 200;
/** A transfer that does not end by then is left behind: its beginning is known as such by its name. */
const CLOSE_MS = 3_000;
/** Ended ones that are kept in the list. */
const MOST_ENDED = 100;

export const isEnded = ({ state }: Transfer): boolean => state !== "running" && state !== "stopping";

export function createTransfers(deps: {
  readonly now: () => number;
  readonly onChange: () => void;
  readonly onBegin: (title: string) => void;
  /** Called with the sentence that says what came of it. */
  readonly onEnd: (title: string, note: string, tone: "good" | "warn" | "bad", org: string | undefined) => void;
}): Transfers {
  let transfers: readonly Transfer[] = [];
  let nextId = 1;
  const running = new Map<number, { readonly stop: AbortController; readonly ended: Promise<void> }>();

  const change = (id: number, next: (transfer: Transfer) => Partial<Transfer>) => {
    transfers = transfers.map((one) => one.id === id ? { ...one, ...next(one) } : one);
    deps.onChange();
  };

  /** Reports of one transfer: the last one of each stretch is drawn. */
  const reporter = (id: number) => {
    let drawnAt = -Infinity;
    return (amount: Amount) => {
      const at = deps.now();
      if (at - drawnAt < EVERY_MS && amount.done !== amount.total) return;
      drawnAt = at;
      change(id, ({ samples }) => ({ samples: withSample(samples, { ...amount, at }) }));
    };
  };

  const end = (id: number, { title, org }: TransferTask, state: Transfer["state"], note: string) => {
    change(id, () => ({ state, note }));
    const ended = transfers.filter(isEnded).slice(MOST_ENDED);
    transfers = transfers.filter((one) => !ended.includes(one));
    deps.onEnd(title, note, state === "done" ? "good" : state === "cancelled" ? "warn" : "bad", org);
  };

  return {
    list: () => transfers,
    async start(task) {
      const { title, place, work } = task;
      const id = nextId++;
      const stop = new AbortController();
      const ended = Promise.withResolvers<void>();
      running.set(id, { stop, ended: ended.promise });
      transfers = [{ id, title, place, state: "running", samples: [], note: "" }, ...transfers];
      deps.onBegin(title);
      try {
        end(id, task, "done", await work(reporter(id), stop.signal));
        return true;
      } catch (error) {
        const problem = stop.signal.aborted ? new Problem("stopped", `${title}: cancelled`) : problemOf(error);
        if (problem === null) throw error;
        const note = [problem.sentence, ...problem.notes].join(" ");
        if (stop.signal.aborted) end(id, task, "cancelled", note);
        else end(id, task, "failed", `${title}: ${note}`);
        return false;
      } finally {
        running.delete(id);
        ended.resolve();
      }
    },
    cancel(id) {
      const one = running.get(id);
      if (one === undefined || one.stop.signal.aborted) return;
      change(id, () => ({ state: "stopping" }));
      one.stop.abort(new Problem("stopped", "It was cancelled."));
    },
    forgetEnded() {
      transfers = transfers.filter((one) => !isEnded(one));
      deps.onChange();
    },
    async close() {
      for (const id of running.keys()) this.cancel(id);
      const { promise: isOver, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, CLOSE_MS);
      await Promise.race([Promise.all([...running.values()].map(({ ended }) => ended)), isOver]);
      clearTimeout(timer);
    },
  };
}
