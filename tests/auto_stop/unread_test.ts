import assert from "node:assert/strict";
import { DAY, HOUR, MINUTE } from "../../server/clock.ts";
import { notePresence } from "../../server/presence/note.ts";
import type { Presence } from "../../server/presence/read.ts";
import { act, type ClockedWorld, inWorld, ORG } from "../pods/support.ts";
import { createRunningPod } from "../support/world.ts";
import { eventsOf, listNow, storedPod } from "./support.ts";

const FAILED: Presence = { state: "unknown", reason: "The command on the pod failed", isReached: true };
const NOBODY: Presence = { state: "known", sessions: [], connections: 0, certificates: [], terminals: [] };

/** A pod that is stopped when it is idle and answers by SSH. */
async function watchedPod(world: ClockedWorld): Promise<string> {
  const id = await createRunningPod(world);
  const body = { auto_stop_after_minutes: 30, max_run_hours: 0 };
  assert.equal((await world.call("PUT", `${ORG}/pods/${id}`, { as: "officer", body })).status, 200);
  reach(world);
  return id;
}

function reach(world: ClockedWorld): void {
  world.db.run("update compute_pods set reachable_start = start_key, unreachable_reason = null");
}

const told = (world: ClockedWorld) =>
  eventsOf(world, "pod.failed").filter((event) => /^Who is on the pod/.test(String(event.details.error)));

/** Time passes, who is on is read with that outcome, and the turn is made; how many events there are then. */
async function after(world: ClockedWorld, ms: number, presence: Presence): Promise<number> {
  world.clock.advance(ms);
  await listNow(world);
  notePresence(world.db, storedPod(world).id, presence, world.clock.now());
  await world.app.jobs.autoStop.stops.turn();
  return told(world).length;
}

Deno.test("a pod that keeps the server from reading who is on it for an hour is told of, once in each run", () =>
  inWorld({}, async (world) => {
    const id = await watchedPod(world);
    assert.equal(await after(world, MINUTE, FAILED), 0);
    assert.equal(await after(world, 55 * MINUTE, FAILED), 0);
    assert.equal(await after(world, MINUTE, NOBODY), 0);
    assert.equal(await after(world, MINUTE, FAILED), 0);
    assert.equal(await after(world, 55 * MINUTE, FAILED), 0, "the hour begins anew after a read that worked");
    assert.equal(await after(world, 5 * MINUTE, FAILED), 1);
    assert.equal(await after(world, 5 * HOUR, FAILED), 1);
    const [event] = told(world);
    assert.equal(event?.details.error, "Who is on the pod cannot be read: The command on the pod failed");
    assert.match(String(event?.details.why), /so it is not stopped when it is idle/);
    await act(world, id, "stop");
    world.clock.advance(DAY);
    await act(world, id, "start");
    await listNow(world);
    reach(world);
    assert.equal(await after(world, 50 * MINUTE, FAILED), 1, "the failures of the run before do not count");
    assert.equal(await after(world, 15 * MINUTE, FAILED), 2);
  }));

Deno.test("a pod that cannot be reached, or that no idle rule watches, is not told of as unread", () =>
  inWorld({}, async (world) => {
    const id = await watchedPod(world);
    await after(world, MINUTE, FAILED);
    world.db.run("update compute_pods set unreachable_reason = 'Nobody listens'");
    assert.equal(await after(world, 2 * HOUR, FAILED), 0);
    reach(world);
    const put = (minutes: number) =>
      world.call("PUT", `${ORG}/pods/${id}`, { as: "officer", body: { auto_stop_after_minutes: minutes } });
    await put(0);
    assert.equal(await after(world, MINUTE, FAILED), 0);
    await put(30);
    assert.equal(await after(world, MINUTE, FAILED), 1);
  }));

Deno.test("a time of the first failure that lies ahead of the clock is put right", () =>
  inWorld({}, async (world) => {
    await watchedPod(world);
    const row = storedPod(world);
    notePresence(world.db, row.id, FAILED, world.clock.now() + DAY);
    notePresence(world.db, row.id, FAILED, world.clock.now());
    assert.equal(storedPod(world).presence_failing_since, world.clock.now());
    await Promise.resolve();
  }));
