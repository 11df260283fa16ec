import assert from "node:assert/strict";
import type { SpendRow } from "../../db/stores/spend.ts";
import { pullBackFuture } from "../../db/stores/spend.ts";
import { DAY, HOUR, MINUTE } from "../../server/clock.ts";
import { recordAnswer } from "../../server/pods/seen.ts";
import { partsOf, runpodPod } from "../pods/support.ts";
import {
  act,
  type ClockedWorld,
  DISK,
  gpuPod,
  inWorld,
  look,
  meterOf,
  must,
  near,
  OFFICER,
  ORG,
  pass,
  QUICK,
  spend,
} from "./support.ts";

const FOREVER = "?from=2026-01&to=2027-01";

/** The only pod's row of the report. */
// deno-lint-ignore no-explicit-any
async function rowOf(world: ClockedWorld): Promise<any> {
  const { rows } = await spend(world, FOREVER);
  assert.equal(rows.length, 1);
  return rows[0];
}

const stretches = (world: ClockedWorld) => world.db.all<SpendRow>("select * from compute_spend order by from_at, id");

/** The price of the pod's GPU in the stand-in. */
function setPrice(world: ClockedWorld, community: number): void {
  const type = world.runpod.catalog.gpus.find((one) => one.id === "NVIDIA RTX A4000")!;
  Object.assign(type.price, { community });
}

async function agrees(world: ClockedWorld, id: string, what: string): Promise<void> {
  near(await rowOf(world), (await meterOf(world)).get(id)!.total, what);
}

Deno.test("a pod is billed running, stopped, started again and terminated, to the cent and with nothing unsure", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    await pass(world, 3 * HOUR);
    await must(act(world, id, "stop"));
    await pass(world, 10 * HOUR, 5 * MINUTE);
    await must(act(world, id, "start"));
    await pass(world, 2 * HOUR);
    await must(act(world, id, "terminate"));
    await pass(world, DAY, 5 * MINUTE);
    const row = await rowOf(world);
    assert.deepEqual([row.key, row.terminated], [id, true], "the money of a terminated pod stays");
    const { total, disk, gpu } = (await meterOf(world)).get(id)!;
    assert.ok(Math.abs(row.amount - total) < 0.001, `${row.amount} is not ${total}`);
    assert.ok(Math.abs(row.storage_amount - 10 * 40 * 0.20 / 730) < 0.0005, `storage ${row.storage_amount}`);
    assert.ok(Math.abs(row.running_hours - 5) < 0.01, `${row.running_hours} h`);
    assert.ok(Math.abs(row.running_amount - (gpu + disk - row.storage_amount)) < 0.001);
    assert.ok(row.unsure < 0.001, `${row.unsure} unsure`);
  }));

Deno.test("a stopped pod without a volume costs nothing", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world, { use_cpu_only: true, volume_in_gb: 0 });
    await pass(world, HOUR);
    await must(act(world, id, "stop"));
    const before = await rowOf(world);
    await pass(world, 5 * DAY, HOUR);
    assert.deepEqual(await rowOf(world), before);
    await agrees(world, id, "a CPU pod");
  }));

Deno.test("a rate that RunPod does not tell yet is taken from the last run and corrected for the whole run", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    await pass(world, HOUR);
    await must(act(world, id, "stop"));
    setPrice(world, 0.5);
    world.runpod.faults.on({ fault: "F19", variant: "cost-zero" });
    await must(act(world, id, "start"));
    await pass(world, HOUR);
    const guessed = await rowOf(world);
    assert.ok(
      Math.abs(guessed.running_amount - 2 * (0.17 + DISK + 40 * 0.1 / 730)) < 0.01,
      `${guessed.running_amount}`,
    );
    world.runpod.faults.clear();
    await pass(world, HOUR);
    await agrees(world, id, "after the rate was told");
    assert.equal(stretches(world).filter((one) => one.kind === "running").length, 2);
  }));

