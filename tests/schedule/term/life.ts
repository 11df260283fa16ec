/**
 * One life of the program between two kills. What it does outside of itself goes through its fetch and its database; once
 * the life is over, neither does anything any more, so that what is still running in it changes nothing.
 */
import type { Database, SqlValue } from "../../../db/database.ts";

/** Where a life ends. The first three are about calls, the others about transactions. */
export const CUTS = [
  /** The call has not left the process. */
  "before_call",
  /** The call was carried out; its answer is lost. */
  "after_call",
  /** The answer is there; nothing of it is stored. */
  "after_answer",
  "before_transaction",
  /** All of it is written, and it is not committed. */
  "before_commit",
  "after_commit",
] as const;
export type Cut = typeof CUTS[number];

export interface Death {
  readonly cut: Cut;
  /** At the so-manieth such point. */
  readonly count: number;
  /** Count from the next action that is asked of RunPod, not from now: only calls that change something, and what follows them. */
  readonly atAction: boolean;
}

/** What dead code gets instead of a result. */
export class Killed extends Error {
  override readonly name = "Killed";
  constructor() {
    super("The program was killed");
  }
}

export interface Life {
  readonly isOver: boolean;
  /** Lets it end by itself at some point to come; null: it is not to, after all. */
  doom(death: Death | null): void;
  end(): void;
  fetch(inner: typeof fetch): typeof fetch;
  database(db: Database): Database;
}

export function createLife(): Life {
  let isOver = false;
  let doom: (Death & { left: number; counts: boolean }) | null = null;

  /** Is this the point at which it ends? Then it has ended. */
  const endsAt = (cut: Cut): boolean => {
    if (isOver || doom === null || !doom.counts || doom.cut !== cut || --doom.left > 0) return false;
    isOver = true;
    return true;
  };
  const alive = () => {
    if (isOver) throw new Killed();
  };
  const noteStatement = (sql: string) => {
    if (doom !== null && /into compute_intents/.test(sql)) doom.counts = true;
  };

  return {
    get isOver() {
      return isOver;
    },
    doom: (death) => doom = death === null ? null : { ...death, left: death.count, counts: !death.atAction },
    end: () => isOver = true,
    fetch: (inner) => async (input, init) => {
      alive();
      const isCounted = doom?.atAction !== true || (init?.method ?? "GET") !== "GET";
      if (isCounted && endsAt("before_call")) throw new Killed();
      const answer = await inner(input, init);
      alive();
      if (isCounted && endsAt("after_call")) throw new Killed();
      if (isCounted) endsAt("after_answer");
      return answer;
    },
    database(db) {
      const { get, all, run, exec, tx } = db;
      return Object.assign(db, {
        get: (sql: string, ...values: SqlValue[]) => {
          alive();
          noteStatement(sql);
          return get.call(db, sql, ...values);
        },
        all: (sql: string, ...values: SqlValue[]) => {
          alive();
          return all.call(db, sql, ...values);
        },
        run: (sql: string, ...values: SqlValue[]) => {
          alive();
          noteStatement(sql);
          return run.call(db, sql, ...values);
        },
        exec: (sql: string) => {
          alive();
          exec.call(db, sql);
        },
        tx: <T>(work: () => T): T => {
          alive();
          if (db.inTransaction) return tx.call(db, work) as T;
          if (endsAt("before_transaction")) throw new Killed();
          const result = tx.call(db, () => {
            const written = work();
            if (endsAt("before_commit")) throw new Killed();
            return written;
          }) as T;
          if (endsAt("after_commit")) throw new Killed();
          return result;
        },
      });
    },
  };
}
