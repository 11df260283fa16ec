/**
 * The server of the memory tests: the App that `orgpods serve` runs, built from the same parts, but with short waits for
 * the files of pods. Argument: the data directory; settings come from the environment.
 */
import { openDatabase } from "../../db/open.ts";
import { createApp } from "../../server/app.ts";
import { systemClock } from "../../server/clock.ts";
import { takeLock } from "../../server/data_lock.ts";
import { createOutward } from "../../server/fetch_once.ts";
import { FILE_TIMINGS } from "../../server/files/deps.ts";
import { listen } from "../../server/listen.ts";
import { configOf, shutDown, stderrLog, stopSignal } from "../../server/serve.ts";

const { config, dir } = configOf({ dataDir: Deno.args[0]!, port: 0, allowTestUpstreams: true });
const log = stderrLog();
const lock = takeLock(dir);
const db = openDatabase(dir.database);
const outward = createOutward();
const app = createApp({
  config,
  version: "0.0.0-test",
  db,
  clock: systemClock,
  log,
  fetch: outward.fetch,
  fileTimings: { ...FILE_TIMINGS, connectMs: 1_500, callMs: 600, listMs: 4_000, stallMs: 600, commandMs: 1_000 },
});
const stopped = stopSignal();
const listening = await listen(app, config, dir, log);
app.run();
log.info("orgpods is ready", { url: listening.url });
await stopped;
await shutDown(app, listening);
db.close();
outward.close();
lock.release();
Deno.exit(0);
