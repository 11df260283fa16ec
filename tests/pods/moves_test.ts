import assert from "node:assert/strict";
import { MINUTE, SECOND } from "../../server/clock.ts";
import { isDown, isUp, type Move, moveOf, upSince } from "../../server/pods/moves.ts";
import { createRunningPod, eventually } from "../support/world.ts";
import { events } from "../schedule/support.ts";
import { act, attention, type ClockedWorld, inWorld, listed, refused, requests } from "./support.ts";

const before = (status: string | null, startKey: string | null = null) => ({
  status,
  start_key: startKey,
  as_of: 1_000,
  up_since: null,
});
const after = (status: string, startKey: string | null = null) => ({ status, startKey, startedAt: null });

Deno.test("isUp and isDown take a word nobody knows for neither", () => {
  const words = ["PROVISIONING", "STARTING", "RUNNING", "EXITED", "ERROR", "TERMINATED", "GONE", "REBALANCING", null];
  assert.deepEqual(words.filter(isUp), ["PROVISIONING", "STARTING", "RUNNING"]);
  assert.deepEqual(words.filter(isDown), ["EXITED", "ERROR", "TERMINATED", "GONE"]);
});

Deno.test("moveOf tells what happened between two looks, or that it cannot be told", () => {
  const table: [ReturnType<typeof before>, ReturnType<typeof after>, Move | null][] = [
    [before(null), after("RUNNING", "1/1"), null],
    [before("EXITED"), after("EXITED"), null],
    [before("EXITED"), after("PROVISIONING"), "started"],
    [before("EXITED"), after("STARTING"), "started"],
    [before("EXITED", "1/1"), after("RUNNING", "2/2"), "started"],
    [before("ERROR"), after("RUNNING", "1/1"), "started"],
    [before("GONE"), after("RUNNING", "1/1"), "started"],
    [before("RUNNING", "1/1"), after("EXITED"), "stopped"],
    [before("STARTING"), after("EXITED"), "stopped"],
    [before("PROVISIONING"), after("ERROR"), "stopped"],
    [before("RUNNING", "1/1"), after("TERMINATED"), "stopped"],
    [before("STARTING"), after("RUNNING", "1/1"), null],
    [before("PROVISIONING"), after("STARTING"), null],
    [before("RUNNING", "1/1"), after("RUNNING", "1/1"), null],
    [before("RUNNING", "1/1"), after("RUNNING", "2/2"), "restarted"],
    // A start that one of the looks does not name cannot be compared.
    [before("RUNNING", null), after("RUNNING", "2/2"), null],
    [before("RUNNING", "1/1"), after("RUNNING", null), null],
    // Neither up nor down: nothing is concluded, in both directions.
    [before("RUNNING", "1/1"), after("REBALANCING"), null],
    [before("REBALANCING"), after("EXITED"), null],
    [before("REBALANCING"), after("RUNNING", "1/1"), null],
  ];
  for (const [from, to, move] of table) assert.equal(moveOf(from, to), move, JSON.stringify([from, to]));
});

Deno.test("upSince tells since when a pod is up without a break", () => {
  type Before = { status: string; start_key: string | null; as_of: number | null; up_since: number | null };
  const was = (status: string, up_since: number | null, start_key: string | null = null, as_of: number | null = 100) =>
    ({ status, start_key, as_of, up_since }) satisfies Before;
  const table: [string, Before, string, string | null, number | null, number | null][] = [
    // what, before, status, start key, startedAt, expected at 200
    ["is down", was("RUNNING", 50), "EXITED", null, 60, null],
    ["is of a state nobody knows", was("RUNNING", 50), "REBALANCING", null, 60, 50],
    ["was not up and says when it started", was("EXITED", null), "RUNNING", "150/1", 150, 150],
    ["was not up and does not say", was("EXITED", null), "STARTING", null, null, 200],
    ["names a start in the future", was("EXITED", null), "RUNNING", "900/1", 900, 200],
    ["goes on", was("RUNNING", 50, "50/1"), "RUNNING", "50/1", 50, 50],
    ["was restarted since the last look", was("RUNNING", 50, "50/1"), "RUNNING", "150/2", 150, 50],
    ["was restarted and does not say when", was("RUNNING", 50, "50/1"), "RUNNING", "x/2", null, 50],
    ["gets to RUNNING", was("STARTING", 50), "RUNNING", "90/1", 90, 50],
  ];
  for (const [what, from, status, startKey, startedAt, expected] of table) {
    assert.equal(upSince(from, { status, startKey, startedAt }, 200), expected, `a pod that ${what}`);
  }
});

