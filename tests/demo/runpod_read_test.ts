/** F16 to F23: what reads of a pod and of the list look like. */
import assert from "node:assert/strict";
import { type Bench, gpuPod, type Loose, OTHER_KEY, withBench } from "./runpod_helper.ts";

const read = async ({ api }: Bench, id: string): Promise<Loose> => (await api("GET", `/pods/${id}`)).json;

Deno.test("a pod goes from PROVISIONING to an address by the clock when it was created (F16)", () =>
  withBench(async (bench) => {
    const { api, clock } = bench;
    const { id } = (await api("POST", "/pods", gpuPod())).json;
    const at = async (ms: number) => {
      clock.advance(ms);
      const { status, ssh, runtime, startedAt } = await read(bench, id);
      return [status, ssh.direct !== null, runtime !== null, startedAt !== null];
    };
    assert.deepEqual(await at(0), ["PROVISIONING", false, false, false]);
    assert.deepEqual(await at(1_000), ["STARTING", false, false, false]);
    assert.deepEqual(await at(2_000), ["RUNNING", false, false, true]);
    assert.deepEqual(await at(4_000), ["RUNNING", true, true, true]);
    const pod = await read(bench, id);
    assert.equal(pod.ssh.direct.username, "root");
    assert.equal(pod.runtime.uptime, 4);
    const [entry] = pod.runtime.ports;
    assert.deepEqual(entry, { private: 22, public: pod.ssh.direct.port, type: "tcp", ip: pod.ssh.direct.host });
  }, { timings: { provisioningMs: 1_000, startingMs: 2_000, addressMs: 4_000 } }));

Deno.test("a RUNNING pod has no direct address when 22/tcp is not among its ports (F16)", () =>
  withBench(async (bench) => {
    const pod = await read(bench, await bench.running({ ports: ["8888/http"] }));
    assert.equal(pod.status, "RUNNING");
    assert.equal(pod.ssh.direct, null);
  }));

Deno.test("a RUNNING pod shows no address, only runtime.ports, or a late one when F16 is on", () =>
  withBench(async (bench) => {
    const { clock, fake } = bench;
    const id = await bench.running();
    fake.faults.on({ fault: "F16", variant: "never-address", times: 1 });
    const never = await read(bench, id);
    assert.equal(never.status, "RUNNING");
    assert.equal(never.ssh.direct, null);
    assert.deepEqual(never.runtime.ports, [{ private: 22, public: null, type: "tcp", ip: null }]);
    fake.faults.on({ fault: "F16", variant: "runtime-only", times: 1 });
    const only = await read(bench, id);
    assert.equal(only.ssh.direct, null);
    assert.equal(typeof only.runtime.ports[0].public, "number");
    fake.faults.on({ fault: "F16", variant: "late-address", ms: 60_000 });
    assert.equal((await read(bench, id)).runtime, null);
    clock.advance(60_000);
    assert.notEqual((await read(bench, id)).ssh.direct, null);
  }));

Deno.test("runtime.ports carries the inner proxy address and null entries when asked for (F17)", () =>
  withBench(async (bench) => {
    const { fake } = bench;
    const id = await bench.running({ ports: ["8888/http", "22/tcp"] });
    const plain = await read(bench, id);
    assert.deepEqual(plain.runtime.ports[0], { private: 8888, public: 60_000, type: "http", ip: "100.65.0.101" });
    fake.faults.on({ fault: "F17", variant: "null-entries", times: 1 });
    const { ports } = (await read(bench, id)).runtime;
    assert.deepEqual(ports.slice(0, 3).map((one: Loose) => [one.public === null, one.ip === null]), [
      [true, true],
      [false, true],
      [true, false],
    ]);
    fake.faults.on({ fault: "F17", variant: "http-entry", times: 1 });
    const first = (await read(bench, id)).runtime.ports[0];
    assert.deepEqual([first.private, first.type, first.ip], [22, "http", "100.65.0.101"]);
  }));

Deno.test("an EXITED pod costs 0, and keeps its old address only when F18 is on", () =>
  withBench(async (bench) => {
    const { api, fake } = bench;
    const id = await bench.running();
    const before = await read(bench, id);
    await api("POST", `/pods/${id}/action`, { action: "stop" });
    const stopped = await read(bench, id);
    assert.deepEqual([stopped.status, stopped.cost, stopped.runtime], ["EXITED", 0, null]);
    assert.equal(stopped.ssh.direct, null);
    fake.faults.on({ fault: "F18" });
    const stale = await read(bench, id);
    assert.equal(stale.status, "EXITED");
    assert.deepEqual(stale.ssh.direct, before.ssh.direct);
    assert.equal(stale.runtime.ports[0].public, before.ssh.direct.port);
  }));

Deno.test("pods lack parts, have null parts, odd words and unknown fields when F19 is on", () =>
  withBench(async (bench) => {
    const { api, fake } = bench;
    const id = await bench.running();
    fake.faults.on({ fault: "F19", variant: "missing-parts", times: 2 });
    const missing = await read(bench, id);
    assert.deepEqual(missing.gpu, { id: "NVIDIA RTX A4000", count: 1 });
    assert.deepEqual(missing.runtime, {});
    assert.equal("mounts" in missing, false);
    assert.equal("pagination" in (await api("GET", "/pods")).json, false);
    fake.faults.on({ fault: "F19", variant: "null-parts", times: 1 });
    const nulls = await read(bench, id);
    assert.deepEqual([nulls.mounts, nulls.ssh, nulls.gpu, nulls.actions], [null, null, null, null]);
    fake.faults.on({ fault: "F19", variant: "unknown-status", times: 1 });
    assert.equal((await read(bench, id)).status, "REBALANCING");
    fake.faults.on({ fault: "F19", variant: "extra-fields", times: 1 });
    const extra = await read(bench, id);
    assert.deepEqual([extra.savingsPlan.id, extra.ssh.mesh.host], ["sp-1", "10.0.0.1"]);
    assert.notEqual(extra.ssh.direct, null);
    fake.faults.on({ fault: "F19", variant: "cost-zero", times: 1 });
    assert.equal((await read(bench, id)).cost, 0);
  }));

