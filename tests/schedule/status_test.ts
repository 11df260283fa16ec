import assert from "node:assert/strict";
import { inWorld } from "../pods/support.ts";
import { eventually, type World } from "../support/world.ts";

const statusOf = async (world: World, org: string) =>
  (await world.call("GET", `/api/compute/${org}/schedule`, { as: "operator" })).json;

const untilTurn = (world: World, org: string) =>
  eventually(async () => (await statusOf(world, org)).last_run, `the org ${org} has a turn`);

Deno.test("the schedule looks at once at the start, and says whether it runs at all", async () => {
  await inWorld({}, async (world) => {
    assert.deepEqual(await statusOf(world, "org"), { running: false, paused: null, last_run: null });
    world.app.run();
    const run = await untilTurn(world, "org");
    assert.deepEqual([run.ok, run.started, run.stopped, run.failed], [true, [], [], []]);
    assert.equal((await statusOf(world, "org")).running, true);
  });
});

Deno.test("the schedule looks at once at an org that is added while it runs, also without a key", async () => {
  await inWorld({}, async (world) => {
    world.app.run();
    await untilTurn(world, "org");
    const body = { prefix: "late", name: "Late", guild_id: "900000000000000777", force: true };
    const added = await world.call("POST", "/api/operator/orgs", { as: "operator", body });
    assert.equal(added.status, 201, added.text);
    await untilTurn(world, "late");
  });
});

Deno.test("resume says whether anything was paused", async () => {
  await inWorld({}, async (world) => {
    const resume = async () => (await world.call("POST", "/api/operator/schedule/resume", { as: "operator" })).json;
    assert.deepEqual(await resume(), { was_paused: null, paused: null });
    world.db.run("insert into meta (key, value) values ('paused', 'A second server works on a copy')");
    assert.deepEqual(await resume(), { was_paused: "A second server works on a copy", paused: null });
  });
});