Deno.test("a rate that was never told before a pod stopped is corrected at its next run", () =>
  inWorld(QUICK, async (world) => {
    world.runpod.faults.on({ fault: "F19", variant: "cost-zero" });
    const id = await gpuPod(world);
    await pass(world, HOUR);
    await must(act(world, id, "stop"));
    assert.ok((await rowOf(world)).running_amount < 0.02, "only the disks are known");
    world.runpod.faults.clear();
    await must(act(world, id, "start"));
    await pass(world, MINUTE);
    await agrees(world, id, "both runs");
  }));

Deno.test("a change of the rate within a run splits the run", () =>
  inWorld(QUICK, async (world) => {
    await gpuPod(world);
    await pass(world, HOUR);
    setPrice(world, 0.5);
    await pass(world, HOUR);
    const runs = stretches(world).filter((one) => one.kind === "running");
    assert.deepEqual(runs.map((run) => run.hardware_per_hour), [0.17, 0.5]);
    assert.equal(runs[0]!.until_at, runs[1]!.from_at);
  }));

Deno.test("a pod that started without its GPU is not billed at the old rate", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    await pass(world, HOUR);
    const { pods, faults } = world.runpod;
    await must(act(world, id, "stop"));
    faults.on({ fault: "F28", variant: "zero" });
    faults.on({ fault: "F24", variant: "conflict", on: "POST /pods/{id}/action", action: "stop" });
    await act(world, id, "start");
    await pass(world, 5 * HOUR);
    assert.equal(pods.get(id).phase, "up");
    await agrees(world, id, "without a GPU");
  }));

Deno.test("a run that is seen again after an outage ran on, and nothing is unsure", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    world.runpod.faults.on({ fault: "F34", variant: "refused-like" });
    await pass(world, 6 * HOUR);
    const during = await rowOf(world);
    assert.ok(during.amount < 0.01 && during.unsure > 0.9, JSON.stringify(during));
    world.runpod.faults.clear();
    await pass(world, 2 * MINUTE);
    const { amount, unsure } = await rowOf(world);
    assert.ok(amount > 0.96 && unsure < 0.001, `${amount}, ${unsure}`);
    await agrees(world, id, "after an outage");
  }));

Deno.test("a pod stopped by others in an outage is counted to the last look, the rest is stated as unsure", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    await pass(world, HOUR);
    world.runpod.faults.on({ fault: "F34", variant: "refused-like" });
    await pass(world, 2 * HOUR);
    world.runpod.pods.stop(id);
    await pass(world, 2 * HOUR);
    world.runpod.faults.clear();
    await pass(world, HOUR);
    const row = await rowOf(world);
    assert.ok(Math.abs(row.running_hours - 1) < 0.01, `${row.running_hours} h`);
    assert.ok(Math.abs(row.unsure - 4 * (0.17 + DISK + 40 * 0.1 / 730)) < 0.02, `${row.unsure}`);
    await agrees(world, id, "stopped in an outage");
  }));

Deno.test("a stop of ours that RunPod refused does not tell when the pod stopped", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    await pass(world, HOUR);
    world.clock.advance(2 * MINUTE);
    world.runpod.faults.on({ fault: "F1", variant: "403", on: "POST /pods/{id}/action", times: 1 });
    assert.equal((await act(world, id, "stop")).status, 400);
    world.clock.advance(2 * MINUTE);
    world.runpod.pods.stop(id);
    await look(world);
    const row = await rowOf(world);
    assert.ok(Math.abs(row.unsure - 4 / 60 * (0.17 + DISK + 40 * 0.1 / 730)) < 0.001, `${row.unsure}`);
    await agrees(world, id, "after a refused stop");
  }));

Deno.test("a pod stopped and started by others in an outage counts from the start that RunPod tells", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    world.runpod.faults.on({ fault: "F34", variant: "refused-like" });
    await pass(world, 2 * HOUR);
    world.runpod.pods.stop(id);
    await pass(world, 20 * HOUR, HOUR);
    world.runpod.pods.start(id);
    await pass(world, 5 * HOUR, HOUR);
    world.runpod.faults.clear();
    await pass(world, HOUR);
    const row = await rowOf(world);
    assert.ok(Math.abs(row.running_hours - 6) < 0.05, `${row.running_hours} h`);
    await agrees(world, id, "restarted in an outage");
  }));

