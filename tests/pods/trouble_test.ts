import assert from "node:assert/strict";
import type { LivePod } from "../../db/stores/pods.ts";
import { MINUTE } from "../../server/clock.ts";
import { type Trouble, troubleOf, TROUBLES } from "../../server/pods/trouble.ts";
import { createRunningPod, eventually } from "../support/world.ts";
import { act, attention, type ClockedWorld, inWorld, listed } from "./support.ts";

const NOW = Date.UTC(2026, 10, 30, 12);
const CPU = JSON.stringify({ use_cpu_only: true });
const GPU = JSON.stringify({ use_cpu_only: false });

/** A pod that runs, is reached, and has run for `upFor` minutes. */
function running(upFor: number, change: Partial<LivePod> = {}): LivePod {
  const upSince = NOW - upFor * MINUTE;
  const row: Partial<LivePod> = {
    status: "RUNNING",
    config: CPU,
    up_since: upSince,
    started_at: upSince,
    host: "192.0.2.1",
    start_key: "1/1",
    reachable_start: "1/1",
    unreachable_reason: null,
    gpu_count: null,
    ...change,
  };
  return row as LivePod;
}

Deno.test("troubleOf tells what is wrong with a pod, each after its time", () => {
  const table: [string, LivePod, Trouble | null][] = [
    ["runs and is reached", running(600), null],
    ["is gone", running(1, { status: "GONE" }), "gone"],
    ["is in an error", running(1, { status: "ERROR" }), "error"],
    ["is stopped", running(600, { status: "EXITED", up_since: null, host: null }), null],
    ["has a status nobody knows", running(600, { status: "REBALANCING", host: null }), null],
    ["looks for a machine", running(15, { status: "PROVISIONING" }), null],
    ["has looked for a machine for long", running(16, { status: "PROVISIONING" }), "stuck_provisioning"],
    ["starts", running(30, { status: "STARTING" }), null],
    ["has been starting for long", running(31, { status: "STARTING" }), "stuck_starting"],
    ["has no address yet", running(15, { host: null }), null],
    ["has had no address for long", running(16, { host: null }), "no_address"],
    ["was up for long but runs for a short time", running(60, { host: null, started_at: NOW - MINUTE }), null],
    ["was not reached yet", running(15, { reachable_start: null }), null],
    ["was never reached in this start", running(16, { reachable_start: "0/0" }), "unreachable"],
    ["was reached and is not any more", running(16, { unreachable_reason: "refused" }), "unreachable"],
    ["came up without its GPU", running(1, { config: GPU, gpu_count: 0 }), "no_gpu"],
    ["does not show its GPU yet", running(10, { config: GPU, gpu_count: null }), null],
    ["never shows its GPU", running(11, { config: GPU, gpu_count: null }), "no_gpu"],
    ["has its GPU", running(600, { config: GPU, gpu_count: 1 }), null],
  ];
  for (const [what, pod, expected] of table) assert.equal(troubleOf(NOW, pod), expected, `a pod that ${what}`);
});

const told = (world: ClockedWorld, trouble: Trouble) =>
  world.db.all<{ details: string }>("select details from events where kind = 'pod.failed'")
    .map((row) => JSON.parse(row.details) as { trouble: string; error: string; todo: string })
    .filter((details) => details.trouble === trouble);

const audited = (world: ClockedWorld, trouble: Trouble) =>
  world.db.all<{ actor_kind: string; action: string }>("select * from audit_log where outcome = ?", trouble)
    .map((row) => `${row.actor_kind} ${row.action}`);

const troubleIn = (world: ClockedWorld) =>
  world.db.get<{ trouble: string | null; trouble_since: number | null }>("select * from compute_pods")!;

async function looks(world: ClockedWorld, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    world.clock.advance(MINUTE);
    await listed(world);
  }
}

const STUCK: readonly { status: string; trouble: Trouble; after: number }[] = [
  { status: "ERROR", trouble: "error", after: 1 },
  { status: "PROVISIONING", trouble: "stuck_provisioning", after: 16 },
  { status: "STARTING", trouble: "stuck_starting", after: 31 },
];

for (const { status, trouble, after } of STUCK) {
  Deno.test(`a pod that stays ${status} is a state with a reason, told and audited once: ${trouble}`, async () => {
    await inWorld({}, async (world) => {
      const id = await createRunningPod(world);
      world.runpod.pods.setStatus(id, status);
      await looks(world, after + 3);
      assert.equal(troubleIn(world).trouble, trouble);
      assert.ok(troubleIn(world).trouble_since !== null);
      const { what: error, todo } = TROUBLES[trouble];
      assert.deepEqual(told(world, trouble), [{ trouble, error, todo }]);
      assert.deepEqual(audited(world, trouble), ["server RECONCILE"]);
      const entry = (await attention(world)).find((one) => one.kind === trouble);
      assert.deepEqual([entry.pod_id, entry.todo], [id, todo]);

      world.runpod.pods.setStatus(id, null);
      await looks(world, 1);
      assert.ok(!(await attention(world)).some((one) => one.kind === trouble), "it is right again");
      assert.equal(troubleIn(world).trouble === trouble, false);
      // The same trouble of the same run is no news.
      world.runpod.pods.setStatus(id, status);
      await looks(world, 2);
      assert.equal(told(world, trouble).length, 1);
    });
  });
}

Deno.test("a pod that gets no address in time is told once for each start", async () => {
  await inWorld({}, async (world) => {
    world.runpod.faults.on({ fault: "F16", variant: "never-address" });
    const id = await createRunningPod(world);
    await looks(world, 14);
    assert.deepEqual(told(world, "no_address"), []);
    await looks(world, 4);
    assert.equal(told(world, "no_address").length, 1);
    for (const action of ["stop", "start"]) assert.equal((await act(world, id, action)).status, 200);
    await looks(world, 2);
    assert.equal(troubleIn(world).trouble, null);
    await looks(world, 16);
    assert.equal(told(world, "no_address").length, 2);
  });
});

Deno.test("a pod whose SSH never answers runs, is not reachable, and is told once", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    await looks(world, 20);
    assert.equal(troubleIn(world).trouble, "unreachable");
    assert.equal(told(world, "unreachable").length, 1);
    const pod = await eventually(
      async () => (await listed(world)).find((one) => one.id === id && one.reachable === false),
      "SSH was tried",
      () => world.clock.advance(MINUTE),
    );
    assert.equal(pod.status, "RUNNING");
    assert.equal(told(world, "unreachable").length, 1);
  });
});

Deno.test("a pod that is gone is audited as what somebody outside did, not as the server's own finding", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    await looks(world, 3);
    world.runpod.pods.deleteOutside(id);
    await looks(world, 4);
    assert.equal(told(world, "gone").length, 1);
    assert.deepEqual(audited(world, "gone"), ["external RECONCILE"]);
    // It is taken off the list here, and nothing more is said.
    assert.equal((await act(world, id, "terminate")).status, 200);
    await looks(world, 2);
    assert.equal(told(world, "gone").length, 1);
  });
});
