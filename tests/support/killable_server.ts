/**
 * The server of the kill tests: the App that `orgpods serve` runs, built from the same parts, with short waits. A line on
 * its standard input names a step, and perhaps the action it must belong to; when a request to RunPod or its bookkeeping
 * comes to that step, the process kills itself with SIGKILL. Arguments: the data directory, and perhaps how often the
 * schedule has a turn, in milliseconds; settings come from the environment.
 */
import type { Database } from "../../db/database.ts";
import { openDatabase } from "../../db/open.ts";
import { createApp } from "../../server/app.ts";
import { systemClock } from "../../server/clock.ts";
import { takeLock } from "../../server/data_lock.ts";
import { createOutward } from "../../server/fetch_once.ts";
import { listen } from "../../server/listen.ts";
import { POD_TIMINGS } from "../../server/pods/deps.ts";
import { SCHEDULE_TIMINGS } from "../../server/schedule/decide.ts";
import { configOf, shutDown, stderrLog, stopSignal } from "../../server/serve.ts";
import { isStep, type Step } from "./kill_steps.ts";

let armed: { readonly step: Step; readonly action: string | null } | null = null;
/** What RunPod was asked for last, or is about to be. */
let action: string | null = null;

function dieAt(step: Step): void {
  if (armed?.step !== step || armed.action !== null && armed.action !== action) return;
  Deno.kill(Deno.pid, "SIGKILL");
  for (;;); // Nothing may run on until the signal has arrived.
}

/** The database with ears: it hears which statement runs, and when a transaction with such a statement was committed. */
function killing(db: Database): Database {
  let audited = false;
  let marked = false;
  const run: Database["run"] = (sql, ...values) => {
    if (sql.startsWith("update compute_sessions set state") && values[0] === "starting") {
      action = "start";
      dieAt("unmarked");
      marked = true;
    }
    // The columns are id, org, pod, RunPod id and action.
    if (sql.startsWith("insert into compute_intents")) action = String(values[4]);
    if (sql.startsWith("update compute_intents set state = 'sent'")) dieAt("saved");
    if (sql.startsWith("insert into key_rotations")) action = "rotate";
    if (sql.startsWith("insert into env_changes")) action = "env";
    if (sql.startsWith("update key_rotations set state = 'done'")) action = "finish";
    if (sql.startsWith("update compute_pods set files_backend")) {
      action = "files";
      dieAt("answered");
    }
    if (sql.startsWith("update compute_pods set trust_digest = ?, trust_error = null")) dieAt("delivered");
    if (sql.startsWith("update access_removals set tried_at")) dieAt("ended");
    if (sql.startsWith("update access_removals set state = 'done'")) dieAt("unsettled");
    if (sql.startsWith("insert into audit_log")) {
      dieAt("storing");
      audited = true;
    }
    return db.run(sql, ...values);
  };
  const tx: Database["tx"] = (work) => {
    if (!db.inTransaction) audited = marked = false;
    const result = db.tx(work);
    if (!db.inTransaction && audited) dieAt("stored");
    if (!db.inTransaction && marked) dieAt("marked");
    return result;
  };
  return new Proxy(db, {
    get(target, name) {
      if (name === "run") return run;
      if (name === "tx") return tx;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** What goes to RunPod to change something passes here. */
function killingFetch(inner: typeof fetch, runpodUrl: string): typeof fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!url.startsWith(runpodUrl) || (init?.method ?? "GET") === "GET") return await inner(input, init);
    dieAt("sent");
    let answer: Response;
    let bytes: ArrayBuffer;
    try {
      answer = await inner(input, init);
      bytes = await answer.arrayBuffer();
    } catch (error) {
      dieAt("unanswered");
      throw error;
    }
    dieAt("answered");
    const { status, headers } = answer;
    return new Response(bytes.byteLength === 0 ? null : bytes, { status, headers });
  };
}

async function readSteps(): Promise<void> {
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const [step = "", wanted = null] = text.trim().split(" ");
    if (!isStep(step)) throw new TypeError(`There is no such step: ${step}`);
    armed = { step, action: wanted };
    Deno.stdout.writeSync(new TextEncoder().encode(`dies at ${step}\n`));
  }
}

if (import.meta.main) {
  const { config, dir } = configOf({ dataDir: Deno.args[0]!, port: 0, allowTestUpstreams: true });
  const log = stderrLog();
  const lock = takeLock(dir);
  const opened = openDatabase(dir.database);
  const outward = createOutward();
  const turnMs = Deno.args[1] === undefined ? null : Number(Deno.args[1]);
  const app = createApp({
    config,
    version: "0.0.0-test",
    db: killing(opened),
    clock: systemClock,
    log,
    fetch: killingFetch(outward.fetch, config.runpodApiUrl),
    timings: { ...POD_TIMINGS, settleWaitMs: 400, settleEveryMs: 50, settleWindowMs: 1_000, freshPodMs: 300 },
    keyTimings: { turnMs: 300, listAgeMs: 200, firstWaitMs: 200 },
    ...(turnMs === null ? {} : { scheduleTimings: { ...SCHEDULE_TIMINGS, turnMs } }),
  });
  const stopped = stopSignal();
  const listening = await listen(app, config, dir, log);
  app.run();
  readSteps();
  log.info("orgpods is ready", { url: listening.url });
  await stopped;
  await shutDown(app, listening);
  opened.close();
  outward.close();
  lock.release();
  Deno.exit(0);
}