interface External {
  readonly outcome: string;
  readonly action: string;
  readonly pod_id: string;
  readonly source: string;
}

const externals = (world: ClockedWorld) =>
  world.db.all<External>("select * from audit_log where actor_kind = 'external' order by id");

const why = (world: ClockedWorld) =>
  world.db.get<{ status_why: string }>("select status_why from compute_pods")!.status_why;

async function looks(world: ClockedWorld, times: number, stepMs = 70_000): Promise<void> {
  for (let look = 0; look < times; look++) {
    world.clock.advance(stepMs);
    await listed(world);
    await world.app.jobs.settle();
  }
}

/** A pod that was made, and stopped where wanted, so long ago that nothing of it can be meant by what comes. */
async function oldPod(world: ClockedWorld, isStopped = false): Promise<string> {
  const id = await createRunningPod(world);
  if (isStopped) assert.equal((await act(world, id, "stop")).status, 200);
  await looks(world, 3, 4 * MINUTE);
  world.db.run("delete from events");
  world.db.run("delete from audit_log where outcome = 'unreachable'");
  return id;
}

const OUTSIDE = [
  { what: "stopped", isStopped: false, event: "pod.stopped", why: /^Stopped outside orgpods/ },
  { what: "started", isStopped: true, event: "pod.started", why: /^Started outside orgpods/ },
  { what: "restarted", isStopped: false, event: "pod.started", why: /^Restarted outside orgpods/ },
  { what: "deleted", isStopped: false, event: "pod.failed", why: /^Deleted or moved outside orgpods/ },
  { what: "migrated", isStopped: false, event: "pod.failed", why: /^Deleted or moved outside orgpods/ },
] as const;

for (const one of OUTSIDE) {
  Deno.test(`a pod that is ${one.what} outside is audited as external once, told once, and says why`, async () => {
    await inWorld({}, async (world) => {
      const id = await oldPod(world, one.isStopped);
      const { pods } = world.runpod;
      if (one.what === "stopped") pods.stop(id);
      if (one.what === "started") pods.start(id);
      if (one.what === "restarted") pods.restart(id);
      if (one.what === "deleted") pods.deleteOutside(id);
      const moved = one.what === "migrated" ? pods.migrate(id) : null;
      await looks(world, 4);
      const outcome = moved !== null || one.what === "deleted" ? "gone" : one.what;
      assert.deepEqual(
        externals(world).map((row) => [row.outcome, row.action, row.pod_id, row.source]),
        [[outcome, "RECONCILE", id, "job"]],
      );
      // A pod that was moved is told twice: the old one is gone, and there is one that nobody knows.
      assert.deepEqual(events(world), moved === null ? [one.event] : [one.event, one.event]);
      assert.match(why(world), one.why);
      const entries = (await attention(world)).filter((entry) => entry.kind !== "unreachable");
      assert.deepEqual(
        entries.map((entry) => [entry.kind, entry.pod_id]).sort(),
        moved !== null ? [["gone", id], ["orphan", moved.id]] : one.what === "deleted" ? [["gone", id]] : [],
      );
    });
  });
}

