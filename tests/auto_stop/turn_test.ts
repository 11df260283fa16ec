import assert from "node:assert/strict";
import { storeAutoStopFailure } from "../../db/stores/activity.ts";
import { type AutoStopDeps, createAutoStop } from "../../server/auto_stop/turn.ts";
import { DAY, HOUR, MINUTE } from "../../server/clock.ts";
import { createActions } from "../../server/pods/act.ts";
import { act, type ClockedWorld, inWorld, ORG, partsOf, requests } from "../pods/support.ts";
import { createRunningPod } from "../support/world.ts";
import { eventsOf, listNow, pass, storedPod } from "./support.ts";

/** The job over the world's database and stand-ins, with parts that a test can set. */
function jobOf(world: ClockedWorld, change: Partial<AutoStopDeps> = {}) {
  const parts = partsOf(world);
  return createAutoStop({
    ...parts,
    actions: createActions(parts),
    isPaused: () => null,
    budgetReached: () => false,
    ...change,
  });
}

const stops = (world: ClockedWorld) =>
  requests(world, "POST", /\/action$/).filter((one) => (one.body as { action?: string }).action === "stop").length;

async function limit(world: ClockedWorld, id: string, hours: number): Promise<void> {
  const body = { max_run_hours: hours };
  const answer = await world.call("PUT", `${ORG}/pods/${id}`, { as: "officer", body });
  assert.equal(answer.status, 200, answer.text);
}

function addSession(world: ClockedWorld, startAt: number, stopAt: number, finished = 0): void {
  world.db.run(
    "insert into compute_sessions (org_id, pod_id, start_at, stop_at, started, finished, created_at) " +
      "values (1, ?, ?, ?, 1, ?, 0)",
    storedPod(world).id,
    startAt,
    stopAt,
    finished,
  );
}

Deno.test("the turn stops a pod that has run for as long as one run may last, says who did it, and only once", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world, { name: "lab" });
    await limit(world, id, 2);
    const job = jobOf(world);
    await pass(world, 2 * HOUR - 5 * MINUTE, 20 * MINUTE);
    await job.turn();
    assert.equal(stops(world), 0);
    await pass(world, 5 * MINUTE);
    await Promise.all([job.turn(), job.turn()]);
    await job.turn();
    assert.deepEqual([stops(world), world.runpod.pods.get(id).phase], [1, "exited"]);
    const [stopped] = eventsOf(world, "pod.stopped");
    assert.equal(stopped?.actor, "the limit on hours of one run");
    const row = world.db.get("select actor_kind, actor_id, outcome from audit_log where action = 'auto_stop'");
    assert.deepEqual({ ...row }, { actor_kind: "server", actor_id: "max_run", outcome: "ok" });
    assert.equal((await act(world, id, "start")).status, 200);
    await pass(world, HOUR, 20 * MINUTE);
    await job.turn();
    assert.equal(stops(world), 1, "a new run counts anew");
  }));

Deno.test("the turn leaves a pod alone in a session, while an officer keeps it, and while the server is paused", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    await limit(world, id, 1);
    let paused: string | null = "The clock is wrong";
    const job = jobOf(world, { isPaused: () => paused });
    await pass(world, 90 * MINUTE, 10 * MINUTE);
    await job.turn();
    assert.equal(stops(world), 0, "paused");
    paused = null;
    const now = world.clock.now();
    addSession(world, now - HOUR, now + 5 * MINUTE);
    await job.turn();
    assert.equal(stops(world), 0, "in a session");
    await pass(world, 6 * MINUTE);
    const kept = await world.call("POST", `${ORG}/pods/${id}/keep`, { as: "officer", body: { minutes: 8 } });
    assert.equal(kept.status, 200, kept.text);
    await job.turn();
    assert.equal(stops(world), 0, "kept");
    await pass(world, 8 * MINUTE);
    await job.turn();
    assert.equal(stops(world), 1);
  }));

Deno.test("the turn does not act on what RunPod said long ago", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    await limit(world, id, 1);
    world.clock.advance(5 * HOUR);
    const job = jobOf(world);
    await job.turn();
    assert.equal(stops(world), 0);
    await listNow(world);
    await job.turn();
    assert.equal(stops(world), 1);
  }));

Deno.test("the turn stops every pod at the budget only where the org wants that", () =>
  inWorld({}, async (world) => {
    await createRunningPod(world);
    const job = jobOf(world, { budgetReached: () => true });
    await job.turn();
    assert.equal(stops(world), 0);
    world.db.run("update organizations set settings = ? where id = 1", JSON.stringify({ stop_at_budget: true }));
    await job.turn();
    assert.equal(stops(world), 1);
    assert.equal(eventsOf(world, "pod.stopped")[0]?.actor, "the budget");
  }));

Deno.test("a stop that was decided is decided again when its turn at the pod comes", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    await limit(world, id, 1);
    await pass(world, HOUR + MINUTE, 10 * MINUTE);
    const parts = partsOf(world);
    const actions = createActions(parts);
    const job = jobOf(world, { ...parts, actions });
    const before = Promise.withResolvers<void>();
    const held = actions.exclusive(storedPod(world).id, async () => await before.promise);
    const turn = job.turn();
    await limit(world, id, 9);
    before.resolve();
    await Promise.all([held, turn]);
    assert.equal(stops(world), 0);
    assert.equal(storedPod(world).auto_stop_failing_since, null);
  }));

