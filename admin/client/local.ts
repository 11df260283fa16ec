import { type DataDir, dataDirAt, requireDataDir } from "../../server/data_dir.ts";
import { type Lock, waitForLock } from "../../server/data_lock.ts";
import { AppError, shown } from "../../server/errors.ts";
import type { InProcess } from "../../server/in_process.ts";
import { isListening } from "../../server/operator_socket.ts";
import type { Connection } from "./connection.ts";
import { createHandover } from "./handover.ts";
import { ANSWER_MS, type NoAnswer, nodeFetch } from "./node_fetch.ts";
import { createOwnProcess, type OwnProcess } from "./own_process.ts";
import { Refusal } from "./refusal.ts";

export interface LocalTarget {
  readonly dataDir: string;
  readonly envFile?: string;
  readonly allowTestUpstreams?: boolean;
  /** How long to wait for another command in its own process to end, or for a starting server; 15 s unless said. */
  readonly waitMs?: number;
}

/** The host of requests that never leave this machine; the server does not look at it. */
const BASE_URL = "http://operator";
const WAIT_MS = 15_000;

/**
 * The server of a data directory: over the operator's socket when one runs; without one the App in this process, under
 * the directory's lock. Throws `AppError`: `usage` for a folder that is no data directory, `permission_denied` for one
 * of another user, `already_running` when the lock is held and nobody answers.
 */
export async function connectLocal(target: LocalTarget): Promise<Connection> {
  const dir = dataDirAt(target.dataDir);
  const lock = await socketOrLock(target, dir);
  if (lock === null) return overSocket(dir);
  const app = await openApp(target, lock);
  return { baseUrl: BASE_URL, isOperator: true, isOwnProcess: true, fetch: app.fetch, close: app.close };
}

/**
 * As `connectLocal`, for somebody who stays long: without a server the data directory is given to a server that starts,
 * or to a command, and requests go on there or here. Until then `isOwnProcess` is true.
 */
export async function connectLocalForLong(target: LocalTarget): Promise<Connection> {
  const dir = dataDirAt(target.dataDir);
  const open = async (): Promise<OwnProcess | null> => {
    const lock = await socketOrLock(target, dir);
    return lock === null ? null : createOwnProcess(await openApp(target, lock), dir);
  };
  const first = await open();
  return first === null ? overSocket(dir) : createHandover(first, { open, overSocket: () => overSocket(dir) });
}

/** The App is loaded only when no server runs. */
async function openApp(target: LocalTarget, lock: Lock): Promise<InProcess> {
  const { openInProcess } = await import("../../server/in_process.ts");
  return openInProcess(target, lock);
}

/** The lock when no server runs, null when one answers on the socket. */
async function socketOrLock(target: LocalTarget, dir: DataDir): Promise<Lock | null> {
  const isOwn = checkedOwner(dir);
  if (await isListening(dir)) return null;
  if (!isOwn) {
    throw new AppError(
      "permission_denied",
      `No server runs over ${shown(dir.path)}, and the directory belongs to another user: run this as that user`,
    );
  }
  const lock = await waitForLock(dir, target.waitMs ?? WAIT_MS);
  if (lock !== null || await isListening(dir)) return lock;
  throw new AppError(
    "already_running",
    `Another orgpods uses the data directory ${shown(dir.path)} and does not answer on its socket`,
    { hint: "It is a command that is under way, or a server that starts or stops: try again in a moment" },
  );
}

/**
 * Whether the data directory is this user's. Root can use the socket of another user's server, but what root writes
 * there itself that server could not open any more.
 */
function checkedOwner(dir: DataDir): boolean {
  try {
    requireDataDir(dir);
    return Deno.statSync(dir.path).uid === Deno.uid();
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    throw new AppError(
      "permission_denied",
      `This user may not look into the data directory ${shown(dir.path)}: run this as the user that orgpods runs as`,
    );
  }
}

function overSocket(dir: DataDir): Connection {
  const asError = ({ isLate }: NoAnswer) => {
    const what = isLate ? `did not answer within ${ANSWER_MS / 1000} s` : "went away before it answered";
    return new Refusal(`The server ${what}; whether the request was carried out is not known`, 6);
  };
  const fetch = nodeFetch({ socketPath: dir.socket }, { asError });
  return { baseUrl: BASE_URL, isOperator: true, fetch, close: () => Promise.resolve() };
}
