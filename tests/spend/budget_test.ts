import assert from "node:assert/strict";
import { DAY, HOUR, isoTime, MINUTE } from "../../server/clock.ts";
import { budgetReached, budgetState, refuseOverBudget } from "../../server/spend/budget.ts";
import { orgNamed, refused } from "../pods/support.ts";
import {
  act,
  type ClockedWorld,
  eventsOf,
  gpuPod,
  inWorld,
  type Loose,
  must,
  OFFICER,
  ORG,
  pass,
  QUICK,
  setSettings,
  spend,
} from "./support.ts";

const turn = (world: ClockedWorld) => world.app.jobs.money.turn();
const create = (world: ClockedWorld, body: Record<string, unknown> = {}, key?: string) =>
  world.call("POST", `${ORG}/pods`, {
    ...OFFICER,
    body: { use_cpu_only: true, ...body },
    headers: key === undefined ? {} : { "idempotency-key": key },
  });
const audit = async (world: ClockedWorld, action: RegExp): Promise<Loose[]> =>
  (await must(world.call("GET", `${ORG}/audit`, OFFICER))).audit.filter((entry: Loose) => action.test(entry.action));

/** A month whose budget of 0.50 USD is spent by a pod that is stopped. */
async function spent(world: ClockedWorld): Promise<string> {
  const id = await gpuPod(world);
  await setSettings(world, { monthly_budget_usd: 0.5 });
  await pass(world, 3 * HOUR);
  await must(act(world, id, "stop"));
  return id;
}

const SENTENCE =
  /^The budget of 2026-11 is spent: 0\.5\d{3} of 0\.5000 USD; send "over_budget": true to go on all the same$/;

Deno.test("a spent budget refuses create and start, and nothing else", () =>
  inWorld(QUICK, async (world) => {
    const id = await spent(world);
    refused(await act(world, id, "start"), 409, "budget_reached", SENTENCE);
    refused(await create(world), 409, "budget_reached", SENTENCE);
    assert.equal(world.db.get<{ count: number }>("select count(*) as count from compute_pods")!.count, 1);
    assert.equal(budgetReached(world.db, orgNamed(world), world.clock.now()), true);
    await must(act(world, id, "start", { over_budget: true }));
    world.clock.advance(MINUTE);
    await must(act(world, id, "restart"));
    world.clock.advance(MINUTE);
    await must(act(world, id, "stop"));
    await must(act(world, id, "terminate"));
  }));

Deno.test("an officer goes over the budget by saying so, and the audit says who", () =>
  inWorld(QUICK, async (world) => {
    const id = await spent(world);
    await must(act(world, id, "start", { over_budget: true }));
    const made = await must(create(world, { over_budget: true, name: "urgent" }));
    const [start] = await audit(world, /\/action$/);
    assert.deepEqual([start.details.over_budget, start.actor_name], [true, "officer"]);
    const [creation] = await audit(world, /^POST .*\/pods$/);
    assert.deepEqual([creation.details.over_budget, creation.pod_id], [true, made.pod.id]);
    for (const over_budget of ["true", 1, null]) {
      refused(
        await act(world, id, "start", { over_budget }),
        400,
        "invalid_request",
        "over_budget must be true or false",
      );
      refused(await create(world, { over_budget }), 400, "invalid_request", "over_budget must be true or false");
    }
  }));

Deno.test("a repeated create is answered although the budget is spent by now, and may say over_budget later", () =>
  inWorld(QUICK, async (world) => {
    const first = await must(create(world, { name: "one" }, "monday"));
    await spent(world);
    assert.equal((await must(create(world, { name: "one" }, "monday"))).pod.id, first.pod.id);
    refused(await create(world, { name: "two" }, "tuesday"), 409, "budget_reached");
    const second = await must(create(world, { name: "two", over_budget: true }, "tuesday"));
    assert.equal((await must(create(world, { name: "two" }, "tuesday"))).pod.id, second.pod.id);
  }));

