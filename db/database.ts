import { DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";

export type SqlValue = string | number | bigint | null | Uint8Array;
export type Row = Record<string, SQLOutputValue>;

/** Thrown by SQLite: the extended result code tells a full disk from a broken rule. */
export interface SqliteError extends Error {
  readonly code: "ERR_SQLITE_ERROR";
  readonly errcode?: number;
}

export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && (error as { code?: unknown }).code === "ERR_SQLITE_ERROR";
}

/** A UNIQUE or PRIMARY KEY rule refused the row (SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_PRIMARYKEY). */
export function isUniqueViolation(error: unknown): boolean {
  if (!isSqliteError(error)) return false;
  // `exec` does not tell the code.
  return error.errcode === 2067 || error.errcode === 1555 || /^UNIQUE constraint failed/.test(error.message);
}

/** The disk is full, or could not be written (SQLITE_FULL, SQLITE_IOERR and its kinds, SQLITE_READONLY). */
export function isDiskFailure(error: unknown): boolean {
  if (!isSqliteError(error)) return false;
  const primary = (error.errcode ?? 0) & 0xff;
  return primary === 13 || primary === 10 || primary === 8 ||
    /disk is full|disk I\/O error|readonly database/.test(error.message);
}

/** Numbered parameters (`?1`) are turned into plain ones here: the SQLite of older Deno versions miscounts them. */
const NUMBERED = /\?\d+/g;
const numbersOf = (sql: string): number[] => [...sql.matchAll(NUMBERED)].map(([found]) => Number(found.slice(1)));

/**
 * One SQLite file, open for the life of the program. Statements are prepared once and kept. Calls are synchronous:
 * between two lines of a transaction no other request runs.
 */
export class Database {
  readonly #file: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** Of SQL with numbered parameters: which value comes at which place. */
  readonly #orders = new Map<string, readonly number[]>();
  #inside = false;

  constructor(file: DatabaseSync) {
    this.#file = file;
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      const order = numbersOf(sql);
      if (order.length > 0) this.#orders.set(sql, order);
      statement = this.#file.prepare(sql.replace(NUMBERED, "?"));
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** The values of a statement in the order of its places. */
  #bound(sql: string, values: readonly SqlValue[]): readonly SqlValue[] {
    const order = this.#orders.get(sql);
    return order === undefined ? values : order.map((number) => values[number - 1]!);
  }

  get<T = Row>(sql: string, ...values: SqlValue[]): T | undefined {
    return this.#statement(sql).get(...this.#bound(sql, values)) as T | undefined;
  }

  all<T = Row>(sql: string, ...values: SqlValue[]): T[] {
    return this.#statement(sql).all(...this.#bound(sql, values)) as T[];
  }

  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, ...values: SqlValue[]): number {
    return Number(this.#statement(sql).run(...this.#bound(sql, values)).changes);
  }

  /** Runs SQL of several statements, without parameters (migrations, pragmas). */
  exec(sql: string): void {
    this.#file.exec(sql);
  }

  get inTransaction(): boolean {
    return this.#inside;
  }

  /**
   * Runs `work` in one BEGIN IMMEDIATE transaction: all of it is kept, or none. `work` is synchronous, so no other
   * request comes in between; remote calls stay outside. A call inside another transaction joins it.
   */
  tx<T>(work: () => T): T {
    if (this.#inside) return synchronous(work());
    this.#file.exec("begin immediate");
    this.#inside = true;
    try {
      const result = synchronous(work());
      this.#file.exec("commit");
      return result;
    } catch (error) {
      rollback(this.#file);
      throw error;
    } finally {
      this.#inside = false;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#orders.clear();
    this.#file.close();
  }
}

function synchronous<T>(result: T): T {
  if (result instanceof Promise) throw new TypeError("A transaction must be synchronous");
  return result;
}

/** SQLite rolls back by itself on some failures (a full disk); a second rollback then says so and is no news. */
function rollback(file: DatabaseSync): void {
  try {
    file.exec("rollback");
  } catch (error) {
    if (!/no transaction is active/.test((error as Error).message)) throw error;
  }
}
