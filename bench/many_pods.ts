import { openDatabase } from "../db/open.ts";
import { createApp } from "../server/app.ts";
import { DAY, HOUR, MINUTE } from "../server/clock.ts";
import { readConfig } from "../server/config.ts";
import { generateSecretKey } from "../server/identity/secret_box.ts";
import { silentLog } from "../server/log.ts";
import { type Figure } from "./figures.ts";
import { median } from "./rounds.ts";
import type { BenchWorld } from "./world.ts";

const ROUNDS = 9;
const SESSIONS_PER_POD = 10;

/**
 * The schedule, the list and the month's spend of an org with 1,000 pods and 10,000 sessions, nothing of it due. RunPod is
 * a prepared answer, so that its time does not count; the peer is the same with 100 pods.
 */
export async function benchManyPods(world: BenchWorld): Promise<Figure[]> {
  const small = await measure(`${world.folder}/pods-100`, 100);
  const large = await measure(`${world.folder}/pods-1000`, 1_000);
  const value = (of: Omit<Figure, "peer" | "unit" | "compared">, ms: number, goalMs?: number): Figure => ({
    ...of,
    unit: "ms",
    peer: "with 100 pods",
    compared: { how: "value", value: ms },
    ...(goalMs === undefined ? {} : { goal: { text: `under ${goalMs} ms`, met: ms < goalMs } }),
  });
  const perPod = (of: Measured, ms: number) => ms * 1_000 / of.pods;
  const flat = perPod(large, large.spendMs) / perPod(small, small.spendMs);
  return [
    value(
      {
        figure: "schedule turn, 1,000 pods",
        value: large.turnMs,
        peerValue: small.turnMs,
        note: `10,000 sessions, none due; calls to RunPod in one turn: ${large.calls} (goal 1).`,
      },
      large.turnMs,
      50,
    ),
    value({ figure: "pod list, 1,000 pods", value: large.listMs, peerValue: small.listMs }, large.listMs, 30),
    value({ figure: "a month's spend, 1,000 pods", value: large.spendMs, peerValue: small.spendMs }, large.spendMs),
    {
      figure: "spend, cost of one pod",
      value: perPod(large, large.spendMs),
      unit: "µs",
      peer: "with 100 pods",
      peerValue: perPod(small, small.spendMs),
      compared: { how: "ratio", value: flat },
      goal: { text: "flat: at most 1.2", met: flat <= 1.2 },
    },
  ];
}

interface Measured {
  readonly pods: number;
  readonly turnMs: number;
  readonly listMs: number;
  readonly spendMs: number;
  /** Calls to RunPod of one turn. */
  readonly calls: number;
}

