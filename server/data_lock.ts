import { DatabaseSync } from "node:sqlite";
import type { DataDir } from "./data_dir.ts";
import { AppError, shown } from "./errors.ts";
import { isListening } from "./operator_socket.ts";

/** The one lock of a data directory, freed by the system when the process ends, however it ends. */
export interface Lock {
  release(): void;
}

/** How long a start waits for a server that is stopping, a command, or an admin that gives the directory away. */
const WAIT_MS = 15_000;
const RETRY_MS = 100;

/** Takes the lock, or returns null when another process holds it. */
export function tryLock(dir: DataDir): Lock | null {
  return tryExclusive(`${dir.path}/lock`);
}

/** Whether another process waits for the lock. Who holds it for long without being a server then gives it away. */
export function isWanted(dir: DataDir): boolean {
  const wish = tryWish(dir);
  wish?.release();
  return wish === null;
}

/** A lock of its own says that somebody waits: like the other, no killed process leaves it behind. */
function tryWish(dir: DataDir): Lock | null {
  return tryExclusive(`${dir.path}/lock.wanted`);
}

/**
 * An exclusive transaction on a database file of its own: SQLite's locks are the system's, so a killed process leaves
 * none behind. Null when another process has one.
 */
function tryExclusive(path: string): Lock | null {
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    file.exec("pragma busy_timeout = 0; begin exclusive");
  } catch (error) {
    file.close();
    if (/database is locked|busy/i.test((error as Error).message)) return null;
    throw error;
  }
  Deno.chmodSync(path, 0o600);
  return {
    release() {
      file.exec("rollback");
      file.close();
    },
  };
}

/**
 * The lock of a directory that no server answers for, or null when that takes longer than `ms` or a server begins to
 * answer. Who holds it meanwhile can see that it is wanted (`isWanted`).
 */
export async function waitForLock(dir: DataDir, ms: number): Promise<Lock | null> {
  let wish: Lock | null = null;
  try {
    for (const until = performance.now() + ms;;) {
      if (await isListening(dir)) return null;
      const lock = tryLock(dir);
      if (lock !== null) return lock;
      wish ??= tryWish(dir);
      if (performance.now() > until) return null;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  } finally {
    wish?.release();
  }
}

/**
 * The lock for a server. Throws `already_running` at once when a server answers for the directory, and after `ms` when
 * something else keeps it.
 */
export async function lockForServer(dir: DataDir, ms: number = WAIT_MS): Promise<Lock> {
  const lock = await waitForLock(dir, ms);
  if (lock !== null) return lock;
  const isServer = await isListening(dir);
  throw new AppError("already_running", `Another orgpods uses the data directory ${shown(dir.path)}`, {
    hint: isServer ? "It is a server: stop that one first" : "It is a command that is under way: wait for it or end it",
  });
}

/** The lock of a directory that nobody else uses. Throws `already_running`. */
export function takeLock(dir: DataDir): Lock {
  const lock = tryLock(dir);
  if (lock === null) {
    throw new AppError("already_running", `Another orgpods uses the data directory ${shown(dir.path)}`);
  }
  return lock;
}
