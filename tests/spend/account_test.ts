import assert from "node:assert/strict";
import { storeBilling } from "../../db/stores/account_money.ts";
import { DAY, HOUR, isoTime, MINUTE } from "../../server/clock.ts";
import { billedSpan } from "../../server/spend/account.ts";
import {
  act,
  type ClockedWorld,
  eventsOf,
  gpuPod,
  inWorld,
  look,
  type Loose,
  must,
  pass,
  QUICK,
  setSettings,
  spend,
} from "./support.ts";

const turn = (world: ClockedWorld) => world.app.jobs.money.turn();
const asked = (world: ClockedWorld, path: RegExp) => world.runpod.requests.filter((one) => path.test(one.path)).length;
const near = (got: number, wanted: number, slack: number) =>
  assert.ok(Math.abs(got - wanted) <= slack, `${got} is not about ${wanted}`);

Deno.test("the balance is read every 15 minutes, and shown with its age", () =>
  inWorld({ ...QUICK, runpod: { balance: 50 } }, async (world) => {
    await gpuPod(world);
    await turn(world);
    const readAt = world.clock.now();
    await turn(world);
    await pass(world, 14 * MINUTE);
    await turn(world);
    assert.equal(asked(world, /graphql/), 2, "one call for each of two orgs");
    const { balance } = await spend(world);
    assert.deepEqual([balance.read_at, balance.error], [isoTime(readAt), null]);
    await pass(world, 2 * MINUTE);
    await turn(world);
    assert.equal(asked(world, /graphql/), 4);
    near((await spend(world)).balance.usd, world.runpod.meter.balance(), 0.001);
  }));

Deno.test("a low balance is told once, and again only after it has recovered", () =>
  inWorld({ ...QUICK, runpod: { balance: 100 } }, async (world) => {
    const id = await gpuPod(world);
    const { meter } = world.runpod;
    const later = async (balance?: number) => {
      if (balance !== undefined) meter.setBalance(balance);
      await pass(world, 16 * MINUTE);
      await turn(world);
      return eventsOf(world, "balance.low").length;
    };
    assert.equal(await later(), 0);
    assert.equal(await later(4.5), 1, "below 5 USD");
    const [event] = eventsOf(world, "balance.low");
    assert.deepEqual([event!.details.limit_usd, event!.subject], [5, "Test Society"]);
    near(event!.details.balance_usd, 4.5, 0.1);
    assert.equal(await later(), 1);
    assert.equal(await later(4.4), 1);
    assert.equal(await later(60), 1);
    assert.equal(await later(4.4), 2);
    await setSettings(world, { balance_low_usd: 0.5 });
    assert.equal(await later(4), 2, "less than a day at this rate is low too");
    await must(act(world, id, "stop"));
    assert.equal(await later(), 2);
    await must(act(world, id, "start"));
    assert.equal(await later(), 2, "a pod that stopped for the night is no recovery");
    assert.equal(await later(60), 2);
    assert.equal(await later(4), 3);
    await setSettings(world, { balance_low_usd: null });
    assert.equal(await later(60), 3);
    assert.equal(await later(1), 3, "switched off");
  }));

const FAILURES = [
  ["a key without rights", { fault: "F1", variant: "403", on: "POST /graphql" }, /RunPod/],
  ["a page of the edge", { fault: "F32", variant: "html-502", on: "POST /graphql" }, /RunPod/],
  ["a cut answer", { fault: "F34", variant: "cut", on: "POST /graphql" }, /RunPod/],
  ["something that is no JSON", { fault: "F33", variant: "html-200", on: "POST /graphql" }, /not JSON/],
] as const;
for (const [what, fault, sentence] of FAILURES) {
  Deno.test(`a balance that is answered with ${what} is an error text and disturbs nothing`, () =>
    inWorld({ ...QUICK, runpod: { balance: 50 } }, async (world) => {
      const id = await gpuPod(world);
      await turn(world);
      world.runpod.faults.on(fault);
      await pass(world, 16 * MINUTE);
      await turn(world);
      const { balance, runpod_billing } = await spend(world);
      assert.match(balance.error, sentence);
      assert.doesNotMatch(balance.error, /[.]$/);
      near(balance.usd, 50, 0.1);
      assert.equal(runpod_billing.error, null);
      world.runpod.faults.clear();
      await must(act(world, id, "stop"));
      await pass(world, 16 * MINUTE);
      await turn(world);
      assert.equal((await spend(world)).balance.error, null);
    }));
}

Deno.test("a clock that went back does not keep the balance from being read", () =>
  inWorld({ ...QUICK, runpod: { balance: 50 } }, async (world) => {
    await turn(world);
    world.clock.advance(-5 * DAY);
    const before = asked(world, /graphql/);
    await turn(world);
    assert.equal(asked(world, /graphql/), before + 2);
  }));