async function pages(
  { api }: Bench,
  query: string,
  most = 20,
): Promise<{ sizes: number[]; names: string[]; ended: boolean }> {
  const sizes: number[] = [];
  const names: string[] = [];
  let cursor = "";
  while (sizes.length < most) {
    const { pods, pagination } = (await api("GET", `/pods?${query}${cursor}`)).json;
    sizes.push(pods.length);
    names.push(...pods.map((pod: { name: string }) => pod.name));
    if (!pagination?.hasNextPage) return { sizes, names, ended: true };
    assert.equal(typeof pagination.nextCursor, "string");
    cursor = `&cursor=${encodeURIComponent(pagination.nextCursor)}`;
  }
  return { sizes, names, ended: false };
}

Deno.test("the list comes newest first in pages of limit, with short, empty and endless ones when F20 is on", () =>
  withBench(async (bench) => {
    const { api, fake } = bench;
    for (const name of ["a", "b", "c", "d", "e"]) await api("POST", "/pods", gpuPod({ name }));
    const all = ["e", "d", "c", "b", "a"];
    assert.deepEqual(await pages(bench, ""), { sizes: [5], names: all, ended: true });
    assert.deepEqual(await pages(bench, "limit=4"), { sizes: [4, 1], names: all, ended: true });
    fake.faults.on({ fault: "F20", variant: "short-pages" });
    assert.deepEqual(await pages(bench, "limit=4"), { sizes: [2, 2, 1], names: all, ended: true });
    fake.faults.clear();
    fake.faults.on({ fault: "F20", variant: "empty-page" });
    assert.deepEqual(await pages(bench, ""), { sizes: [1, 0, 1, 1, 1, 1], names: all, ended: true });
    fake.faults.clear();
    fake.faults.on({ fault: "F20", variant: "no-pagination" });
    assert.deepEqual(await pages(bench, "limit=1"), { sizes: [5], names: all, ended: true });
    fake.faults.clear();
    fake.faults.on({ fault: "F20", variant: "endless" });
    assert.equal((await pages(bench, "")).ended, false);
  }));

Deno.test("the list answers 422 when the limit or the cursor is not acceptable (F20)", () =>
  withBench(async ({ api }) => {
    for (const name of ["a", "b"]) await api("POST", "/pods", gpuPod({ name }));
    for (const limit of ["0", "1001", "x", "1.5", "-1", ""]) {
      assert.equal((await api("GET", `/pods?limit=${limit}`)).status, 422, limit);
    }
    for (const cursor of ["", "x", "%%%25", btoa("[]"), btoa("{}")]) {
      assert.equal((await api("GET", `/pods?cursor=${cursor}`)).status, 422, cursor);
    }
    const { nextCursor } = (await api("GET", "/pods?limit=1")).json.pagination;
    const foreign = await api("GET", `/pods?cursor=${encodeURIComponent(nextCursor)}`, undefined, {
      authorization: `Bearer ${OTHER_KEY}`,
    });
    assert.equal(foreign.status, 422);
  }));

Deno.test("foreign pods are in the list, cluster members only when asked for (F21)", () =>
  withBench(async (bench) => {
    const { api, fake } = bench;
    await bench.running();
    fake.pods.addForeign({ name: "lab-1" });
    fake.pods.addForeign({ name: "other", cpu: true, stopped: true });
    fake.pods.addForeign({ name: "member", cluster: true });
    const names = async (query: string) => (await pages(bench, query)).names;
    assert.deepEqual(await names(""), ["other", "lab-1", "lab-1"]);
    assert.deepEqual(await names("includeClusterPods=true"), ["member", "other", "lab-1", "lab-1"]);
    const [other] = (await api("GET", "/pods")).json.pods;
    assert.equal(other.status, "EXITED");
    assert.equal(other.cpu.id, "cpu3c");
  }));

Deno.test("a pod is gone or has a new id when it was deleted or migrated outside (F22)", () =>
  withBench(async (bench) => {
    const { api, fake } = bench;
    const first = await bench.running({ name: "first" });
    const second = await bench.running({ name: "second" });
    fake.pods.deleteOutside(first);
    const moved = fake.pods.migrate(second);
    assert.notEqual(moved.id, second);
    assert.equal((await api("GET", `/pods/${first}`)).status, 404);
    assert.equal((await api("GET", `/pods/${second}`)).status, 404);
    const { pods } = (await api("GET", "/pods")).json;
    assert.deepEqual(pods.map((pod: Loose) => [pod.id, pod.name]), [[moved.id, "second"]]);
    assert.deepEqual(pods[0].env, gpuPod()["env"]);
  }));

Deno.test("env comes back in clear when a pod is read (F23)", () =>
  withBench(async (bench) => {
    const id = await bench.running({ env: { TOKEN: "s3cret" } });
    assert.deepEqual((await read(bench, id)).env, { TOKEN: "s3cret" });
  }));
