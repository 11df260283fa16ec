/** A pod whose files the server cannot change: it takes what its env had when it was started, until its next start. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { createInProcessHost } from "../../server/demo/pods/inprocess_host.ts";
import { silentLog } from "../../server/log.ts";
import { withFolder, withHost } from "../demo/pods_support.ts";
import { act } from "../pods/support.ts";
import { lacks } from "../support/needs.ts";
import { createWorld } from "../support/world.ts";
import { memberGetsIn, movedClock, newPod, nextTurn, podRow, QUICK, type RealWorld, untilPod } from "./real_pods.ts";
import { rotated, rotation } from "./support.ts";

async function withWeakPod(use: (world: RealWorld, id: string, folder: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const clock = movedClock();
    const podHost = createInProcessHost({ folder: join(folder, "pods"), log: silentLog, clock });
    await withHost(podHost, async () => {
      const world: RealWorld = Object.assign(await createWorld({ clock, podHost, ...QUICK }), { clock });
      try {
        await use(world, await newPod(world, "weak"), folder);
      } finally {
        await world.close();
      }
    });
  });
}

const isLookedAt = (world: RealWorld, id: string) => untilPod(world, id, "the pod was looked at", () => true);

Deno.test({
  name: "certificates for a pod that cannot be set up are signed by the CA that it was started with",
  ignore: lacks("ssh", "ssh-keygen"),
  fn: () =>
    withWeakPod(async (world, id, folder) => {
      await isLookedAt(world, id);
      assert.equal(podRow(world, id).setup_state, "refused");
      const { old_fingerprint: oldCa, new_fingerprint: newCa } = await rotated(world, "user_ca");
      await rotated(world, "backend");
      await nextTurn(world);
      assert.equal(await memberGetsIn(world, id, folder), oldCa);

      await act(world, id, "stop");
      await nextTurn(world);
      await act(world, id, "start");
      await isLookedAt(world, id);
      await nextTurn(world);
      assert.equal(await memberGetsIn(world, id, folder), newCa);
      await nextTurn(world);
      for (const kind of ["backend", "user_ca"] as const) {
        assert.equal((await rotation(world, kind)).state, "done", JSON.stringify(await rotation(world, kind)));
      }
      assert.equal(await memberGetsIn(world, id, folder), newCa);
    }),
});