Deno.test("RunPod's bill of whole days is compared with what was counted, and agrees", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    await pass(world, 30 * HOUR, 5 * MINUTE);
    await must(act(world, id, "stop"));
    await pass(world, 12 * HOUR, 5 * MINUTE);
    await turn(world);
    const { runpod_billing: bill } = await spend(world);
    const { from, to } = billedSpan(world.clock.now());
    assert.deepEqual([bill.from, bill.to, bill.read_at], [isoTime(from), isoTime(to), isoTime(world.clock.now())]);
    assert.ok(bill.runpod_usd > 5);
    near(bill.difference_percent, 0, 0.5);
    assert.deepEqual([bill.differs, bill.error, bill.pods], [false, null, []]);
    await pass(world, 5 * HOUR, HOUR);
    await turn(world);
    assert.equal(asked(world, /billing/), 2, "once for each org");
    await pass(world, 2 * HOUR, HOUR);
    await turn(world);
    assert.equal(asked(world, /billing/), 4);
  }));

Deno.test("a difference from RunPod's bill over five per cent is shown with the pods it comes from", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world, { name: "unseen" });
    await pass(world, 12 * HOUR, 5 * MINUTE);
    // Nobody looks for a day, in which somebody in the console makes the pod another one.
    world.runpod.faults.on({ fault: "F34", variant: "refused-like" });
    await pass(world, 11 * HOUR, HOUR);
    world.runpod.pods.stop(id);
    await pass(world, HOUR);
    world.runpod.faults.clear();
    await pass(world, DAY, 5 * MINUTE);
    await turn(world);
    const { runpod_billing: bill, total } = await spend(world, "?from=2026-11&to=2027-01");
    assert.equal(bill.differs, true);
    assert.ok(bill.difference_percent < -30, String(bill.difference_percent));
    assert.deepEqual(bill.pods.map((pod: Loose) => [pod.pod_id, pod.name, pod.differs]), [[id, "unseen", true]]);
    assert.ok(total.amount + total.unsure >= bill.runpod_usd, "the gap was stated");
  }));

Deno.test("a bill that cannot be read is an error text, tried again after an hour", () =>
  inWorld(QUICK, async (world) => {
    world.runpod.faults.on({ fault: "F1", variant: "403", on: "GET /billing/pods" });
    await turn(world);
    assert.match((await spend(world)).runpod_billing.error, /RunPod/);
    assert.equal((await spend(world)).balance.error, null);
    const before = asked(world, /billing/);
    world.clock.advance(30 * MINUTE);
    await turn(world);
    assert.equal(asked(world, /billing/), before);
    world.runpod.faults.clear();
    world.clock.advance(31 * MINUTE);
    await turn(world);
    const { error, read_at } = (await spend(world)).runpod_billing;
    assert.deepEqual([error, read_at], [null, isoTime(world.clock.now())]);
  }));

Deno.test("a day's bill is replaced by a newer reading, and pods of others are not kept", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    const span = billedSpan(world.clock.now());
    const day = (usd: number, runpodId = id) => ({ runpodId, dayAt: span.from, usd });
    world.db.tx(() => storeBilling(world.db, 1, span, [day(1), day(7, "somebodyelses1")], world.clock.now()));
    assert.equal((await spend(world)).runpod_billing.runpod_usd, 1);
    world.db.tx(() => storeBilling(world.db, 1, span, [day(2)], world.clock.now()));
    assert.equal((await spend(world)).runpod_billing.runpod_usd, 2);
    world.db.tx(() => storeBilling(world.db, 1, span, [], world.clock.now()));
    assert.equal((await spend(world)).runpod_billing.runpod_usd, 0);
  }));

Deno.test("an org without a key is not asked for", () =>
  inWorld(QUICK, async (world) => {
    await must(world.call("DELETE", "/api/operator/orgs/org/secrets/runpod_api_key", { as: "operator" }));
    await turn(world);
    assert.equal(asked(world, /graphql|billing/), 2, "the other org's");
    assert.deepEqual((await spend(world)).balance, { usd: null, read_at: null, error: null });
  }));

Deno.test("a turn that hangs on RunPod ends when the server closes", () =>
  inWorld(QUICK, async (world) => {
    await look(world);
    world.runpod.faults.on({ fault: "F34", variant: "slow", ms: 600_000, on: "POST /graphql" });
    const turning = turn(world);
    await Promise.resolve();
    world.app.jobs.money.close();
    await turning;
    assert.deepEqual((await spend(world)).balance, { usd: null, read_at: null, error: null });
  }));
