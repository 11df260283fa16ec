/** F35 to F37: catalog, billing; and the balance, GraphQL, SSH keys, volumes and the OpenAPI document. */
import assert from "node:assert/strict";
import { DAY, HOUR } from "../../server/clock.ts";
import {
  AGENT,
  apiHeaders,
  type Bench,
  cpuPod,
  gpuPod,
  KEY,
  type Loose,
  requestOf,
  withBench,
} from "./runpod_helper.ts";

Deno.test("the GPU catalog holds its traps and prices for one GPU (F35)", () =>
  withBench(async ({ api }) => {
    const { gpus } = (await api("GET", "/catalog/gpus")).json;
    const byId = Object.fromEntries(gpus.map((one: Loose) => [one.id, one]));
    assert.equal("availability" in byId["NVIDIA RTX A4000"], false);
    const secureOnly = byId["NVIDIA H200"];
    assert.deepEqual([secureOnly.secure, secureOnly.community, secureOnly.price.community > 0], [true, false, true]);
    const communityOnly = byId["NVIDIA GeForce RTX 3090"];
    assert.deepEqual([communityOnly.secure, communityOnly.price.secure > 0], [false, true]);
    assert.equal(byId["unknown"].manufacturer, "UNKNOWN");
    const card = "NVIDIA RTX PRO 6000 Blackwell Server Edition";
    assert.ok(byId[`${card} MIG 1g.24gb`].price.secure < byId[card].price.secure);
    const one = await api("GET", `/catalog/gpus/${encodeURIComponent("NVIDIA RTX A4000")}`);
    assert.deepEqual(one.json, byId["NVIDIA RTX A4000"]);
    assert.equal((await api("GET", "/catalog/gpus/nothing")).status, 404);
  }));

Deno.test("availability needs include and product together (F35)", () =>
  withBench(async ({ api }) => {
    const status = async (query: string) => (await api("GET", `/catalog/gpus?${query}`)).status;
    assert.equal(await status("include=AVAILABILITY"), 400);
    assert.equal(await status("product=POD"), 400);
    assert.equal(await status("count=1"), 400);
    assert.equal(await status("cloud=SECURE"), 400);
    assert.equal(await status("include=PRICES&product=POD"), 422);
    const query = "include=AVAILABILITY&product=POD";
    const { gpus } = (await api("GET", `/catalog/gpus?${query}`)).json;
    const byId = Object.fromEntries(gpus.map((one: Loose) => [one.id, one]));
    assert.equal(byId["NVIDIA B200"].availability, "NONE");
    assert.equal("dataCenters" in byId["NVIDIA B200"], false);
    assert.deepEqual(byId["NVIDIA RTX A4000"].cudaVersions[0], { version: "12.4", available: true });
    assert.equal("cudaVersions" in byId["AMD Instinct MI300X OAM"], false);
    assert.equal(byId["NVIDIA GeForce RTX 3090"].availability, "NONE");
    const community = (await api("GET", `/catalog/gpus?${query}&cloud=COMMUNITY&count=4`)).json.gpus;
    const there = community.filter((one: Loose) => one.availability !== "NONE").map((one: Loose) => one.id);
    assert.ok(there.includes("NVIDIA GeForce RTX 3090") && !there.includes("NVIDIA H200"));
  }));

Deno.test("CPU flavors have fractional memory for each vCPU, data centers their stock (F36)", () =>
  withBench(async ({ api }) => {
    const { cpus } = (await api("GET", "/catalog/cpus")).json;
    assert.ok(cpus.some((one: Loose) => !Number.isInteger(one.ramGbPerVcpu)));
    const flavor = (await api("GET", "/catalog/cpus/cpu3c?include=AVAILABILITY&product=POD&vcpuCount=64")).json;
    assert.deepEqual([flavor.vcpu, flavor.availability], [{ min: 2, max: 32 }, "NONE"]);
    const { dataCenters } = (await api("GET", "/catalog/datacenters?include=GPU_AVAILABILITY&regions=EUROPE")).json;
    assert.deepEqual(dataCenters.map((one: Loose) => one.id), ["EU-RO-1", "EUR-IS-1"]);
    assert.ok(dataCenters[0].gpuAvailability.length > 3);
    assert.equal("cpuAvailability" in dataCenters[0], false);
  }));

