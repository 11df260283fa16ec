/** F24 to F30 and PATCH: what actions change, refuse and get wrong. */
import assert from "node:assert/strict";
import { type Bench, cpuPod, gpuPod, type Loose, type Reply, withBench } from "./runpod_helper.ts";

const act = ({ api }: Bench, id: string, action: string): Promise<Reply> =>
  api("POST", `/pods/${id}/action`, { action });
const read = async ({ api }: Bench, id: string): Promise<Loose> => (await api("GET", `/pods/${id}`)).json;
const volume = { mounts: { persistent: { size: 10, path: "/workspace" } } };

Deno.test("actions are legal by status, else 409 (F24)", () =>
  withBench(async (bench) => {
    const { api, clock } = bench;
    const legal: Record<string, string[]> = {
      PROVISIONING: ["stop"],
      STARTING: ["stop"],
      RUNNING: ["stop", "restart"],
      EXITED: ["start"],
    };
    for (const [status, words] of Object.entries(legal)) {
      for (const action of ["start", "stop", "restart"]) {
        const { id } = (await api("POST", "/pods", gpuPod())).json;
        if (status === "STARTING") clock.advance(100);
        if (status === "RUNNING") clock.advance(1_000);
        if (status === "EXITED") await act(bench, id, "stop");
        assert.equal((await read(bench, id)).status, status);
        assert.deepEqual((await read(bench, id)).actions, [...words, "terminate"]);
        const got = await act(bench, id, action);
        assert.equal(got.status, words.includes(action) ? 200 : 409, `${action} on ${status}: ${got.text}`);
      }
    }
  }));

Deno.test("a cluster member, a locked pod and a pod under F24 answer 409 when acted on", () =>
  withBench(async (bench) => {
    const { api, clock, fake } = bench;
    const member = fake.pods.addForeign({ cluster: true }).id;
    const id = await bench.running();
    assert.equal((await act(bench, member, "stop")).status, 409);
    assert.equal((await api("DELETE", `/pods/${member}`)).status, 409);
    assert.equal((await api("PATCH", `/pods/${id}`, { locked: true })).status, 200);
    for (const action of ["stop", "restart", "terminate"]) assert.equal((await act(bench, id, action)).status, 409);
    assert.equal((await api("PATCH", `/pods/${id}`, { env: {} })).status, 409);
    assert.equal((await api("PATCH", `/pods/${id}`, { locked: false })).status, 200);
    fake.faults.on({ fault: "F24", times: 1, action: "stop" });
    assert.equal((await act(bench, id, "stop")).status, 409);
    assert.equal((await act(bench, id, "stop")).status, 200);
    clock.advance(1);
    assert.equal((await act(bench, "unknown", "stop")).status, 404);
  }));

Deno.test("terminate and DELETE answer an empty 204, then 404 (F25)", () =>
  withBench(async (bench) => {
    const { api } = bench;
    for (
      const end of [(id: string) => act(bench, id, "terminate"), (id: string) => api("DELETE", `/pods/${id}`)]
    ) {
      const id = await bench.running();
      const got = await end(id);
      assert.deepEqual([got.status, got.text, got.headers.get("content-type")], [204, "", null]);
      assert.equal((await end(id)).status, 404);
      assert.equal((await api("GET", `/pods/${id}`)).status, 404);
    }
    assert.deepEqual((await api("GET", "/pods")).json.pods, []);
  }));

