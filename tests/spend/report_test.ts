import assert from "node:assert/strict";
import { DAY, HOUR, MINUTE } from "../../server/clock.ts";
import { monthCostByPod } from "../../server/spend/budget.ts";
import { orgNamed } from "../pods/support.ts";
import {
  act,
  type ClockedWorld,
  DISK,
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

const RATE = 0.17 + DISK + 40 * 0.1 / 730;
const near = (got: number, wanted: number, slack = 0.002) =>
  assert.ok(Math.abs(got - wanted) <= slack, `${got} is not about ${wanted}`);

Deno.test("GET /spend splits a run over the border of a month (UTC)", () =>
  inWorld(QUICK, async (world) => {
    // The clock begins at noon of 30 November.
    const id = await gpuPod(world);
    await pass(world, 18 * HOUR, 5 * MINUTE);
    const { rows, total } = await spend(world, "?from=2026-11&to=2027-01&group=month");
    assert.deepEqual(rows.map((row: Loose) => row.key), ["2026-11", "2026-12"]);
    near(rows[0].running_hours, 12, 0.01);
    near(rows[1].running_hours, 6, 0.01);
    near(rows[0].amount, 12 * RATE);
    near(total.amount, rows[0].amount + rows[1].amount);
    const december = await spend(world);
    assert.deepEqual([december.from, december.to], ["2026-12-01T00:00:00+00:00", "2027-01-01T00:00:00+00:00"]);
    near(december.total.amount, 6 * RATE);
    near(december.budget.spent_usd, 6 * RATE);
    const [podId, cost] = [...monthCostByPod(world.db, orgNamed(world).id, world.clock.now())][0]!;
    assert.equal(world.db.get<{ id: string }>("select id from compute_pods where runpod_id = ?", id)!.id, podId);
    near(cost, 6 * RATE);
    assert.equal(december.currency, "USD");
    near(december.rate_per_hour, RATE, 0.0001);
    const other = await world.call("GET", "/api/compute/other/spend", { as: "otherOfficer" });
    assert.equal(other.json.total.amount, 0, "another org's money");
  }));

Deno.test("GET /spend cuts a span at its ends, whatever zone they are written in", () =>
  inWorld(QUICK, async (world) => {
    await gpuPod(world);
    await pass(world, 5 * HOUR);
    const spans = [
      ["?from=2026-11-30T13:00:00Z&to=2026-11-30T15:00:00Z", 2],
      ["?from=2026-11-30T06:00:00-07:00&to=2026-11-30T08:00:00-07:00", 2],
      ["?from=2026-11-30T13:00:00%2B00:00&to=2026-12-01", 4],
      ["?from=2026-11-30T13:00:00+00:00&to=2026-12-01", 4],
      ["?from=2026-11-30T16:00Z", 1],
      ["?to=2026-11-30T13:00Z", 1],
      ["?from=2026-12&to=2027-01", 0],
    ] as const;
    for (const [query, hours] of spans) near((await spend(world, query)).total.running_hours, hours, 0.01);
  }));

const TIME = "must be an ISO 8601 time with a timezone, a day such as 2026-11-05 or a month such as 2026-11";
const BAD: readonly (readonly [string, string])[] = [
  ["from=yesterday", `from ${TIME}: yesterday`],
  ["to=2026-02-30", `to ${TIME}: 2026-02-30`],
  ["from=2026-13", `from ${TIME}: 2026-13`],
  ["from=", `from ${TIME}: `],
  ["from=2026-11-30T12:00:00", "from needs a timezone, such as -07:00 or Z"],
  ["from=2026-11-30T12:00:00Z&to=2026-11-30T12:00:00Z", "to must be after from"],
  ["from=2026-12&to=2026-11", "to must be after from"],
  ["from=2027-01", "from must be in the past when there is no to"],
  ["from=2025-01&to=2026-11", "from and to can be at most 400 days apart"],
  ["group=person", "group must be one of pod, month, session, org"],
  ["group=", "group must be one of pod, month, session, org"],
  ["from=%E2%80%AE2026", `from ${TIME}: \\u202e2026`],
];

Deno.test("GET /spend refuses each bad span and group with its sentence", () =>
  inWorld(QUICK, async (world) => {
    for (const [query, sentence] of BAD) {
      const answer = await world.call("GET", `${ORG}/spend?${query}`, OFFICER);
      assert.deepEqual([answer.status, answer.json], [400, { error: sentence, code: "invalid_request" }], query);
    }
    assert.equal((await world.call("GET", `${ORG}/spend`, { as: "member", kind: "officer" })).status, 403);
  }));

/** A session as the schedule leaves it behind. */
function ran(world: ClockedWorld, podId: string, title: string, from: number, until: number | null): void {
  world.db.run(
    "insert into compute_sessions (org_id, pod_id, title, start_at, stop_at, started, finished, state, started_at, " +
      "finished_at, created_at) values (1, ?, ?, ?, ?, 1, ?, 'running', ?, ?, ?)",
    podId,
    title,
    from,
    until ?? from + HOUR,
    until === null ? 0 : 1,
    from,
    until,
    from,
  );
}

Deno.test("GET /spend gives each minute to one session, the earlier one, and the rest to none", () =>
  inWorld(QUICK, async (world) => {
    const id = await gpuPod(world);
    const begin = world.clock.now();
    const at = (hours: number) => begin + hours * HOUR;
    await pass(world, 6 * HOUR);
    await must(act(world, id, "stop"));
    await pass(world, 2 * HOUR, 5 * MINUTE);
    const podId = world.db.get<{ id: string }>("select id from compute_pods")!.id;
    ran(world, podId, "first", at(1), at(3));
    ran(world, podId, "overlaps", at(2), at(4));
    ran(world, podId, "inside another", at(2.5), at(3));
    ran(world, podId, "past the stop", at(5), null);
    const { rows, total } = await spend(world, "?from=2026-11&to=2027-01&group=session");
    const hours = Object.fromEntries(rows.map((row: Loose) => [row.name ?? row.key, row.running_hours]));
    near(hours.first, 2, 0.01);
    near(hours.overlaps, 1, 0.01);
    assert.equal(hours["inside another"], 0);
    near(hours["past the stop"], 1, 0.01);
    near(hours["outside sessions"], 2, 0.01);
    const sum = rows.reduce((all: number, row: Loose) => all + row.amount, 0);
    near(sum, total.amount, 0.0005);
    const outside = rows.at(-1);
    near(outside.storage_amount, 2 * 40 * 0.2 / 730, 0.0005);
    assert.deepEqual([rows[0].pod_id, rows[0].finished_at === null, rows[3].finished_at], [id, false, null]);
    const early = await spend(world, `?from=2026-11&to=${new Date(at(2)).toISOString()}&group=session`);
    near(early.rows[0].running_hours, 1, 0.01);
  }));

Deno.test("GET /spend has one row for the org, and one for each pod, the dearest first", () =>
  inWorld(QUICK, async (world) => {
    await gpuPod(world, { name: "cheap", use_cpu_only: true, volume_in_gb: 0 });
    const dear = await gpuPod(world, { name: "dear" });
    await pass(world, HOUR);
    await must(act(world, dear, "terminate"));
    const byPod = await spend(world, "?from=2026-11&to=2026-12");
    assert.deepEqual(byPod.rows.map((row: Loose) => [row.name, row.terminated]), [["dear", true], ["cheap", false]]);
    const byOrg = await spend(world, "?from=2026-11&to=2026-12&group=org");
    assert.deepEqual(byOrg.rows.map((row: Loose) => [row.key, row.name]), [["org", "Test Society"]]);
    assert.equal(byOrg.rows[0].amount, byPod.total.amount);
  }));

Deno.test("GET /spend says how many hours are left to the nearer of budget and balance", () =>
  inWorld({ ...QUICK, runpod: { balance: 10 } }, async (world) => {
    assert.equal((await spend(world)).hours_left, null, "nothing runs");
    await gpuPod(world);
    await pass(world, HOUR);
    assert.equal((await spend(world)).hours_left, null, "neither is known");
    assert.equal((await spend(world)).hours_left_until, null);
    await world.app.jobs.money.turn();
    const until = async () => (await spend(world)).hours_left_until;
    near((await spend(world)).hours_left, (10 - RATE) / RATE, 0.2);
    assert.equal(await until(), "balance");
    await setSettings(world, { monthly_budget_usd: 1 });
    near((await spend(world)).hours_left, (1 - RATE) / RATE, 0.2);
    assert.equal(await until(), "budget");
    await setSettings(world, { monthly_budget_usd: 0.1 });
    assert.equal((await spend(world)).hours_left, 0);
  }));

Deno.test("the sums of a month over many pods are one query each", () =>
  inWorld(QUICK, async (world) => {
    await gpuPod(world);
    await pass(world, DAY, HOUR);
    let queries = 0;
    const { db } = world;
    const { all, get } = db;
    db.all = (...args) => (queries++, all.apply(db, args)) as never;
    db.get = (...args) => (queries++, get.apply(db, args)) as never;
    await spend(world, "?group=session");
    const one = queries;
    Object.assign(db, { all, get });
    for (let count = 0; count < 8; count++) await gpuPod(world);
    queries = 0;
    db.all = (...args) => (queries++, all.apply(db, args)) as never;
    db.get = (...args) => (queries++, get.apply(db, args)) as never;
    await spend(world, "?group=session");
    Object.assign(db, { all, get });
    assert.equal(queries, one);
  }));
