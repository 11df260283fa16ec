/** A term in which pods are started and stopped by us and by others, while RunPod is out now and then. */
import assert from "node:assert/strict";
import { HOUR, MINUTE } from "../../server/clock.ts";
import { act, type ClockedWorld, gpuPod, inWorld, look, meterOf, near, QUICK, spend } from "./support.ts";

/** Random numbers from 0 to 1 that a seed repeats (mulberry32). */
function randomOf(seed: number): () => number {
  return () => {
    seed = seed + 0x6d2b79f5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4_294_967_296;
  };
}

/** One thing that somebody does to a pod, here or in RunPod's console; what is not legal now is refused. */
async function something(world: ClockedWorld, id: string, random: () => number): Promise<void> {
  const { pods } = world.runpod;
  const inside = pods.list().find((pod) => pod.id === id);
  if (inside === undefined) return;
  const isUp = inside.phase === "up";
  const dice = random();
  if (dice < 0.35) await act(world, id, isUp ? "stop" : "start");
  else if (dice < 0.45) await act(world, id, "restart");
  else if (dice < 0.65) isUp ? pods.stop(id) : pods.start(id);
  else if (dice < 0.72 && isUp) pods.restart(id);
  else if (dice < 0.74) pods.deleteOutside(id);
}

/** Runs `hours` of a term. */
async function term(
  world: ClockedWorld,
  ids: readonly string[],
  hours: number,
  random: () => number,
  outages: boolean,
) {
  const until = world.clock.now() + hours * HOUR;
  while (world.clock.now() < until) {
    if (outages && random() < 0.01) {
      world.runpod.faults.on({ fault: "F34", variant: "refused-like" });
      const ends = world.clock.now() + random() * 6 * HOUR;
      while (world.clock.now() < ends) {
        world.clock.advance(20 * MINUTE);
        if (random() < 0.2) {
          const id = ids[Math.floor(random() * ids.length)]!;
          // What people do in the console goes on during an outage of the API.
          const inside = world.runpod.pods.list().find((pod) => pod.id === id);
          if (inside?.phase === "up") world.runpod.pods.stop(id);
          else if (inside !== undefined) world.runpod.pods.start(id);
        }
      }
      world.runpod.faults.clear();
    }
    world.clock.advance(MINUTE + Math.floor(random() * MINUTE));
    await look(world);
    if (random() < 0.1) await something(world, ids[Math.floor(random() * ids.length)]!, random);
  }
  world.clock.advance(1_500);
  await look(world);
}

for (const [seed, outages] of [[1, false], [3, true], [6, true]] as const) {
  Deno.test(`meterReading agrees with RunPod's meter over a term with${outages ? "" : "out"} outages (seed ${seed})`, () =>
    inWorld(QUICK, async (world) => {
      const random = randomOf(seed);
      const ids = [
        await gpuPod(world, { name: "a" }),
        await gpuPod(world, { name: "b", volume_in_gb: 0 }),
        await gpuPod(world, { name: "c", use_cpu_only: true }),
        await gpuPod(world, { name: "d", volume_in_gb: 500 }),
      ];
      await term(world, ids, 40, random, outages);
      const { rows, total } = await spend(world, "?from=2026-11&to=2027-01");
      const meter = await meterOf(world);
      assert.equal(rows.length, ids.length);
      let billed = 0;
      for (const row of rows) {
        const { total } = meter.get(row.pod_id)!;
        billed += total;
        near(row, total, `seed ${seed}, pod ${row.name}`);
      }
      near(total, billed, `seed ${seed}, all`);
      assert.ok(total.amount > 5, `only ${total.amount} USD were spent`);
      // Others move pods between two looks, so some seconds are always unseen; hours only in outages.
      const most = outages ? 0.6 : 0.02;
      assert.ok(total.unsure < total.amount * most, `${total.unsure} of ${total.amount} USD are unsure`);
    }));
}
