import assert from "node:assert/strict";
import { createRefresher } from "../../server/pods/refresh.ts";
import { eventually } from "../support/world.ts";
import { type ClockedWorld, create, inWorld, orgNamed, partsOf, requests } from "./support.ts";

/** A world whose list calls wait until they are let go. */
async function inHeldWorld(
  test: (world: ClockedWorld, hold: () => () => void) => Promise<void>,
): Promise<void> {
  let held: Promise<void> | null = null;
  await inWorld({
    fetch: (inner) => async (input, init) => {
      if (held !== null && /\/v2\/pods\?/.test(String(input))) {
        const aborted = new Promise((_, reject) =>
          init?.signal?.addEventListener("abort", () => reject(init.signal!.reason))
        );
        await Promise.race([held, aborted]);
      }
      return await inner(input, init);
    },
  }, (world) =>
    test(world, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = null;
        resolve();
      };
    }));
}

Deno.test("refresh answers after its time limit when RunPod hangs, and the call goes on for the others", async () => {
  await inHeldWorld(async (world, hold) => {
    await create(world);
    world.clock.advance(2_000);
    const org = orgNamed(world);
    let fresh = 0;
    const refresher = createRefresher(partsOf(world), () => fresh++);
    const release = hold();
    const early = await refresher.refresh(org, { maxAgeMs: 5_000, timeoutMs: 20 });
    assert.equal(early.fresh, false);
    assert.deepEqual([early.error?.code, early.error?.message], ["runpod_unavailable", "RunPod could not be reached"]);
    assert.equal(refresher.recent(org, 60_000), null);
    const late = refresher.refresh(org, { maxAgeMs: 5_000, timeoutMs: 60_000 });
    release();
    assert.deepEqual(await late, { fresh: true, error: null });
    assert.equal(fresh, 1, "one call for both");
    assert.equal(refresher.lastSuccess(org.id), world.clock.now());
    await refresher.close();
  });
});

Deno.test("refresh waits for a call that began too long ago and then makes a new one", async () => {
  await inHeldWorld(async (world, hold) => {
    await create(world);
    const org = orgNamed(world);
    const refresher = createRefresher(partsOf(world), () => {});
    const before = requests(world, "GET", "/pods").length;
    const lists = () => requests(world, "GET", "/pods").length - before;
    const release = hold();
    const old = refresher.refresh(org, { maxAgeMs: 0, timeoutMs: 60_000 });
    world.clock.advance(3_000);
    const anew = [1, 2].map(() => refresher.refresh(org, { maxAgeMs: 1_000, timeoutMs: 60_000 }));
    release();
    assert.equal((await old).fresh, true);
    assert.deepEqual((await Promise.all(anew)).map((one) => one.fresh), [true, true]);
    assert.equal(lists(), 2);
    assert.equal(refresher.lastSuccess(org.id), world.clock.now());
    await refresher.close();
  });
});

Deno.test("a failed list is not asked again within a second, and never counts as recent", async () => {
  await inWorld({}, async (world) => {
    await create(world);
    world.clock.advance(2_000);
    const org = orgNamed(world);
    const refresher = createRefresher(partsOf(world), () => {});
    const before = requests(world, "GET", "/pods").length;
    const lists = () => requests(world, "GET", "/pods").length - before;
    world.runpod.faults.on({ fault: "F1", variant: "401" });
    for (let asked = 0; asked < 3; asked++) {
      world.clock.advance(400);
      assert.equal(
        (await refresher.refresh(org, { maxAgeMs: 0, timeoutMs: 60_000 })).error?.code,
        "runpod_key_refused",
      );
    }
    assert.equal(lists(), 1);
    assert.equal(refresher.recent(org, 60_000), null);
    assert.equal(refresher.lastSuccess(org.id), null);
    world.clock.advance(201);
    world.runpod.faults.clear();
    assert.equal((await refresher.refresh(org, { maxAgeMs: 0, timeoutMs: 60_000 })).fresh, true);
    assert.equal(lists(), 2);
    await refresher.close();
  });
});

Deno.test("close ends a call that hangs", async () => {
  await inHeldWorld(async (world, hold) => {
    const org = orgNamed(world);
    const refresher = createRefresher(partsOf(world), () => {});
    hold();
    const waiting = refresher.refresh(org, { maxAgeMs: 0, timeoutMs: 60_000 });
    await eventually(() => true, "the call is on its way");
    await refresher.close();
    assert.equal((await waiting).fresh, false);
  });
});
