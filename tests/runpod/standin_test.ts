/** The client against the strict stand-in over a real socket: both follow the same contract, each written for itself. */
import assert from "node:assert/strict";
import { type CreateBody, createBody, type RunpodClient } from "../../server/runpod/client.ts";
import { createFakeRunpod, type FakeRunpod, type FakeRunpodOptions } from "../../server/demo/runpod/mod.ts";
import { failure, KEY, testClient } from "./support.ts";

const GPU = createBody({
  name: "workshop-k3x9",
  image: "ghcr.io/example/pod:1",
  cloud: "SECURE",
  diskGb: 20,
  env: { GODFATHER_SETUP: "true" },
  hardware: { kind: "gpu", gpuTypeId: "NVIDIA RTX A4000", minCudaVersion: "12.4" },
  volume: { sizeGb: 10, path: "/workspace" },
});
const CPU = createBody({ ...GPU, diskGb: 20, hardware: { kind: "cpu", flavor: "cpu3c", vcpuCount: 4 } });

interface Bench {
  readonly fake: FakeRunpod;
  readonly client: RunpodClient;
  /** Moves the stand-in's clock, so that pods come up. */
  advance(ms: number): void;
}

async function withStandIn(work: (bench: Bench) => Promise<void>, options: Partial<FakeRunpodOptions> = {}) {
  let now = Date.UTC(2026, 8, 1, 12);
  const clock = { now: () => now };
  const fake = createFakeRunpod({ apiKeys: { [KEY]: "full" }, demoSecret: "secret", clock, ...options });
  const { origin } = await fake.listen();
  const { client } = testClient(`${origin}/v2`, { clock });
  try {
    await work({ fake, client, advance: (ms) => void (now += ms) });
  } finally {
    await fake.close();
  }
}

Deno.test("stand-in takes a GPU pod through create, running, stop, start, restart and terminate", async () => {
  await withStandIn(async ({ fake, client, advance }) => {
    const made = await client.create(GPU);
    assert.equal(made.status, "PROVISIONING");
    assert.equal(made.address, null);
    assert.equal(made.volumeGb, 10);
    advance(1_000);
    const up = await client.get(made.id);
    assert.equal(up.status, "RUNNING");
    assert.ok(up.address);
    assert.deepEqual(up.gpu, { id: "NVIDIA RTX A4000", count: 1 });
    assert.deepEqual(up.env, { GODFATHER_SETUP: "true" });
    assert.ok((up.cost ?? 0) > 0);
    assert.ok(up.startedAt !== null && up.createdAt !== null);

    assert.equal((await failure(client.act(made.id, "start"))).kind, "conflict");
    assert.equal((await client.act(made.id, "stop"))?.status, "EXITED");
    assert.equal((await client.get(made.id)).cost, 0);
    await client.act(made.id, "start");
    advance(1_000);
    await client.act(made.id, "restart");
    advance(1_000);
    assert.equal((await client.get(made.id)).status, "RUNNING");

    assert.equal(await client.terminate(made.id), "deleted");
    assert.equal(await client.terminate(made.id), "was_gone");
    assert.equal((await failure(client.get(made.id))).kind, "not_found");
    assert.deepEqual(await client.list(), []);
    assert.ok(fake.requests.every((request) => request.headers["user-agent"] === "orgpods/1.2.3"));
  });
});

Deno.test("stand-in accepts a CPU pod and a new env", async () => {
  await withStandIn(async ({ client, advance }) => {
    const made = await client.create(CPU);
    assert.deepEqual(made.cpu, { id: "cpu3c", vcpuCount: 4 });
    assert.equal(made.gpu, null);
    advance(1_000);
    await client.act(made.id, "stop");
    assert.deepEqual((await client.patch(made.id, { env: { B: "c" } })).env, { B: "c" });
  });
});

Deno.test("stand-in refuses a broken body and the client shows each line", async () => {
  await withStandIn(async ({ client }) => {
    const body = { ...GPU, bogus: 1 } as unknown as CreateBody;
    const error = await failure(client.create(body));
    assert.equal(error.kind, "invalid");
    assert.equal(error.status, 422);
    assert.match(error.detail, /^Request validation failed: .*'bogus' not allowed/);
    assert.deepEqual(error.errors, ["$: additional properties 'bogus' not allowed"]);
  });
});

const LOST = ["cut", "hang", "500", "502", "cut-body"];
for (const variant of LOST) {
  Deno.test(`stand-in makes one pod and the client says ambiguous when the create is lost by ${variant}`, async () => {
    await withStandIn(async ({ fake, client, advance }) => {
      fake.faults.on({ fault: "F13", variant });
      const error = await failure(client.create(GPU, { timeoutMs: variant === "hang" ? 200 : 60_000 }));
      assert.equal(error.ambiguous, true);
      assert.equal(fake.requests.filter((request) => request.method === "POST").length, 1);
      advance(1_000);
      assert.deepEqual((await client.list()).map((pod) => pod.name), ["workshop-k3x9"]);
    });
  });
}