Deno.test("one slow pod delays neither the stop of another nor the next turn", () =>
  inWorld({}, async (world) => {
    const slow = await createRunningPod(world, { name: "slow" });
    const quick = await createRunningPod(world, { name: "quick" });
    for (const id of [slow, quick]) await limit(world, id, 1);
    await pass(world, HOUR + MINUTE, 10 * MINUTE);
    const parts = partsOf(world);
    const actions = createActions(parts);
    const slowRow = world.db.get<{ id: string }>("select id from compute_pods where runpod_id = ?", slow)!;
    const before = Promise.withResolvers<void>();
    const held = actions.exclusive(slowRow.id, async () => await before.promise);
    const job = jobOf(world, { ...parts, actions });
    const first = job.turn();
    await job.turn();
    while (world.runpod.pods.get(quick).phase === "up") await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual([world.runpod.pods.get(slow).phase, stops(world)], ["up", 1]);
    before.resolve();
    await Promise.all([held, first]);
    await job.idle();
    assert.deepEqual([world.runpod.pods.get(slow).phase, stops(world)], ["exited", 2]);
  }));

Deno.test("a stop that RunPod refuses is tried again ever more rarely, and given up after a day with one event", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world, { name: "lab" });
    await limit(world, id, 1);
    await pass(world, HOUR, 10 * MINUTE);
    world.runpod.faults.on({ fault: "F1", variant: "403", on: "POST /pods/{id}/action" });
    const job = jobOf(world);
    const tries: number[] = [];
    const start = world.clock.now();
    for (let minute = 0; minute < 26 * 60; minute++) {
      const before = stops(world);
      await job.turn();
      if (stops(world) > before) tries.push(Math.round((world.clock.now() - start) / MINUTE));
      // RunPod's list is stored; the test does not need the whole request for that.
      world.clock.advance(MINUTE);
      world.db.run("update compute_pods set as_of = ?", world.clock.now());
    }
    assert.deepEqual(tries.slice(0, 8), [0, 1, 3, 7, 15, 31, 63, 123]);
    assert.ok((tries.at(-1) ?? 0) >= 24 * 60 && (tries.at(-1) ?? 0) <= 25 * 60, `the last try was at ${tries.at(-1)}`);
    const failed = eventsOf(world, "pod.failed").filter((event) => event.details.did === "not stopped");
    assert.equal(failed.length, 1);
    assert.match(String(failed[0]?.details.why), /may still cost money/);
    assert.deepEqual(storedPod(world).auto_stop_next_at, null);
    assert.match(storedPod(world).auto_stop_error ?? "", /RunPod/);
    world.runpod.faults.clear();
    world.runpod.pods.stop(id);
    await listNow(world);
    await job.turn();
    assert.equal(storedPod(world).auto_stop_failing_since, null, "the pod is down");
  }));

Deno.test("a failure is forgotten by a success and when the pod need not stop any more", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    await limit(world, id, 1);
    await pass(world, HOUR, 10 * MINUTE);
    world.runpod.faults.on({ fault: "F1", variant: "403", on: "POST /pods/{id}/action", times: 1 });
    const job = jobOf(world);
    await job.turn();
    const { auto_stop_failing_since, auto_stop_error } = storedPod(world);
    assert.equal(auto_stop_failing_since, world.clock.now());
    assert.notEqual(auto_stop_error, null);
    await limit(world, id, 9);
    await job.turn();
    assert.equal(storedPod(world).auto_stop_failing_since, null, "it may run on");
    await limit(world, id, 1);
    storeAutoStopFailure(world.db, storedPod(world).id, { since: world.clock.now(), nextAt: 0, error: "x" });
    await job.turn();
    assert.deepEqual([storedPod(world).auto_stop_failing_since, stops(world)], [null, 2]);
  }));

Deno.test("a pod that runs for 24 hours outside every session raises one event in each run", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world, { name: "lab" });
    await limit(world, id, 0);
    const job = jobOf(world);
    const turnAfter = async (ms: number) => {
      world.clock.advance(ms);
      await listNow(world);
      await job.turn();
      return eventsOf(world, "pod.forgotten").length;
    };
    const now = world.clock.now();
    addSession(world, now + HOUR, now + 3 * HOUR, 1);
    assert.equal(await turnAfter(DAY), 0);
    assert.equal(await turnAfter(2 * HOUR), 0, "the lead is inside too");
    assert.equal(await turnAfter(10 * MINUTE), 1);
    assert.equal(await turnAfter(5 * HOUR), 1);
    const [event] = eventsOf(world, "pod.forgotten");
    assert.equal(event?.details.hours_outside_sessions, 24);
    await act(world, id, "stop");
    world.clock.advance(HOUR);
    await act(world, id, "start");
    assert.equal(await turnAfter(DAY - MINUTE), 1);
    assert.equal(await turnAfter(2 * MINUTE), 2);
  }));

Deno.test("a pod that is still starting is told of as forgotten too", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    await limit(world, id, 0);
    world.runpod.pods.setStatus(id, "STARTING");
    world.clock.advance(DAY);
    await listNow(world);
    await jobOf(world).turn();
    assert.deepEqual([storedPod(world).status, eventsOf(world, "pod.forgotten").length], ["STARTING", 1]);
  }));

Deno.test("an idle stop needs a look at the pod right before it", () =>
  inWorld({}, async (world) => {
    await createRunningPod(world);
    world.db.run("update organizations set settings = ? where id = 1", JSON.stringify({ auto_stop_after_minutes: 5 }));
    await pass(world, 20 * MINUTE);
    world.db.run("update compute_pods set presence_at = ?, presence_since = 0", world.clock.now() - MINUTE);
    await jobOf(world).turn();
    // Nobody listens at the address the stand-in made up, so nobody knows who is on.
    assert.equal(stops(world), 0);
    assert.equal(storedPod(world).presence_error, "Could not connect to the pod");
  }));