async function twoPodsInThreeHours(bench: Bench): Promise<[string, string]> {
  const { api, clock } = bench;
  const mounts = { persistent: { size: 73, path: "/workspace" } };
  const gpu = (await api("POST", "/pods", gpuPod({ disk: 73, mounts }))).json.id;
  const cpu = (await api("POST", "/pods", cpuPod({ disk: 73 }))).json.id;
  clock.advance(HOUR);
  await api("POST", `/pods/${gpu}/action`, { action: "stop" });
  clock.advance(HOUR);
  await api("DELETE", `/pods/${cpu}`);
  clock.advance(HOUR);
  return [gpu, cpu];
}

const close = (got: number, wanted: number) => assert.ok(Math.abs(got - wanted) < 1e-9, `${got} is not ${wanted}`);
const instant = { timings: { provisioningMs: 0, startingMs: 0, addressMs: 0 } };

Deno.test("billing has a record for each pod and bucket, a stopped pod with disk only (F37)", () =>
  withBench(async (bench) => {
    const [gpu, cpu] = await twoPodsInThreeHours(bench);
    const { records, metadata } = (await bench.api("GET", "/billing/pods?bucketSize=hour&lastN=4")).json;
    assert.deepEqual(
      records.map((one: Loose) => [one.podId, new Date(one.startTime).getUTCHours()]),
      [[cpu, 12], [gpu, 12], [cpu, 13], [gpu, 13], [gpu, 14]],
    );
    const running = records[1];
    close(running.gpuAmount, 0.25);
    close(running.diskAmount, 73 * 0.10 / 730 + 73 * 0.10 / 730);
    const stopped = records[3];
    assert.deepEqual([stopped.gpuAmount, stopped.cpuAmount], [0, 0]);
    close(stopped.diskAmount, 73 * 0.20 / 730);
    close(stopped.totalAmount, stopped.diskAmount);
    close(records[0].cpuAmount, 0.06);
    assert.equal(metadata.recordCount, 5);
    assert.equal(metadata.uniquePodCount, 2);
    close(metadata.totals.totalAmount, bench.fake.meter.billed());
  }, instant));

Deno.test("billing widens times to bucket borders and refuses odd queries (F37)", () =>
  withBench(async (bench) => {
    const { api, clock } = bench;
    const [gpu] = await twoPodsInThreeHours(bench);
    clock.advance(40 * DAY);
    const bill = (query: string) => api("GET", `/billing/pods?${query}`);
    const months = (await bill(`bucketSize=month&startTime=2026-08-15T00:00:00Z&podId=${gpu}`)).json.records;
    assert.deepEqual(months.map((one: Loose) => [one.startTime, one.endTime]), [
      ["2026-09-01T00:00:00.000Z", "2026-10-01T00:00:00.000Z"],
      ["2026-10-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z"],
    ]);
    assert.equal((await bill("bucketSize=week&lastN=1")).json.metadata.query.startTime, "2026-10-05T00:00:00.000Z");
    assert.equal((await bill("startTime=2026-09-01T13:00:00Z&endTime=2026-09-02T00:00:00Z")).json.records.length, 2);
    assert.equal((await bill("bucketSize=minute")).status, 422);
    assert.equal((await bill("startTime=yesterday")).status, 422);
    assert.equal((await bill("lastN=0")).status, 422);
    assert.equal((await bill("lastN=2&endTime=2026-09-02T00:00:00Z")).status, 400);
    assert.equal((await bill("bucketSize=hour&startTime=1990-01-01T00:00:00Z")).status, 400);
  }, instant));

