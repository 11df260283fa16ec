import type { Database } from "./database.ts";

/**
 * Runs transactions that become ready within a moment of each other as one, so that they wait for the disk together: at
 * `synchronous=FULL` a commit takes milliseconds, whatever is in it.
 */
export interface SharedCommits {
  /**
   * Runs `work` in a transaction and resolves with its result after the commit. Pieces that share a commit run one after
   * another, each in a savepoint: an error of one undoes that one alone. A commit that fails rejects them all.
   */
  run<T>(work: () => T): Promise<T>;
}

interface Piece {
  readonly work: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A piece waits this long for company; nobody notices it beside the commit itself. */
const WAIT_MS = 2;

export function createSharedCommits(db: Database): SharedCommits {
  let waiting: Piece[] = [];

  const commit = () => {
    const pieces = waiting;
    waiting = [];
    try {
      const outcomes = db.tx(() => pieces.map((piece) => attempt(db, piece)));
      for (const tell of outcomes) tell();
    } catch (error) {
      for (const piece of pieces) piece.reject(error);
    }
  };

  return {
    run<T>(work: () => T) {
      return new Promise<T>((resolve, reject) => {
        if (waiting.length === 0) setTimeout(commit, WAIT_MS);
        waiting.push({ work, resolve: resolve as (result: unknown) => void, reject });
      });
    },
  };
}

/** Does one piece of a transaction; what it returns tells its caller, once everything is committed. */
function attempt(db: Database, { work, resolve, reject }: Piece): () => void {
  db.exec("savepoint piece");
  try {
    const result = work();
    db.exec("release piece");
    return () => resolve(result);
  } catch (error) {
    // After a full disk SQLite has rolled back everything; then this throws, and all pieces hear of it.
    db.exec("rollback to piece; release piece");
    return () => reject(error);
  }
}
