/** A server over a data directory with so many pods, listening on the operator's socket. RunPod is a prepared answer. */
import { openDatabase } from "../db/open.ts";
import { createApp } from "../server/app.ts";
import { systemClock } from "../server/clock.ts";
import { dataDirAt, initDataDir } from "../server/data_dir.ts";
import { takeLock } from "../server/data_lock.ts";
import { generateSecretKey } from "../server/identity/secret_box.ts";
import { listen } from "../server/listen.ts";
import { configOf, shutDown, stderrLog, stopSignal } from "../server/serve.ts";
import { fill, podAnswer } from "./many_pods.ts";

const [folder = "", count = ""] = Deno.args;
const pods = Number(count);
const stopped = stopSignal();
initDataDir(dataDirAt(folder), generateSecretKey());
const { config, dir } = configOf({ dataDir: folder, port: 0, allowTestUpstreams: true });
const start = systemClock.now();
const log = stderrLog();
const lock = takeLock(dir);
const db = openDatabase(dir.database);
const answer = JSON.stringify({ pods: Array.from({ length: pods }, (_, index) => podAnswer(index, start)) });
const app = createApp({
  config,
  version: "bench",
  db,
  clock: systemClock,
  log,
  fetch: () => Promise.resolve(new Response(answer, { headers: { "content-type": "application/json" } })),
});
const listening = await listen(app, config, dir, log);
const call = async (method: string, path: string, body: unknown) => {
  const headers = { "content-type": "application/json" };
  const request = new Request(`http://127.0.0.1${path}`, { method, headers, body: JSON.stringify(body) });
  const reply = await app.fetch(request, { isOperator: true, account: "bench", address: "127.0.0.1" });
  if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`);
};
await call("POST", "/api/operator/orgs", { prefix: "org", name: "Org", guild_id: "900000000000000001", force: true });
await call("PUT", "/api/operator/orgs/org/secrets/runpod_api_key", { value: "rpa_bench_0123456789" });
fill(db, pods, start);
console.log("The pods are ready");
await stopped;
await shutDown(app, listening);
db.close();
lock.release();