async function measure(folder: string, pods: number): Promise<Measured> {
  Deno.mkdirSync(folder);
  const start = Date.UTC(2026, 10, 20, 12);
  let now = start;
  let calls = 0;
  const answer = JSON.stringify({ pods: Array.from({ length: pods }, (_, index) => podAnswer(index, start)) });
  const db = openDatabase(`${folder}/orgpods.sqlite`);
  const app = createApp({
    config: readConfig({ dataDir: folder, port: 0, allowTestUpstreams: true }, {
      SECRETS_KEY: generateSecretKey(),
      RUNPOD_API_URL: "http://127.0.0.1:1/v2",
    }),
    version: "bench",
    db,
    clock: { now: () => now },
    log: silentLog,
    fetch: () => {
      calls++;
      return Promise.resolve(new Response(answer, { headers: { "content-type": "application/json" } }));
    },
  });
  const call = async (method: string, path: string, body?: unknown) => {
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const reply = await app.fetch(request, { isOperator: true, account: "bench", address: "127.0.0.1" });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${text}`);
    return text;
  };
  try {
    await call("POST", "/api/operator/orgs", {
      prefix: "org",
      name: "Org",
      guild_id: "900000000000000001",
      force: true,
    });
    await call("PUT", "/api/operator/orgs/org/secrets/runpod_api_key", { value: "rpa_bench_0123456789" });
    fill(db, pods, start);
    const timed = async (work: () => Promise<unknown>): Promise<number> => {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        now += MINUTE;
        const begun = performance.now();
        await work();
        times.push(performance.now() - begun);
      }
      return median(times);
    };
    await app.jobs.schedule.turn();
    calls = 0;
    const turnMs = await timed(() => app.jobs.schedule.turn());
    const perTurn = calls / ROUNDS;
    // The list itself: what the turn before it has read is still fresh.
    const listTimes: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const begun = performance.now();
      await call("GET", "/api/compute/org/pods");
      listTimes.push(performance.now() - begun);
    }
    const spendMs = await timed(() => call("GET", "/api/compute/org/spend?group=pod"));
    return { pods, turnMs, listMs: median(listTimes), spendMs, calls: perTurn };
  } finally {
    await app.close();
    db.close();
  }
}

const runpodId = (index: number) => `pod${String(index).padStart(11, "0")}`;

/** Nine of ten pods stand still, as in an org between its workshops. */
const isRunning = (index: number) => index % 10 === 0;

/** A pod as RunPod answers it. */
export function podAnswer(index: number, start: number) {
  const running = isRunning(index);
  return {
    id: runpodId(index),
    name: `pod-${index}-org`,
    status: running ? "RUNNING" : "EXITED",
    actions: running ? ["stop", "restart", "terminate"] : ["start", "terminate"],
    image: "theaisocietyasu/godfather-base:latest",
    disk: 20,
    mounts: { persistent: { size: 20, path: "/workspace" } },
    ports: ["22/tcp"],
    env: {},
    gpu: { id: "NVIDIA RTX A4000", count: 1, vcpuCount: 8, memory: 30 },
    cloud: "SECURE",
    dataCenterId: "EU-RO-1",
    // No address: dialing pods is not what is measured.
    ssh: { direct: null, proxy: null },
    cost: running ? 0.25 : 0,
    runtime: running ? { uptime: 3_600, gpus: [{ util: 50, memoryUtil: 10 }], cpu: { util: 20 }, ports: [] } : null,
    createdAt: new Date(start - 10 * DAY).toISOString(),
    startedAt: new Date(start - HOUR).toISOString(),
  };
}

/** Pods with ten runs in this month behind them and ten sessions before them. */
export function fill(db: ReturnType<typeof openDatabase>, pods: number, start: number): void {
  db.tx(() => {
    for (let index = 0; index < pods; index++) {
      const id = `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
      const config = {
        use_cpu_only: false,
        volume_in_gb: 20,
        container_disk_in_gb: 20,
        gpu_type_id: "NVIDIA RTX A4000",
      };
      db.run(
        "insert into compute_pods (id, org_id, name, runpod_name, runpod_id, state, config, keeps_files, created_at) " +
          "values (?, 1, ?, ?, ?, 'live', ?, 1, ?)",
        id,
        `pod ${index}`,
        `pod-${index}-org`,
        runpodId(index),
        JSON.stringify(config),
        start - 10 * DAY,
      );
      db.run(
        "insert into compute_pod_incarnations (runpod_id, pod_id, since, why) values (?, ?, ?, 'bench')",
        runpodId(index),
        id,
        start - 10 * DAY,
      );
      for (let day = 0; day < 19; day += 2) {
        const from = Date.UTC(2026, 10, 1) + day * DAY;
        const add = (kind: string, rate: number, at: number, until: number) =>
          db.run(
            "insert into compute_spend (org_id, pod_id, runpod_id, kind, hardware_per_hour, disk_per_hour, from_at, " +
              "until_at, observed_at) values (1, ?, ?, ?, ?, 0.005, ?, ?, ?)",
            id,
            runpodId(index),
            kind,
            rate,
            at,
            until,
            until,
          );
        add("running", 0.25, from, from + 2 * HOUR);
        add("storage", 0, from + 2 * HOUR, from + 2 * DAY);
      }
      for (let week = 1; week <= SESSIONS_PER_POD; week++) {
        const at = start + week * 7 * DAY;
        db.run(
          "insert into compute_sessions (org_id, pod_id, title, start_at, stop_at, created_at) values (1, ?, 'W', ?, ?, ?)",
          id,
          at,
          at + 2 * HOUR,
          start,
        );
      }
    }
  });
}
