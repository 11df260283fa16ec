import { openDatabase } from "../db/open.ts";
import { type App, createApp } from "./app.ts";
import { systemClock } from "./clock.ts";
import { type Config, type ConfigFlags, loadEnvironment, missingSettings, readConfig } from "./config.ts";
import { type DataDir, dataDirAt, initDataDir, isInitialized, requireDataDir } from "./data_dir.ts";
import { lockForServer } from "./data_lock.ts";
import { createOutward } from "./fetch_once.ts";
import { homeOf } from "./home.ts";
import { generateSecretKey } from "./identity/secret_box.ts";
import { listen, type Listening } from "./listen.ts";
import { createLog, describeError, type Log } from "./log.ts";
import { VERSION } from "./version.ts";
import { within } from "./within.ts";

/** After SIGTERM requests under way get this long to end, then everything else: together within the promised 10 s. */
const DRAIN_MS = 7_000;
const CLOSE_MS = 2_500;

export interface ServeOptions {
  readonly dataDir: string;
  readonly host?: string;
  readonly port?: number;
  readonly envFile?: string;
  /** Makes the data directory when there is none. */
  readonly init?: boolean;
  readonly allowTestUpstreams?: boolean;
}

/** The settings of a data directory, from flags, the environment and its env file. */
export function configOf(options: ServeOptions): { config: Config; dir: DataDir } {
  const dir = dataDirAt(options.dataDir);
  const env = loadEnvironment(Deno.env.toObject(), options.envFile ?? dir.envFile, options.envFile !== undefined);
  const flags: ConfigFlags = {
    dataDir: options.dataDir,
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.allowTestUpstreams === undefined ? {} : { allowTestUpstreams: options.allowTestUpstreams }),
  };
  return { config: readConfig(flags, env), dir };
}

export function stderrLog(): Log {
  const encoder = new TextEncoder();
  return createLog((line) => {
    try {
      Deno.stderr.writeSync(encoder.encode(line + "\n"));
    } catch (error) {
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error; // Nobody reads the log any more.
    }
  }, systemClock.now);
}

/**
 * `orgpods serve`: takes the lock, brings the database up to date, answers on TCP and on the operator's socket, and
 * runs the loops until SIGINT or SIGTERM. Returns the exit code. A second signal ends it at once.
 */
export async function serve(options: ServeOptions): Promise<number> {
  Deno.umask(0o077);
  const log = stderrLog();
  if (options.init && !isInitialized(dataDirAt(options.dataDir))) {
    initDataDir(dataDirAt(options.dataDir), generateSecretKey());
    openDatabase(dataDirAt(options.dataDir).database).close();
  }
  requireDataDir(dataDirAt(options.dataDir));
  const { config, dir } = configOf(options);
  const lock = await lockForServer(dir);
  const db = openDatabase(dir.database);
  const outward = createOutward();
  const home = homeOf(dir.path);
  const app = createApp({ config, version: VERSION, db, clock: systemClock, log, fetch: outward.fetch, home });
  surviveUnhandledRejections(log);
  // Before it says that it is ready: whoever reads that may stop it at once.
  const stopped = stopSignal();
  const listening = await listen(app, config, dir, log);
  app.run();
  for (const missing of missingSettings(config)) log.warn(missing);
  log.info("orgpods is ready", { version: VERSION, url: listening.url, data_dir: dir.path });
  const code = await Promise.race([stopped.then(() => 0), listening.broken]).catch((error) => {
    log.error("A listener ended by itself, so orgpods stops", { error: describeError(error) });
    return 1;
  });
  log.info("orgpods is stopping");
  await shutDown(app, listening);
  outward.close();
  db.close();
  lock.release();
  log.info("orgpods has stopped");
  return code;
}

/** Stops taking requests, lets those under way end, then ends everything else; done within 10 s whatever hangs. */
export async function shutDown(app: App, listening: Listening): Promise<void> {
  await listening.close(DRAIN_MS);
  await within(app.close(), CLOSE_MS, () => {});
}

/** One rejected promise that nobody awaits would end the process: it is logged instead. */
export function surviveUnhandledRejections(log: Log): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("A promise was rejected and nobody took notice", { error: describeError(event.reason) });
  });
}

/** A terminal and a task runner both pass one Ctrl-C on: so soon it is the same one. */
const SAME_SIGNAL_MS = 1_500;

/** Resolves at the first SIGINT, SIGTERM (or SIGHUP); a later second one ends the process with exit code 1. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const onSignal = () => {
      if (askedAt !== null && performance.now() - askedAt > SAME_SIGNAL_MS) Deno.exit(1);
      askedAt ??= performance.now();
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) Deno.addSignalListener(signal, onSignal);
  });
}
