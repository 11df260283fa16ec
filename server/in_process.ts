import { openDatabase } from "../db/open.ts";
import { createApp } from "./app.ts";
import { systemClock } from "./clock.ts";
import { requireDataDir } from "./data_dir.ts";
import type { Lock } from "./data_lock.ts";
import { createOutward } from "./fetch_once.ts";
import { localAccount } from "./listen.ts";
import { silentLog } from "./log.ts";
import { configOf, type ServeOptions } from "./serve.ts";
import { VERSION } from "./version.ts";

/** The App in a command's own process, for when no server runs: the operator's calls, without loops and listeners. */
export interface InProcess {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** Opens the App over a data directory whose lock the caller holds; `close` gives the lock back. */
export function openInProcess(options: ServeOptions, lock: Lock): InProcess {
  try {
    Deno.umask(0o077);
    const { config, dir } = configOf(options);
    requireDataDir(dir);
    const db = openDatabase(dir.database);
    const outward = createOutward();
    const app = createApp({
      config,
      version: VERSION,
      db,
      clock: systemClock,
      log: silentLog,
      fetch: outward.fetch,
    });
    return {
      fetch: (request) => app.fetch(request, { isOperator: true, account: localAccount(), address: "" }),
      async close() {
        await app.close();
        outward.close();
        db.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
