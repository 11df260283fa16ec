/** Stops at the budget over the whole program: what is billed is stopped, what an officer asked for is not. */
import assert from "node:assert/strict";
import { HOUR, MINUTE } from "../../server/clock.ts";
import { createActions } from "../../server/pods/act.ts";
import { partsOf, refreshed } from "../pods/support.ts";
import { orgById } from "../../db/stores/organizations.ts";
import { act, type ClockedWorld, gpuPod, inWorld, look, OFFICER, ORG, pass, setSettings } from "../spend/support.ts";
import type { WorldOptions } from "../support/world.ts";
import { storedPod } from "./support.ts";

/** Calls to RunPod are made once, and lost answers are looked after at once. */
const QUICK: Omit<WorldOptions, "clock"> = {
  runpodLimits: { firstWaitMs: 1, attempts: 1 },
  timings: { settleEveryMs: 5, settleWaitMs: 10 },
};

const phase = (world: ClockedWorld, id: string) => world.runpod.pods.get(id).phase;

async function stopsAfter(world: ClockedWorld, ms = MINUTE): Promise<void> {
  world.clock.advance(ms);
  await refreshed(world);
  await world.app.jobs.autoStop.stops.turn();
}

/** A pod that was stopped because the month's budget is spent. */
async function stoppedAtBudget(world: ClockedWorld): Promise<string> {
  const id = await gpuPod(world);
  await setSettings(world, { monthly_budget_usd: 0.5, stop_at_budget: true });
  await pass(world, 3 * HOUR);
  await stopsAfter(world);
  assert.equal(phase(world, id), "exited");
  return id;
}

const staysWhy = async (world: ClockedWorld) =>
  (await world.call("GET", `${ORG}/pods`, OFFICER)).json.pods.map((pod: { stays_why: string | null }) => pod.stays_why);

for (const rule of ["budget", "max_run"] as const) {
  Deno.test(`a pod that hangs while it starts, and is billed, is stopped by the rule ${rule}`, () =>
    inWorld(QUICK, async (world) => {
      const id = await gpuPod(world);
      const byBudget = { monthly_budget_usd: 1, stop_at_budget: true, max_run_hours: null };
      await setSettings(world, rule === "budget" ? byBudget : { max_run_hours: 5 });
      world.runpod.pods.setStatus(id, "STARTING");
      for (let hour = 0; hour < 8 && phase(world, id) !== "exited"; hour++) {
        await pass(world, HOUR, 10 * MINUTE);
        await world.app.jobs.autoStop.stops.turn();
      }
      assert.equal(phase(world, id), "exited");
      const row = world.db.get<{ actor_id: string }>("select actor_id from audit_log where action = 'auto_stop'");
      assert.equal(row?.actor_id, rule);
    }));
}

Deno.test("a start over the budget is left alone until the pod is stopped, says so, and the next one is not", () =>
  inWorld(QUICK, async (world) => {
    const id = await stoppedAtBudget(world);
    assert.equal((await act(world, id, "start")).status, 409);
    assert.equal((await act(world, id, "start", { over_budget: true })).status, 200);
    for (let minute = 0; minute < 3; minute++) await stopsAfter(world);
    assert.equal(phase(world, id), "up");
    assert.deepEqual(await staysWhy(world), ["An officer lets this run go over the budget"]);
    world.runpod.pods.stop(id);
    await stopsAfter(world);
    // Somebody starts it in RunPod's console.
    world.runpod.pods.start(id);
    await stopsAfter(world);
    assert.equal(phase(world, id), "exited");
  }));

Deno.test("a pod that was made over the budget is left alone", () =>
  inWorld(QUICK, async (world) => {
    await stoppedAtBudget(world);
    const id = await gpuPod(world, { name: "second", over_budget: true });
    await stopsAfter(world);
    assert.equal(phase(world, id), "up");
  }));

Deno.test("a start over the budget is left alone also when its answer was lost", () => {
  let lose = false;
  const fetch = (inner: typeof globalThis.fetch) =>
    (async (input: Request | URL | string, init?: RequestInit) => {
      const answer = await inner(input, init);
      if (!lose) return answer;
      await answer.body?.cancel();
      throw new TypeError("connection closed");
    }) as typeof globalThis.fetch;
  return inWorld({ ...QUICK, fetch }, async (world) => {
    const id = await stoppedAtBudget(world);
    lose = true;
    assert.equal((await act(world, id, "start", { over_budget: true })).status, 424);
    lose = false;
    await stopsAfter(world);
    await world.app.jobs.settle();
    await stopsAfter(world);
    assert.equal(phase(world, id), "up");
  });
});

Deno.test("a start over the budget that RunPod refuses allows nothing", () =>
  inWorld(QUICK, async (world) => {
    const id = await stoppedAtBudget(world);
    world.runpod.faults.on({ fault: "F1", variant: "403", on: "POST /pods/{id}/action", times: 1 });
    assert.notEqual((await act(world, id, "start", { over_budget: true })).status, 200);
    assert.equal(storedPod(world).run_over_budget, 0);
  }));

Deno.test("a session's own start over the budget allows nothing beyond its session", () =>
  inWorld(QUICK, async (world) => {
    const id = await stoppedAtBudget(world);
    const asker = { caller: { kind: "system" as const, rule: "schedule" as const }, address: null, action: "TEST" };
    const org = orgById(world.db, 1)!;
    await createActions(partsOf(world)).act(org, asker, storedPod(world).id, "start", { overBudget: true });
    await look(world);
    assert.deepEqual([phase(world, id), storedPod(world).run_over_budget], ["up", 0]);
    await stopsAfter(world);
    assert.equal(phase(world, id), "exited");
  }));
