/** A lost SECRETS_KEY: the same database and pods under a server that can decrypt nothing of before. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import { silentLog } from "../../server/log.ts";
import { withFolder, withHost } from "../demo/pods_support.ts";
import { act, ORG, refused } from "../pods/support.ts";
import { ignoreScene } from "../presence/scene.ts";
import { createStandins, createWorld, RUNPOD_KEY } from "../support/world.ts";
import { connect, memberGetsIn, movedClock, newPod, nextTurn, QUICK, type RealWorld, untilPod } from "./real_pods.ts";
import { rotated, rotation } from "./support.ts";

const isSetUp = (world: RealWorld, id: string) =>
  untilPod(world, id, "the pod is set up", (pod) => pod.trust_digest !== null);

const files = (world: RealWorld, id: string) =>
  world.call("GET", `${ORG}/pods/${id}/files?path=/root`, { as: "officer" });

/** Two pods of before, one of them stopped, under a server with another `SECRETS_KEY`. */
async function withLostKey(
  folder: string,
  use: (world: RealWorld, pods: { readonly up: string; readonly down: string }) => Promise<void>,
): Promise<void> {
  const podHost = createSshdHost({ folder: join(folder, "pods"), flavour: "orgpods", log: silentLog });
  await withHost(podHost, async () => {
    const clock = movedClock();
    const standins = createStandins({ clock, podHost, ...QUICK });
    const database = join(folder, "orgpods.sqlite");
    // Each world makes a SECRETS_KEY of its own.
    const open = async (): Promise<RealWorld> =>
      Object.assign(await createWorld({ clock, standins, database, ...QUICK }), { clock });
    try {
      const before = await open();
      const up = await newPod(before, "up");
      const down = await newPod(before, "down");
      await isSetUp(before, up);
      await memberGetsIn(before, up, folder);
      await act(before, down, "stop");
      await before.close();
      const world = await open();
      try {
        await use(world, { up, down });
      } finally {
        await world.close();
      }
    } finally {
      await standins.runpod.close();
    }
  });
}

Deno.test({
  name: "a lost SECRETS_KEY is recovered by rotations: pods get the new keys by being stopped once",
  ignore: ignoreScene,
  fn: () =>
    withFolder((folder) =>
      withLostKey(folder, async (world, { up, down }) => {
        refused(await files(world, up), 503, "secrets_key_wrong");
        const path = "/api/operator/orgs/org/secrets/runpod_api_key";
        const set = await world.call("PUT", path, { as: "operator", body: { value: RUNPOD_KEY } });
        assert.equal(set.status, 200, set.text);
        assert.ok((await rotated(world, "backend")).is_recovery);
        assert.ok((await rotated(world, "user_ca")).is_recovery);
        await nextTurn(world);

        // What was stopped has the new env; what runs is told to be stopped.
        const left = Object.fromEntries((await rotation(world, "backend")).pods.map((pod) => [pod.name, pod]));
        assert.equal(left["down"]!.left, null);
        assert.match(left["up"]!.left!, /Until then the server cannot log in to it$/);
        assert.match(left["up"]!.todo!, /^Stop it once/);
        refused(await files(world, up), 503, "secrets_key_wrong", /Stop the pod once, so that it gets the new key$/);
        const { answer } = await connect(world, up, folder);
        refused(answer, 503, "secrets_key_wrong", /^The pod trusts only the organization's earlier CA key/);

        assert.equal((await act(world, down, "start")).status, 200);
        await isSetUp(world, down);
        await memberGetsIn(world, down, folder);
        assert.equal((await files(world, down)).status, 200);

        assert.equal((await act(world, up, "stop")).status, 200);
        await nextTurn(world);
        assert.equal((await act(world, up, "start")).status, 200);
        await isSetUp(world, up);
        await nextTurn(world);
        for (const id of [up, down]) {
          await memberGetsIn(world, id, folder);
          assert.equal((await files(world, id)).status, 200);
        }
        for (const kind of ["backend", "user_ca"] as const) assert.equal((await rotation(world, kind)).state, "done");
      })
    ),
});
