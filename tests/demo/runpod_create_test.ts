/** F9 to F15: a create that works, is refused, loses its answer, or makes a pod that is not there yet. */
import assert from "node:assert/strict";
import { apiHeaders, CAPACITY, cpuPod, gpuPod, replyOf, withBench } from "./runpod_helper.ts";

Deno.test("create answers 201 with a PROVISIONING pod without address when all is well (F9)", () =>
  withBench(async ({ api, fake }) => {
    const got = await api("POST", "/pods", gpuPod());
    assert.equal(got.status, 201);
    assert.match(got.json.id, /^[a-z0-9]{14}$/);
    assert.equal(got.json.status, "PROVISIONING");
    assert.deepEqual(got.json.actions, ["stop", "terminate"]);
    assert.deepEqual(got.json.ssh, { proxy: null, direct: null });
    assert.equal(got.json.runtime, null);
    assert.equal(got.json.startedAt, null);
    assert.equal(got.json.cost, 0.25);
    const required =
      "id name status actions image args disk mounts ports env registry cloud dataCenterId cudaVersion " +
      "ssh template cost locked runtime createdAt startedAt globalNetworking";
    for (const field of required.split(" ")) assert.ok(field in got.json, field);
    fake.faults.on({ fault: "F9", times: 1 });
    assert.deepEqual((await api("POST", "/pods", gpuPod())).json.runtime, {});
  }));

Deno.test("create makes a CPU pod with derived memory when cpu is sent (F9)", () =>
  withBench(async ({ api }) => {
    const got = await api("POST", "/pods", cpuPod({ cpu: { id: "cpu5c", vcpuCount: 4 } }));
    assert.deepEqual(got.json.cpu, { id: "cpu5c", vcpuCount: 4, memory: 7 });
    assert.equal("gpu" in got.json, false);
  }));

Deno.test("create finds no capacity per GPU type and cloud when F10 is on, so another choice succeeds", () =>
  withBench(async ({ api, fake }) => {
    fake.faults.on({ fault: "F10", gpu: "NVIDIA RTX A4000", cloud: "SECURE" });
    const got = await api("POST", "/pods", gpuPod());
    assert.equal(got.status, 400);
    assert.equal(got.json.detail, CAPACITY);
    assert.equal((await api("POST", "/pods", gpuPod({ cloud: "COMMUNITY" }))).status, 201);
    assert.equal((await api("POST", "/pods", gpuPod({ gpu: { id: "NVIDIA L40S", count: 1 } }))).status, 201);
    fake.faults.off("F10");
    assert.equal((await api("POST", "/pods", gpuPod())).status, 201);
  }));

Deno.test("create words missing capacity in every known way when the variant says so (F10)", () =>
  withBench(async ({ api, fake }) => {
    const parts: Record<string, RegExp> = {
      refresh: /no longer any instances available.*Please refresh/,
      plain: /no longer any instances available with the requested specifications\.$/,
      currently: /no instances currently available/,
      resources: /does not have the resources to deploy/,
    };
    for (const [variant, part] of Object.entries(parts)) {
      fake.faults.on({ fault: "F10", variant, times: 1 });
      const got = await api("POST", "/pods", gpuPod());
      assert.equal(got.status, 400);
      assert.match(got.json.detail, part);
    }
    assert.equal((await api("POST", "/pods", gpuPod())).status, 201);
  }));

const gpu = (id: string, count = 1, more = {}) => ({ gpu: { id, count, ...more } });
const NO_PLACE: [string, Record<string, unknown>][] = [
  ["an unknown GPU", gpuPod(gpu("NVIDIA GTX 9999"))],
  ["a type without stock", gpuPod(gpu("NVIDIA B200"))],
  ["more GPUs than a host has", gpuPod(gpu("NVIDIA RTX A4000", 9))],
  ["a type not sold on COMMUNITY", gpuPod({ ...gpu("NVIDIA H200"), cloud: "COMMUNITY" })],
  ["a type not sold on SECURE", gpuPod(gpu("NVIDIA GeForce RTX 3090"))],
  ["a data center without it", gpuPod({ dataCenterIds: ["XX-NO-1"] })],
  ["a CUDA version nobody has", gpuPod(gpu("NVIDIA RTX A4000", 1, { minCudaVersion: "12.11" }))],
  ["a CPU pod on COMMUNITY", cpuPod({ cloud: "COMMUNITY" })],
  ["an unknown CPU flavor", cpuPod({ cpu: { id: "cpu9x", vcpuCount: 2 } })],
];

Deno.test("create answers with the capacity text when there is no such place (F10)", () =>
  withBench(async ({ api }) => {
    for (const [what, body] of NO_PLACE) {
      const got = await api("POST", "/pods", body);
      assert.equal(got.status, 400, what);
      assert.equal(got.json.detail, CAPACITY, what);
    }
  }));