Deno.test("a new month begins with an unspent budget", () =>
  inWorld(QUICK, async (world) => {
    const id = await spent(world);
    world.clock.advance(10 * HOUR);
    await must(act(world, id, "start"));
    assert.ok((await spend(world)).budget.percent < 10);
  }));

Deno.test("an org without a budget is never refused", () =>
  inWorld(QUICK, async (world) => {
    const id = await spent(world);
    await setSettings(world, { monthly_budget_usd: null });
    const { budget } = await spend(world);
    assert.deepEqual([budget.state, budget.monthly_usd, budget.percent], ["none", null, null]);
    refuseOverBudget(world.db, orgNamed(world), world.clock.now(), false);
    await must(act(world, id, "start"));
  }));

/** A session that waits for its start. */
function planned(world: ClockedWorld, title: string, startAt: number, overBudget = false): void {
  world.db.run(
    "insert into compute_sessions (org_id, pod_id, title, start_at, stop_at, over_budget, created_at) " +
      "values (1, (select id from compute_pods), ?, ?, ?, ?, 0)",
    title,
    startAt,
    startAt + HOUR,
    overBudget ? 1 : 0,
  );
}

Deno.test("the budget is told of at 80 and at 100 %, once, with the sessions of the rest of the month", () =>
  inWorld(QUICK, async (world) => {
    await gpuPod(world);
    await setSettings(world, { monthly_budget_usd: 1 });
    const now = world.clock.now();
    planned(world, "Tonight", now + 8 * HOUR);
    planned(world, "Whatever it costs", now + 9 * HOUR, true);
    planned(world, "Next month", now + 2 * DAY);
    await turn(world);
    assert.equal(eventsOf(world, "budget.warning").length, 0);
    await pass(world, 5 * HOUR);
    await turn(world);
    await turn(world);
    const [warning, ...more] = eventsOf(world, "budget.warning");
    assert.equal(more.length, 0);
    assert.deepEqual([warning!.details.budget_usd, warning!.details.percent, warning!.details.month], [
      1,
      89,
      "2026-11",
    ]);
    assert.deepEqual(warning!.details.sessions_at_risk, [
      { pod: warning!.details.sessions_at_risk[0].pod, title: "Tonight", start_at: isoTime(now + 8 * HOUR) },
    ]);
    assert.equal((await spend(world)).budget.state, "warning");
    assert.equal(eventsOf(world, "budget.reached").length, 0);
    await pass(world, HOUR);
    await turn(world);
    await turn(world);
    assert.equal(eventsOf(world, "budget.reached").length, 1);
    assert.equal(eventsOf(world, "budget.warning").length, 1);
    await setSettings(world, { monthly_budget_usd: 1.05 });
    await turn(world);
    assert.equal(eventsOf(world, "budget.reached").length, 2, "another amount of budget");
    await setSettings(world, { monthly_budget_usd: 1 });
    await turn(world);
    assert.equal(eventsOf(world, "budget.reached").length, 2, "of this amount it was told");
    await pass(world, 14 * HOUR, 10 * MINUTE);
    await turn(world);
    assert.deepEqual(eventsOf(world, "budget.reached").map((event) => event.details.month), [
      "2026-11",
      "2026-11",
      "2026-12",
    ]);
  }));

Deno.test("budgetState tells percent and state at the borders", () =>
  inWorld(QUICK, async (world) => {
    await gpuPod(world);
    await pass(world, HOUR);
    const { spentUsd } = budgetState(world.db, orgNamed(world), world.clock.now());
    for (
      const [part, state] of [[0.5, "ok"], [0.79, "ok"], [0.81, "warning"], [0.99, "warning"], [
        1.01,
        "reached",
      ]] as const
    ) {
      await setSettings(world, { monthly_budget_usd: spentUsd / part });
      assert.equal(budgetState(world.db, orgNamed(world), world.clock.now()).state, state, String(part));
    }
  }));
