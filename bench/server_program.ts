/**
 * The real server as `orgpods serve` builds it, but for the limits: the real ones (60 connects a minute for one person, 50
 * certificates for one pod) would end every measurement after a moment.
 */
import { openDatabase } from "../db/open.ts";
import { createApp } from "../server/app.ts";
import { MINUTE, systemClock } from "../server/clock.ts";
import { takeLock } from "../server/data_lock.ts";
import { createOutward } from "../server/fetch_once.ts";
import type { LimitRule } from "../server/http/limits.ts";
import { listen } from "../server/listen.ts";
import { configOf, shutDown, stderrLog, stopSignal } from "../server/serve.ts";
import { VERSION } from "../server/version.ts";

const [dataDir = ""] = Deno.args;
const log = stderrLog();
const { config, dir } = configOf({ dataDir, port: 0, allowTestUpstreams: true });
const lock = takeLock(dir);
const db = openDatabase(dir.database);
const outward = createOutward();
const generous: LimitRule = { tries: 1e9, windowMs: MINUTE, what: "tries" };
const app = createApp({
  config,
  version: VERSION,
  db,
  clock: systemClock,
  log,
  fetch: outward.fetch,
  limitRules: { connect: generous, signIn: generous, allSignIns: generous, badToken: generous },
  mostCertificates: Infinity,
});
const listening = await listen(app, config, dir, log);
app.run();
log.info("orgpods is ready", { version: VERSION, url: listening.url });
await stopSignal();
await shutDown(app, listening);
outward.close();
db.close();
lock.release();