Deno.test("stand-in's refusals get their kinds", async () => {
  await withStandIn(async ({ fake, client, advance }) => {
    const { id } = await client.create(GPU);
    const kindOf = async (fault: string, variant: string, call: () => Promise<unknown>) => {
      fake.faults.on({ fault, variant });
      const { kind } = await failure(call());
      fake.faults.clear();
      return kind;
    };
    for (const variant of ["refresh", "plain", "currently", "resources"]) {
      assert.equal(await kindOf("F10", variant, () => client.create(GPU)), "capacity", variant);
    }
    assert.equal(await kindOf("F1", "401", () => client.list()), "auth");
    assert.equal(await kindOf("F1", "403", () => client.list()), "auth");
    assert.equal(await kindOf("F11", "balance", () => client.create(GPU)), "balance");
    assert.equal(await kindOf("F11", "forbidden", () => client.create(GPU)), "auth");
    assert.equal(await kindOf("F32", "html-502", () => client.list()), "upstream");
    assert.equal(await kindOf("F32", "html-524", () => client.list()), "upstream");
    assert.equal(await kindOf("F32", "empty-503", () => client.list()), "upstream");
    assert.equal(await kindOf("F32", "agent-403", () => client.list()), "upstream");
    assert.equal(await kindOf("F33", "html-200", () => client.list()), "upstream");
    assert.equal(await kindOf("F34", "cut", () => client.list()), "network");
    assert.equal(await kindOf("F34", "refused-like", () => client.list()), "network");
    assert.equal(await kindOf("F34", "410", () => client.list()), "gone");
    advance(1_000);
    await client.act(id, "stop");
    assert.equal(await kindOf("F27", "problem", () => client.act(id, "start")), "capacity");
    assert.equal(await kindOf("F27", "plain", () => client.act(id, "start")), "capacity");
    assert.equal(await kindOf("F27", "other", () => client.act(id, "start")), "invalid");
  });
});

Deno.test("client reads every odd form in which the stand-in shows pods", async () => {
  await withStandIn(async ({ fake, client, advance }) => {
    const { id } = await client.create(GPU);
    fake.pods.addForeign({ cpu: true, name: "theirs" });
    advance(1_000);
    for (const variant of ["missing-parts", "null-parts", "unknown-status", "extra-fields", "cost-zero"]) {
      fake.faults.on({ fault: "F19", variant });
      assert.equal((await client.list()).length, 2, variant);
      fake.faults.clear();
    }
    fake.faults.on({ fault: "F16", variant: "runtime-only" });
    fake.faults.on({ fault: "F17", variant: "http-entry" });
    assert.equal((await client.get(id)).address?.host, "127.0.0.1");
    fake.faults.clear();
    fake.faults.on({ fault: "F16", variant: "never-address" });
    fake.faults.on({ fault: "F17", variant: "http-entry" });
    assert.equal((await client.get(id)).address, null);
    fake.faults.clear();
    fake.faults.on({ fault: "F18", variant: "stale-runtime" });
    await client.act(id, "stop");
    assert.equal((await client.get(id)).address, null);
  });
});

Deno.test("client reads every form of pages that the stand-in has, and refuses the endless one", async () => {
  await withStandIn(async ({ fake, client }) => {
    for (let i = 0; i < 5; i++) fake.pods.addForeign({ name: `pod-${i}` });
    for (const variant of ["short-pages", "empty-page", "no-pagination"]) {
      fake.faults.on({ fault: "F20", variant });
      assert.equal(new Set((await client.list()).map((pod) => pod.id)).size, 5, variant);
      fake.faults.clear();
    }
    fake.faults.on({ fault: "F20", variant: "endless" });
    assert.equal((await failure(client.list())).kind, "upstream");
  });
});

Deno.test("client stops calling when the stand-in's quota is used up, and goes on after the window", async () => {
  await withStandIn(async ({ fake, client, advance }) => {
    await client.list();
    await client.list();
    const error = await failure(client.list());
    assert.equal(error.kind, "rate_limited");
    assert.equal(error.status, null);
    assert.equal(fake.requests.length, 2);
    advance((error.retryAfter ?? 0) * 1_000);
    await client.list();
  }, { quotas: { minute: 2 } });
});

Deno.test("client takes the waiting time of every 429 the stand-in has", async () => {
  for (const [variant, seconds] of [["minute", 40], ["hour", 40], ["retry-after-only", 40], ["bare", 5]] as const) {
    await withStandIn(async ({ fake, client }) => {
      fake.faults.on({ fault: "F31", variant, ms: 40_000 });
      const error = await failure(client.list());
      assert.equal(error.status, 429);
      assert.equal(error.retryAfter, seconds, variant);
    });
  }
});

Deno.test("client reads the stand-in's catalog, description and balance", async () => {
  await withStandIn(async ({ client }) => {
    const gpus = await client.gpus();
    assert.ok(gpus.some((gpu) => gpu.id === "NVIDIA RTX A4000" && (gpu.price.secure ?? 0) > 0));
    assert.ok(gpus.every((gpu) => gpu.id !== "unknown" && (gpu.community || gpu.price.community === null)));
    assert.ok((await client.gpus({ cloud: "COMMUNITY" })).length > 0);
    assert.ok((await client.cpus()).some((cpu) => cpu.id === "cpu3c" && (cpu.pricePerVcpu ?? 0) > 0));
    assert.ok("/v2/pods" in ((await client.openapi()) as { paths: Record<string, unknown> }).paths);
    assert.deepEqual(await client.balance(), { balance: 42, spendPerHour: 0 });
  }, { balance: 42 });
});