for (const action of ["start", "stop", "restart", "terminate"]) {
  Deno.test(`a ${action} of ours is ours, and told once`, async () => {
    await inWorld({}, async (world) => {
      const id = await oldPod(world, action === "start");
      assert.equal((await act(world, id, action)).status, 200);
      await looks(world, 6);
      assert.deepEqual(externals(world), []);
      assert.deepEqual(events(world), [action === "start" || action === "restart" ? "pod.started" : "pod.stopped"]);
      assert.match(why(world), /^(Started|Stopped|Restarted|Terminated) by officer$/);
    });
  });
}

for (const action of ["start", "stop"]) {
  Deno.test(`a ${action} of ours that RunPod shows minutes after it said yes is ours`, async () => {
    await inWorld({}, async (world) => {
      const id = await oldPod(world, action === "start");
      world.runpod.faults.on({ fault: "F29", variant: "200-but-not-yet", action, ms: 4 * MINUTE });
      assert.equal((await act(world, id, action)).status, 200);
      await looks(world, 2, MINUTE);
      assert.equal(world.runpod.pods.get(id).phase, action === "start" ? "exited" : "up", "not yet");
      await looks(world, 6, MINUTE);
      assert.equal(world.runpod.pods.get(id).phase, action === "start" ? "up" : "exited");
      assert.deepEqual(externals(world), []);
      assert.equal(events(world).length, 1);
    });
  });

  Deno.test(`a ${action} of ours whose answer is lost is ours, also when it shows before it is settled`, async () => {
    await inWorld({ runpodLimits: { attempts: 1 } }, async (world) => {
      const id = await oldPod(world, action === "start");
      world.runpod.faults.on({ fault: "F29", variant: "500-but-done", action });
      world.runpod.faults.on({ fault: "F34", variant: "refused-like", on: "GET /pods/{id}" });
      refused(await act(world, id, action), 424, "runpod_unavailable");
      // The list shows it; the settler cannot read the pod yet.
      await looks(world, 2, 5 * SECOND);
      const { status } = world.db.get<{ status: string }>("select status from compute_pods")!;
      assert.equal(status, action === "start" ? "RUNNING" : "EXITED");
      world.runpod.faults.clear();
      await looks(world, 4);
      assert.deepEqual(externals(world), []);
      assert.deepEqual(events(world), [action === "start" ? "pod.started" : "pod.stopped"]);
    });
  });
}

Deno.test("what somebody does long after an action of ours is theirs", async () => {
  await inWorld({}, async (world) => {
    const id = await oldPod(world);
    assert.equal((await act(world, id, "restart")).status, 200);
    await looks(world, 7, 2 * MINUTE);
    world.runpod.pods.stop(id);
    await looks(world, 1);
    assert.deepEqual(externals(world).map((row) => row.outcome), ["stopped"]);
    assert.deepEqual(events(world), ["pod.started", "pod.stopped"]);
  });
});

Deno.test("an action that RunPod refused does not hide what somebody else does", async () => {
  await inWorld({}, async (world) => {
    const id = await oldPod(world);
    world.runpod.faults.on({ fault: "F24", action: "restart", times: 1 });
    refused(await act(world, id, "restart"), 400, "runpod_refused");
    world.runpod.pods.stop(id);
    await looks(world, 2, MINUTE);
    assert.deepEqual(externals(world).map((row) => row.outcome), ["stopped"]);
  });
});

Deno.test("a list that was asked for before our action and comes after it changes nothing", async () => {
  await inWorld({}, async (world) => {
    const id = await oldPod(world);
    world.clock.advance(5_000);
    world.runpod.faults.on({ fault: "F34", variant: "slow", on: "GET /pods", ms: 100, times: 1 });
    const lists = requests(world, "GET", "/pods").length;
    const late = listed(world);
    await eventually(() => requests(world, "GET", "/pods").length > lists, "the list is on its way");
    world.clock.advance(1_000);
    assert.equal((await act(world, id, "stop")).status, 200);
    await late;
    const { status } = world.db.get<{ status: string }>("select status from compute_pods")!;
    assert.equal(status, "EXITED");
    await looks(world, 2);
    assert.deepEqual(externals(world), []);
    assert.deepEqual(events(world), ["pod.stopped"]);
  });
});