Deno.test("create answers 402 for the balance and 403 for the pool when F11 is on", () =>
  withBench(async ({ api, fake }) => {
    fake.faults.on({ fault: "F11", times: 1 });
    const broke = await api("POST", "/pods", gpuPod());
    assert.deepEqual([broke.status, broke.json.title], [402, "Payment Required"]);
    fake.faults.on({ fault: "F11", variant: "forbidden", times: 1 });
    assert.equal((await api("POST", "/pods", gpuPod())).status, 403);
    fake.meter.setBalance(0.2);
    assert.equal((await api("POST", "/pods", gpuPod())).status, 402);
    fake.meter.setBalance(0.3);
    assert.equal((await api("POST", "/pods", gpuPod())).status, 201);
  }));

Deno.test("create is refused without disk, and without gpu.count when F12 is on", () =>
  withBench(async ({ api, fake }) => {
    const { disk: _disk, ...noDisk } = gpuPod();
    const got = await api("POST", "/pods", noDisk);
    assert.equal(got.status, 400);
    assert.match(got.json.detail, /template id or pod configuration parameters/);
    const noCount = gpuPod({ gpu: { id: "NVIDIA RTX A4000" } });
    assert.equal((await api("POST", "/pods", noCount)).json.gpu.count, 1);
    fake.faults.on({ fault: "F12", times: 1 });
    assert.equal((await api("POST", "/pods", noCount)).json.detail, CAPACITY);
    assert.equal((await api("POST", "/pods", gpuPod())).status, 201);
  }));

const LOST: [string, boolean][] = [["cut", true], ["cut-body", true], ["hang", true], ["500", false], ["502", false]];

for (const [variant, noAnswer] of LOST) {
  Deno.test(`create makes a pod although its answer is lost when F13 ${variant} is on (socket)`, () =>
    withBench(async ({ api, clock, fake }) => {
      const { origin } = await fake.listen();
      fake.faults.on({ fault: "F13", variant, times: 1, ms: 5_000 });
      const body = JSON.stringify(gpuPod());
      const headers = apiHeaders({ "content-type": "application/json" });
      const limit = variant === "hang" ? { signal: AbortSignal.timeout(200) } : {};
      const call = async () =>
        await replyOf(await fetch(`${origin}/v2/pods`, { method: "POST", body, headers, ...limit }));
      if (noAnswer) await assert.rejects(call());
      else assert.equal((await call()).status, Number(variant));
      assert.equal(fake.requests[0]?.status, variant === "cut" || variant === "hang" ? null : Number(variant) || 201);
      assert.deepEqual((await api("GET", "/pods")).json.pods, []);
      clock.advance(5_000);
      const pods = (await api("GET", "/pods")).json.pods;
      assert.deepEqual(pods.map((pod: { name: string }) => pod.name), ["lab-1"]);
    }));
}

for (const variant of ["cut", "500"]) {
  Deno.test(`create makes no pod when F14 ${variant} is on (socket)`, () =>
    withBench(async ({ api, clock, fake }) => {
      const { origin } = await fake.listen();
      fake.faults.on({ fault: "F14", variant, times: 1 });
      const headers = apiHeaders({ "content-type": "application/json" });
      const call = async () =>
        await replyOf(await fetch(`${origin}/v2/pods`, { method: "POST", body: JSON.stringify(gpuPod()), headers }));
      if (variant === "cut") await assert.rejects(call());
      else assert.equal((await call()).status, 500);
      clock.advance(3_600_000);
      assert.deepEqual((await api("GET", "/pods")).json.pods, []);
    }));
}

Deno.test("a fresh pod is 404 and not listed for some seconds when F15 is on", () =>
  withBench(async ({ api, clock, fake }) => {
    fake.faults.on({ fault: "F15", times: 1, ms: 4_000 });
    const made = await api("POST", "/pods", gpuPod());
    assert.equal(made.status, 201);
    const path = `/pods/${made.json.id}`;
    clock.advance(3_999);
    assert.equal((await api("GET", path)).status, 404);
    assert.equal((await api("DELETE", path)).status, 404);
    assert.deepEqual((await api("GET", "/pods")).json.pods, []);
    clock.advance(1);
    assert.equal((await api("GET", path)).status, 200);
    assert.equal((await api("GET", "/pods")).json.pods.length, 1);
  }));

Deno.test("a pod is listed late when listDelayMs is set", () =>
  withBench(async ({ api, clock }) => {
    const made = await api("POST", "/pods", gpuPod());
    assert.equal((await api("GET", `/pods/${made.json.id}`)).status, 200);
    assert.deepEqual((await api("GET", "/pods")).json.pods, []);
    clock.advance(2_000);
    assert.equal((await api("GET", "/pods")).json.pods.length, 1);
  }, { timings: { listDelayMs: 2_000 } }));