Deno.test("a pod that vanishes and comes back in the same run was never gone", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    await pass(world, HOUR);
    world.runpod.pods.get(id).unlistedUntil = world.clock.now() + HOUR;
    await pass(world, 2 * HOUR);
    const row = await rowOf(world);
    assert.ok(Math.abs(row.running_hours - 3) < 0.05 && row.unsure < 0.001, JSON.stringify(row));
    await agrees(world, id, "back again");
  }));

Deno.test("a pod that was deleted outside is counted to the last look", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    await pass(world, HOUR);
    world.runpod.pods.deleteOutside(id);
    await pass(world, 10 * HOUR);
    await agrees(world, id, "deleted outside");
    assert.ok((await rowOf(world)).unsure < 0.03);
    await must(act(world, id, "terminate"));
    await pass(world, HOUR);
    assert.ok((await rowOf(world)).unsure < 0.03, "forgetting it costs nothing");
  }));

Deno.test("a lost create is counted from the start that RunPod tells", () =>
  inWorld({ ...QUICK, timings: { settleWaitMs: 20 } }, async (world) => {
    world.runpod.faults.on({ fault: "F13", variant: "cut", ms: 1_000, times: 1 });
    const made = await world.call("POST", `${ORG}/pods`, { ...OFFICER, body: { volume_in_gb: 40 } });
    assert.equal(made.status, 424, made.text);
    world.clock.advance(3 * HOUR);
    await look(world);
    await pass(world, HOUR);
    const [id] = (await meterOf(world)).keys();
    await agrees(world, id!, "found in the list");
    assert.ok((await rowOf(world)).unsure < 0.001);
  }));

Deno.test("a clock that jumps never gives negative amounts, and what it put into the future is taken back", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    await pass(world, HOUR);
    const ours = world.clock.now();
    // Only the program's figures are judged here: the stand-in lives by the same clock.
    world.clock.advance(60 * DAY);
    await look(world);
    await must(act(world, id, "stop"));
    world.clock.advance(ours - world.clock.now() + 5 * MINUTE);
    pullBackFuture(world.db, world.clock.now());
    await pass(world, MINUTE);
    for (const one of stretches(world)) {
      assert.ok(one.until_at === null || one.until_at >= one.from_at, JSON.stringify(one));
      assert.ok((one.until_at ?? 0) <= world.clock.now() && one.from_at <= world.clock.now(), JSON.stringify(one));
    }
    const row = await rowOf(world);
    assert.ok(row.amount > 0 && row.amount < 0.5, JSON.stringify(row));
  }));

Deno.test("a clock that goes back a day in the middle of a run goes on counting from there", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    await pass(world, 2 * HOUR);
    // The stand-in lives by the same clock, so its answers are made by hand here.
    const deps = partsOf(world);
    const { id: podId, started_at } = world.db.get<{ id: string; started_at: number }>("select * from compute_pods")!;
    const seen = () => {
      const answer = runpodPod({ id, status: "RUNNING", startedAt: started_at, cost: 0.17 });
      world.db.tx(() => recordAnswer(deps, podId, answer, world.clock.now()));
    };
    world.clock.advance(-DAY);
    for (let minutes = 0; minutes <= 60; minutes++) {
      seen();
      world.clock.advance(MINUTE);
    }
    const row = await rowOf(world);
    assert.ok(row.running_hours > 0.99 && row.running_hours < 3.1 && row.amount > 0, JSON.stringify(row));
    const open = stretches(world).filter((one) => one.until_at === null);
    assert.equal(open.length, 1);
    assert.ok(open[0]!.from_at <= world.clock.now());
    await deps.ssh.close();
  }));
