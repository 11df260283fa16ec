/** What the tests of the pods share: a world with its clock, shorthands for calls, and the parts for tests without HTTP. */
import assert from "node:assert/strict";
import type { IntentRow } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { orgByPrefix } from "../../db/stores/organizations.ts";
import { createAudit } from "../../server/audit/write.ts";
import type { Clock } from "../../server/clock.ts";
import { createDirectory } from "../../server/discord/directory.ts";
import type { RecordedRequest } from "../../server/demo/runpod/mod.ts";
import { createOrgSecrets } from "../../server/identity/org_secrets.ts";
import { createSecretBox } from "../../server/identity/secret_box.ts";
import { silentLog } from "../../server/log.ts";
import { POD_TIMINGS, type PodDeps } from "../../server/pods/deps.ts";
import { createRunpodAccounts } from "../../server/runpod/accounts.ts";
import type { RunpodPod } from "../../server/runpod/client.ts";
import { createOrgKeys } from "../../server/ssh/org_keys.ts";
import { createPool } from "../../server/ssh/pool.ts";
import {
  type Answer,
  createWorld,
  type TestClock,
  testClock,
  type World,
  type WorldOptions,
} from "../support/world.ts";

export interface ClockedWorld extends World {
  readonly clock: TestClock;
  /** The program's fetch, which ends in the stand-ins. */
  readonly fetch: typeof fetch;
}

/** Runs a test in a fresh world and ends it whatever happens. */
export async function inWorld(
  options: Omit<WorldOptions, "clock">,
  test: (world: ClockedWorld) => Promise<void>,
): Promise<void> {
  const clock = testClock();
  let sent: typeof fetch = () => Promise.reject(new Error("No fetch yet"));
  const made = await createWorld({
    ...options,
    clock,
    fetch: (inner) => sent = options.fetch?.(inner) ?? inner,
  });
  const world = Object.assign(made, { clock, fetch: sent });
  try {
    await test(world);
  } finally {
    await world.close();
  }
}

export const ORG = "/api/compute/org";

export function create(world: World, body: Record<string, unknown> = {}, key?: string): Promise<Answer> {
  return world.call("POST", `${ORG}/pods`, {
    as: "officer",
    body: { use_cpu_only: true, ...body },
    headers: key === undefined ? {} : { "idempotency-key": key },
  });
}

export function act(world: World, id: string, action: string): Promise<Answer> {
  return world.call("POST", `${ORG}/pods/${id}/action`, { as: "officer", body: { action } });
}

// deno-lint-ignore no-explicit-any
export async function listed(world: World): Promise<any[]> {
  const answer = await world.call("GET", `${ORG}/pods`, { as: "officer" });
  assert.equal(answer.status, 200, answer.text);
  return answer.json.pods;
}

// deno-lint-ignore no-explicit-any
export async function attention(world: World, org = "org"): Promise<any[]> {
  const as = org === "org" ? "officer" : "otherOfficer";
  const answer = await world.call("GET", `/api/compute/${org}/attention`, { as });
  assert.equal(answer.status, 200, answer.text);
  return answer.json.attention;
}

/** A list of RunPod that is certainly newer than anything before. */
// deno-lint-ignore no-explicit-any
export async function refreshed(world: ClockedWorld): Promise<any[]> {
  world.clock.advance(1_500);
  return await listed(world);
}

export function refused(answer: Answer, status: number, code: string, sentence?: string | RegExp): void {
  assert.equal(answer.json?.code, code, answer.text);
  assert.equal(answer.status, status, answer.text);
  if (typeof sentence === "string") assert.equal(answer.json.error, sentence);
  else if (sentence !== undefined) assert.match(answer.json.error, sentence);
}

/** What RunPod was asked, such as `requests(world, "POST", "/pods")`; the path is without `/v2`. */
export function requests(world: World, method: string, path: string | RegExp): RecordedRequest[] {
  const fits = (got: string) => typeof path === "string" ? got === path : path.test(got);
  return world.runpod.requests.filter((one) => one.method === method && fits(one.path.replace(/^\/v2/, "")));
}

/** How many creates RunPod was sent. */
export const creates = (world: World): number => requests(world, "POST", "/pods").length;

/** Waits for a call while the clock moves on; fails after a real minute. */
export async function whileTimePasses<T>(world: ClockedWorld, call: Promise<T>, stepMs = 100): Promise<T> {
  let over = false;
  const watched = call.finally(() => over = true);
  watched.catch(() => {});
  const until = performance.now() + 60_000;
  while (!over) {
    if (performance.now() > until) throw new Error("The call never ended");
    world.clock.advance(stepMs);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return await watched;
}

export function orgNamed(world: World, prefix = "org"): Org {
  const org = orgByPrefix(world.db, prefix);
  assert.ok(org);
  return org;
}

export function intentsOf(world: World): IntentRow[] {
  return world.db.all<IntentRow>("select * from compute_intents order by asked_at, rowid");
}

/** Parts over the world's database and stand-ins, as the program has them: for what no request reaches. */
export function partsOf(world: ClockedWorld, timings: Partial<PodDeps["timings"]> = {}): PodDeps {
  const { db, clock, config } = world;
  const box = createSecretBox(config.secretKeys);
  const common = { clock, log: silentLog, fetch: world.fetch, version: "0.0.0-test" };
  return {
    db,
    clock,
    log: silentLog,
    audit: createAudit(db, clock, silentLog),
    runpod: createRunpodAccounts({
      ...common,
      baseUrl: config.runpodApiUrl,
      secrets: createOrgSecrets(db, box, clock),
    }),
    keys: createOrgKeys(db, box, clock),
    ssh: createPool({ verifyHostKey: () => false, clock, log: silentLog }),
    directory: createDirectory({ ...common, apiUrl: config.discordApiUrl, botToken: config.botToken }),
    timings: { ...POD_TIMINGS, settleWaitMs: 400, settleEveryMs: 20, createCallMs: 400, ...timings },
    deploymentImage: config.podImage,
    inFlight: new Set(),
  };
}

/** A pod as the client reads it, all ordinary. */
export function runpodPod(change: Partial<RunpodPod> = {}): RunpodPod {
  return {
    id: "abcdefghij0001",
    name: "pod-org-00000000",
    status: "RUNNING",
    actions: [],
    image: "image:1",
    env: null,
    cost: 0.2,
    gpu: null,
    cpu: { id: "cpu3c", vcpuCount: 2 },
    cloud: "SECURE",
    dataCenterId: "EU-RO-1",
    disk: 20,
    volumeGb: null,
    networkMount: null,
    networkVolume: false,
    machine: null,
    address: { host: "192.0.2.10", port: 40_022 },
    createdAt: 1_000,
    startedAt: 2_000,
    uptimeSeconds: 10,
    gpuPercent: null,
    cpuPercent: null,
    locked: false,
    args: null,
    ...change,
  };
}

export function fixedClock(now: number): Clock {
  return { now: () => now };
}
