import assert from "node:assert/strict";
import { MINUTE } from "../../server/clock.ts";
import { inWorld, refreshed } from "../pods/support.ts";
import { rotated, rotation, stoppedPod, turn } from "./support.ts";

Deno.test("a pod that RunPod does not show for some minutes holds the end of a rotation up, and one that is gone for good does not", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedPod(world);
    await rotated(world, "backend");
    world.runpod.pods.deleteOutside(id);
    world.clock.advance(3 * MINUTE);
    for (let turns = 0; turns < 2; turns++) await refreshed(world);
    const statusOf = () =>
      world.db.get<{ status: string }>("select status from compute_pods where runpod_id = ?", id)?.status;
    assert.equal(statusOf(), "GONE");
    await turn(world);
    assert.equal((await rotation(world, "backend")).finished_at, null, "it may come back with the old key");
    await turn(world, 20 * MINUTE);
    assert.notEqual((await rotation(world, "backend")).finished_at, null);
  });
});
