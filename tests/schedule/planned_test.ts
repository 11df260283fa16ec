import assert from "node:assert/strict";
import { pruneSessions } from "../../db/stores/sessions.ts";
import { DAY, HOUR, isoTime, MINUTE } from "../../server/clock.ts";
import { endOfChain } from "../../server/schedule/planned.ts";
import { type ClockedWorld, inWorld, ORG } from "../pods/support.ts";
import { createRunningPod } from "../support/world.ts";
import { added, between, markFinished, markStarted } from "./session_support.ts";

/** Sessions as `[start, stop, started]` in minutes from now, and when the pod may stop. */
const CHAINS: readonly (readonly [string, readonly (readonly [number, number, number])[], number | null])[] = [
  ["there are none", [], null],
  ["none has begun", [[5, 60, 0]], null],
  ["one is open", [[-5, 60, 0]], 60],
  ["one has started before its time", [[5, 60, 1]], 60],
  ["one overlaps the next", [[-5, 60, 1], [30, 90, 0]], 90],
  ["the next begins 10 minutes after the end", [[-5, 60, 1], [70, 90, 0]], 90],
  ["the next begins 11 minutes after the end", [[-5, 60, 1], [71, 90, 0]], 60],
  ["a short one lies within a long one", [[-5, 60, 1], [10, 20, 0]], 60],
  ["a chain goes on and on", [[-5, 60, 1], [65, 90, 0], [95, 120, 0], [140, 160, 0]], 120],
  ["the stop is overdue", [[-60, -5, 1]], -5],
  ["one that never started is over", [[-60, -5, 0]], null],
  ["one is open that nobody started", [[-60, -5, 0], [-1, 30, 0]], 30],
];
for (const [when, sessions, end] of CHAINS) {
  Deno.test(`endOfChain is ${end === null ? "null" : `at minute ${end}`} when ${when}`, () => {
    const now = 1_000 * DAY;
    const rows = sessions.map(([start, stop, started]) => ({
      start_at: now + start * MINUTE,
      stop_at: now + stop * MINUTE,
      started,
    }));
    assert.equal(endOfChain(rows, now), end === null ? null : now + end * MINUTE);
  });
}

// deno-lint-ignore no-explicit-any
async function mine(world: ClockedWorld): Promise<Record<string, any>> {
  const { json } = await world.call("GET", `${ORG}/me/pods`, { as: "member" });
  return Object.fromEntries(
    json.pods.map((pod: Record<string, unknown>) => [pod.name, [pod.next_session, pod.stops_at]]),
  );
}

Deno.test("me/pods tells the next session and the planned stop of each pod", () =>
  inWorld({}, async (world) => {
    const one = await createRunningPod(world, { name: "one" });
    const two = await createRunningPod(world, { name: "two" });
    await createRunningPod(world, { name: "three" });
    const open = await added(world, one, between(world, -60, 60));
    markStarted(world, open.id);
    const next = await added(world, one, between(world, 300, 360, { title: "Workshop" }));
    await added(world, one, between(world, 600, 660));
    const done = await added(world, two, between(world, -60, 60));
    markFinished(world, done.id);
    const called = await added(world, two, between(world, 90, 100));
    markFinished(world, called.id);
    const later = await added(world, two, between(world, 120, 180));
    const shown = ({ title, start_at, stop_at }: typeof next) => ({ title, start_at, stop_at });
    assert.deepEqual(await mine(world), {
      one: [shown(next), isoTime(world.clock.now() + HOUR)],
      two: [shown(later), null],
      three: [null, null],
    });
    const elsewhere = await world.call("GET", "/api/compute/other/me/pods", { as: "otherOfficer" });
    assert.deepEqual(elsewhere.json.pods, []);
  }));

Deno.test("pruneSessions forgets what finished long ago, and nothing that is open", () =>
  inWorld({}, async (world) => {
    const pod = await createRunningPod(world);
    const old = (await added(world, pod, between(world, 0, 60))).id;
    const open = (await added(world, pod, between(world, 0, 60))).id;
    world.clock.advance(2 * HOUR);
    markFinished(world, old);
    const finishedAt = world.clock.now();
    assert.equal(pruneSessions(world.db, finishedAt), 0);
    assert.equal(pruneSessions(world.db, finishedAt + 1), 1);
    assert.deepEqual(world.db.all<{ id: number }>("select id from compute_sessions").map((row) => row.id), [open]);
  }));