Deno.test("a stopped pod that moves to another machine goes on paying for its volume", () =>
  withBench(async ({ fake, clock, running }) => {
    const pod = await running({ mounts: { persistent: { size: 73, path: "/workspace" } } });
    fake.pods.stop(pod);
    fake.pods.migrate(pod);
    const before = fake.meter.billed();
    clock.advance(10 * HOUR);
    close(fake.meter.billed() - before, 10 * 73 * 0.20 / 730);
  }, instant));

Deno.test("GraphQL tells balance and spend, and its errors come as 200", () =>
  withBench(async (bench) => {
    const { api, clock, fake } = bench;
    const ask = async (query: string, authorization = `Bearer ${KEY}`) => {
      const headers = apiHeaders({ authorization });
      return await fake.fetch(requestOf("http://127.0.0.1/graphql", "POST", { query }, headers));
    };
    await api("POST", "/pods", gpuPod({ disk: 73 }));
    clock.advance(2 * HOUR);
    const { data } = await (await ask("query { myself { clientBalance currentSpendPerHr } }")).json();
    close(data.myself.clientBalance, 1_000 - 2 * 0.26);
    close(data.myself.currentSpendPerHr, 0.26);
    const wrong = await ask("{ myself { email } }");
    assert.equal(wrong.status, 200);
    assert.match((await wrong.json()).errors[0].message, /Cannot query field "email"/);
    assert.ok((await (await ask("{ pods }")).json()).errors.length > 0);
    assert.equal((await ask("{ myself { clientBalance } }", "Bearer no")).status, 401);
  }, instant));

Deno.test("at balance 0 pods stop, and those without a network volume are terminated", () =>
  withBench(async (bench) => {
    const { api, fake } = bench;
    const lost = await bench.running();
    const network = { network: [{ volumeId: "vol1shared0000", path: "/workspace" }] };
    const kept = await bench.running({ mounts: network });
    fake.meter.setBalance(0);
    assert.equal((await api("GET", `/pods/${lost}`)).status, 404);
    assert.equal((await api("GET", `/pods/${kept}`)).json.status, "EXITED");
  }));

Deno.test("SSH keys are replaced as a whole, network volumes are listed", () =>
  withBench(async ({ api }) => {
    assert.deepEqual((await api("GET", "/account/ssh-keys")).json, { keys: [] });
    assert.equal((await api("PUT", "/account/ssh-keys", { keys: ["ssh-ed25519 AAAA a"] })).status, 200);
    assert.deepEqual((await api("GET", "/account/ssh-keys")).json, { keys: ["ssh-ed25519 AAAA a"] });
    assert.equal((await api("PUT", "/account/ssh-keys", { keys: "x" })).status, 422);
    const [volume] = (await api("GET", "/network-volumes")).json.networkVolumes;
    assert.equal((await api("GET", `/network-volumes/${volume.id}`)).json.type, "STANDARD");
    assert.equal((await api("GET", "/network-volumes/none")).status, 404);
  }));

Deno.test("openapi.json describes the create body that is enforced, without a key", () =>
  withBench(async ({ fake }) => {
    const url = "http://127.0.0.1/v2/openapi.json";
    const document = await (await fake.fetch(new Request(url, { headers: { "user-agent": AGENT } }))).json();
    const { $ref } = document.paths["/v2/pods"].post.requestBody.content["application/json"].schema;
    assert.match($ref, /^#\/components\/schemas\/\w+$/);
    const schema = document.components.schemas[$ref.split("/").at(-1)];
    assert.equal(schema.additionalProperties, false);
    for (const name of Object.keys(gpuPod())) assert.ok(name in schema.properties, name);
    assert.deepEqual(Object.keys(document.paths["/v2/pods/{id}"]), ["get", "patch", "delete"]);
  }));