Deno.test("the port changes after stop and start, first reads are stale and the IP changes when F26 is on", () =>
  withBench(async (bench) => {
    const { clock, fake } = bench;
    const id = await bench.running();
    const before = (await read(bench, id)).ssh.direct;
    await act(bench, id, "stop");
    const started = await act(bench, id, "start");
    assert.deepEqual([started.status, started.json.status], [200, "STARTING"]);
    clock.advance(1_000);
    fake.faults.on({ fault: "F26", variant: "stale-reads", times: 2 });
    assert.deepEqual((await read(bench, id)).ssh.direct, before);
    assert.deepEqual((await read(bench, id)).ssh.direct, before);
    const after = (await read(bench, id)).ssh.direct;
    assert.notEqual(after.port, before.port);
    assert.equal(after.host, before.host);
    await act(bench, id, "restart");
    clock.advance(1_000);
    assert.deepEqual((await read(bench, id)).ssh.direct, after);
    fake.faults.on({ fault: "F26", variant: "ip", times: 1 });
    await act(bench, id, "stop");
    await act(bench, id, "start");
    clock.advance(1_000);
    assert.notEqual((await read(bench, id)).ssh.direct.host, before.host);
  }));

Deno.test("start and restart are refused in three ways when F27 is on", () =>
  withBench(async (bench) => {
    const { fake } = bench;
    const id = await bench.running();
    fake.faults.on({ fault: "F27", times: 1 });
    assert.equal((await act(bench, id, "restart")).status, 400);
    assert.equal((await read(bench, id)).status, "RUNNING");
    await act(bench, id, "stop");
    fake.faults.on({ fault: "F27", variant: "problem", times: 1 });
    const problem = await act(bench, id, "start");
    assert.equal(problem.json.detail, "There are not enough free GPUs on the host machine to start this pod.");
    fake.faults.on({ fault: "F27", variant: "plain", times: 1 });
    const plain = await act(bench, id, "start");
    assert.equal(plain.status, 400);
    assert.equal(plain.headers.get("content-type"), "application/json");
    assert.deepEqual(plain.json, { error: "not enough free GPUs on the host machine" });
    fake.faults.on({ fault: "F27", variant: "other", times: 1 });
    const other = await act(bench, id, "start");
    assert.equal(other.status, 400);
    assert.doesNotMatch(other.text, /free GPUs|no longer any instances/);
    assert.equal((await read(bench, id)).status, "EXITED");
    assert.equal((await act(bench, id, "start")).status, 200);
  }));

Deno.test("a start gives no GPU until the next one when F28 is on", () =>
  withBench(async (bench) => {
    const { clock, fake } = bench;
    const id = await bench.running();
    for (const [variant, count] of [["zero", 0], ["absent", undefined]] as const) {
      await act(bench, id, "stop");
      fake.faults.on({ fault: "F28", variant, times: 1 });
      const started = await act(bench, id, "start");
      assert.equal(started.status, 200);
      clock.advance(1_000);
      assert.equal((await read(bench, id)).gpu?.count, count);
      assert.equal("gpu" in (await read(bench, id)), count === 0);
    }
    await act(bench, id, "stop");
    await act(bench, id, "start");
    assert.equal((await read(bench, id)).gpu.count, 1);
  }));

Deno.test("an action answers 500 but is done, or 200 and is done later, when F29 is on", () =>
  withBench(async (bench) => {
    const { api, clock, fake } = bench;
    const id = await bench.running();
    fake.faults.on({ fault: "F29", times: 1 });
    assert.equal((await act(bench, id, "stop")).status, 500);
    assert.equal((await read(bench, id)).status, "EXITED");
    fake.faults.on({ fault: "F29", variant: "200-but-not-yet", times: 1, ms: 3_000 });
    assert.equal((await act(bench, id, "start")).json.status, "EXITED");
    clock.advance(2_999);
    assert.equal((await read(bench, id)).status, "EXITED");
    clock.advance(1);
    assert.equal((await read(bench, id)).status, "STARTING");
    fake.faults.on({ fault: "F29", times: 1, on: "DELETE /pods/{id}" });
    assert.equal((await api("DELETE", `/pods/${id}`)).status, 500);
    assert.equal((await api("GET", `/pods/${id}`)).status, 404);
  }));

