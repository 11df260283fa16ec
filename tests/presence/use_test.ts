import assert from "node:assert/strict";
import type { PodRow } from "../../db/stores/pods.ts";
import { MINUTE } from "../../server/clock.ts";
import { settingsOf } from "../../server/identity/org_settings.ts";
import { notePresence } from "../../server/presence/note.ts";
import { noteUse } from "../../server/presence/use.ts";
import { type ClockedWorld, create, inWorld, ORG, runpodPod } from "../pods/support.ts";
import { createRunningPod } from "../support/world.ts";

const SETTINGS = settingsOf({ settings: "{}" });
const stored = (world: ClockedWorld): PodRow => world.db.get<PodRow>("select * from compute_pods")!;

async function listAfter(world: ClockedWorld, ms: number): Promise<PodRow> {
  world.clock.advance(ms);
  await world.call("GET", `${ORG}/pods`, { as: "officer" });
  return stored(world);
}

Deno.test("each list stores how busy RunPod says a pod is; at a threshold it counts as in use", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world, { use_cpu_only: false });
    const quiet = await listAfter(world, 2_000);
    assert.deepEqual([quiet.gpu_percent, quiet.cpu_percent, quiet.active_at], [3, 2, null]);
    const since = quiet.use_since;
    world.runpod.pods.setUse(id, { gpu_util: 5 });
    const busy = await listAfter(world, MINUTE);
    assert.deepEqual([busy.use_at, busy.active_at], [world.clock.now(), world.clock.now()]);
    assert.equal(busy.active_why, "its GPU was at 5 %");
    world.runpod.pods.setUse(id, { gpu_util: 4.9, cpu_util: 99 });
    assert.equal((await listAfter(world, MINUTE)).active_why, "its CPU was at 99 %");
    world.runpod.pods.setUse(id, { cpu_util: 9.9 });
    const after = await listAfter(world, MINUTE);
    assert.deepEqual([after.active_at, after.use_since], [world.clock.now() - MINUTE, since]);
  }));

Deno.test("lists alone never make a pod count as in use, however often it is looked at", () =>
  inWorld({}, async (world) => {
    await createRunningPod(world, { use_cpu_only: false });
    for (let look = 0; look < 10; look++) {
      await listAfter(world, MINUTE);
      await world.call("GET", `${ORG}/pods/${stored(world).runpod_id}`, { as: "officer" });
    }
    assert.equal(stored(world).active_at, null);
  }));

Deno.test("a report without the GPU of a GPU pod, or without the CPU, is none, and after a gap the time counts anew", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world, { use_cpu_only: false });
    const first = await listAfter(world, 2_000);
    for (const nonsense of [{ gpu_util: null }, { gpu_util: 101 }, { gpu_util: -1 }]) {
      world.runpod.pods.setUse(id, nonsense);
      assert.equal((await listAfter(world, MINUTE)).use_at, first.use_at, JSON.stringify(nonsense));
    }
    world.runpod.pods.setUse(id, { gpu_util: 1, cpu_util: null });
    assert.equal((await listAfter(world, 4 * MINUTE)).use_at, first.use_at);
    world.runpod.pods.setUse(id, { cpu_util: 1 });
    const soon = await listAfter(world, 2 * MINUTE);
    assert.deepEqual([soon.use_at, soon.use_since], [world.clock.now(), first.use_since]);
    const late = await listAfter(world, 10 * MINUTE + 1);
    assert.deepEqual([late.use_at, late.use_since], [world.clock.now(), world.clock.now()]);
  }));

Deno.test("a CPU pod needs no figure of a GPU", () =>
  inWorld({}, async (world) => {
    await create(world);
    const now = world.clock.now();
    const answer = runpodPod({ gpuPercent: null, cpuPercent: 1 });
    noteUse(world.db, stored(world), answer, now, SETTINGS);
    assert.equal(stored(world).use_at, now);
    noteUse(world.db, stored(world), { ...answer, gpu: { id: "x", count: 1 } }, now + 1, SETTINGS);
    noteUse(world.db, stored(world), { ...answer, status: "EXITED" }, now + 1, SETTINGS);
    assert.equal(stored(world).use_at, now);
  }));

Deno.test("notePresence keeps who was on, since when that is known, and why it is not", () =>
  inWorld({}, async (world) => {
    await create(world);
    const { id } = stored(world);
    const nobody = { state: "known" as const, sessions: [], connections: 0, certificates: [], terminals: [] };
    const session = (username: string) => ({ username, isAdmin: false, seconds: 9 });
    const at = (minute: number) => 1_000_000 + minute * MINUTE;
    const noted = (minute: number, presence: Parameters<typeof notePresence>[2]) => {
      notePresence(world.db, id, presence, at(minute));
      const { presence_at, presence_since, presence_error, active_at, active_why } = stored(world);
      return { presence_at, presence_since, presence_error, active_at, active_why };
    };
    const calm = { presence_error: null, active_at: null, active_why: null };
    assert.deepEqual(noted(0, nobody), { presence_at: at(0), presence_since: at(0), ...calm });
    assert.deepEqual(noted(12, nobody), { presence_at: at(12), presence_since: at(0), ...calm });
    const lost = noted(20, { state: "unknown", reason: "Could not connect to the pod", isReached: false });
    assert.deepEqual([lost.presence_at, lost.presence_error], [at(12), "Could not connect to the pod"]);
    assert.deepEqual(noted(25, nobody), { presence_at: at(25), presence_since: at(25), ...calm });
    const why = (minute: number, names: string[], connections: number) => {
      const { active_at, active_why } = noted(minute, { ...nobody, sessions: names.map(session), connections });
      assert.equal(active_at, at(minute));
      return active_why;
    };
    assert.equal(why(26, ["bob", "bob"], 2), "bob was on it");
    assert.equal(why(27, ["a", "b", "c", "d", "e"], 5), "a, b, c and 2 more were on it");
    assert.equal(why(28, [], 1), "an SSH connection was open");
    assert.equal(noted(29, nobody).active_at, at(28));
    assert.equal(noted(20, nobody).active_at, at(20), "a time ahead of the clock is not kept");
  }));
