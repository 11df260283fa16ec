import { type DataDir, dataDirAt, HELD_BY_ADMIN, requireDataDir, tryLock } from "../../server/data_dir.ts";
import { AppError, shown } from "../../server/errors.ts";
import type { Connection } from "./connection.ts";
import { ANSWER_MS, type NoAnswer, nodeFetch } from "./node_fetch.ts";
import { Refusal } from "./refusal.ts";

export interface LocalTarget {
  readonly dataDir: string;
  readonly envFile?: string;
  readonly allowTestUpstreams?: boolean;
  /** How long to wait for another command in its own process to end, or for a starting server; 10 s unless said. */
  readonly waitMs?: number;
}

/** The host of requests that never leave this machine; the server does not look at it. */
const BASE_URL = "http://operator";
const WAIT_MS = 10_000;
const RETRY_MS = 100;

/**
 * The server of a data directory: over the operator's socket when one runs; without one the App in this process, under
 * the directory's lock. Throws `AppError`: `usage` for a folder that is no data directory, `permission_denied` for one
 * of another user, `already_running` when the lock is held and nobody answers.
 */
export async function connectLocal(target: LocalTarget): Promise<Connection> {
  const dir = dataDirAt(target.dataDir);
  const isOwn = checkedOwner(dir);
  for (const until = performance.now() + (target.waitMs ?? WAIT_MS);;) {
    if (await isListening(dir.socket)) return overSocket(dir.socket);
    if (!isOwn) {
      throw new AppError(
        "permission_denied",
        `No server runs over ${shown(dir.path)}, and the directory belongs to another user: run this as that user`,
      );
    }
    const lock = tryLock(dir);
    if (lock !== null) {
      const { openInProcess } = await import("../../server/in_process.ts");
      const app = openInProcess(target, lock);
      return { baseUrl: BASE_URL, isOperator: true, isOwnProcess: true, fetch: app.fetch, close: app.close };
    }
    if (performance.now() > until) {
      throw new AppError(
        "already_running",
        `Another orgpods uses the data directory ${shown(dir.path)} and does not answer on its socket`,
        { hint: HELD_BY_ADMIN },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
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

async function isListening(path: string): Promise<boolean> {
  try {
    const probe = await Deno.connect({ transport: "unix", path });
    probe.close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.ConnectionRefused) return false;
    throw error;
  }
}

function overSocket(path: string): Connection {
  const asError = ({ isLate }: NoAnswer) => {
    const what = isLate ? `did not answer within ${ANSWER_MS / 1000} s` : "went away before it answered";
    return new Refusal(`The server ${what}; whether the request was carried out is not known`, 6);
  };
  const fetch = nodeFetch({ socketPath: path }, { asError });
  return { baseUrl: BASE_URL, isOperator: true, fetch, close: () => Promise.resolve() };
}