Deno.test("stop and restart clear the container disk and keep only what is mounted (F30)", () =>
  withBench(async (bench) => {
    const { fake } = bench;
    const marks = (id: string) => [fake.pods.get(id).containerMark, fake.pods.get(id).volumeMark];
    const kept = await bench.running(volume);
    const [container, mounted] = marks(kept);
    assert.notEqual(mounted, null);
    await act(bench, kept, "restart");
    const [second, same] = marks(kept);
    assert.notEqual(second, container);
    assert.equal(same, mounted);
    await act(bench, kept, "stop");
    assert.notEqual(marks(kept)[0], second);
    assert.equal(marks(kept)[1], mounted);
    const { id } = (await bench.api("POST", "/pods", cpuPod())).json;
    assert.equal(marks(id)[1], null);
    assert.equal(fake.pods.get(kept).containerStarts, 2);
  }));

Deno.test("PATCH replaces env as a whole, keeps omitted fields and does not boot an EXITED pod", () =>
  withBench(async (bench) => {
    const { api, fake } = bench;
    const id = await bench.running(volume);
    await act(bench, id, "stop");
    const got = await api("PATCH", `/pods/${id}`, { env: { ONLY: "this" }, disk: 30 });
    assert.equal(got.status, 200);
    assert.deepEqual([got.json.env, got.json.disk, got.json.name], [{ ONLY: "this" }, 30, "lab-1"]);
    assert.deepEqual([got.json.status, got.json.mounts], ["EXITED", volume.mounts]);
    assert.equal(fake.pods.get(id).containerStarts, 1);
  }));

Deno.test("PATCH resets a running pod when it touches the container, not for a name (PATCH)", () =>
  withBench(async (bench) => {
    const { api, clock, fake } = bench;
    const id = await bench.running();
    const before = await read(bench, id);
    assert.equal((await api("PATCH", `/pods/${id}`, { name: "renamed" })).json.status, "RUNNING");
    assert.equal(fake.pods.get(id).containerStarts, 1);
    clock.advance(5_000);
    assert.equal((await api("PATCH", `/pods/${id}`, { env: {} })).json.status, "STARTING");
    assert.equal(fake.pods.get(id).containerStarts, 2);
    clock.advance(1_000);
    assert.notEqual((await read(bench, id)).startedAt, before.startedAt);
  }));

Deno.test("PATCH refuses what is fixed or unknown (F3, F4)", () =>
  withBench(async (bench) => {
    const { api } = bench;
    const plain = await bench.running();
    const network = { network: [{ volumeId: "vol1shared0000", path: "/workspace" }] };
    const netted = await bench.running({ mounts: network });
    const mounted = await bench.running(volume);
    const tries: [string, unknown, number][] = [
      [plain, { gpu: { id: "x" } }, 422],
      [plain, { startSsh: true }, 422],
      [plain, { env: { A: 1 } }, 422],
      [plain, { mounts: { persistent: { size: 9, path: "/w" } } }, 422],
      [plain, { mounts: { persistent: { size: 10, path: "/w" } } }, 400],
      [netted, { mounts: { network: [] } }, 400],
      [netted, { mounts: { network: [{ volumeId: "other", path: "/w" }] } }, 400],
      [netted, { mounts: { network: [{ volumeId: "vol1shared0000", path: "/data" }] } }, 200],
      [mounted, { mounts: network }, 400],
      [mounted, { mounts: {} }, 200],
      [mounted, { mounts: { persistent: { size: 20, path: "/w" } } }, 200],
      [plain, { templateId: "nothing" }, 404],
      [plain, { registry: "nothing" }, 404],
      ["unknown", { name: "x" }, 404],
    ];
    for (const [id, body, status] of tries) {
      assert.equal((await api("PATCH", `/pods/${id}`, body)).status, status, JSON.stringify(body));
    }
    assert.equal((await read(bench, netted)).mounts.network[0].path, "/data");
    assert.deepEqual((await read(bench, mounted)).mounts, { persistent: { size: 20, path: "/w" } });
  }));
