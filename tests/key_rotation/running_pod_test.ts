/** Pods that run while their keys are replaced, with a real sshd. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import { silentLog } from "../../server/log.ts";
import { withFolder, withHost } from "../demo/pods_support.ts";
import { act, ORG } from "../pods/support.ts";
import { ignoreScene } from "../presence/scene.ts";
import { createWorld } from "../support/world.ts";
import { type CuttingHost, cuttingHost } from "./cut_proxy.ts";
import {
  connect,
  memberGetsIn,
  movedClock,
  newPod,
  nextTurn,
  podRow,
  QUICK,
  type RealWorld,
  untilPod,
} from "./real_pods.ts";
import { rotated, rotation } from "./support.ts";

async function withPod(
  use: (world: RealWorld, id: string, folder: string, host: CuttingHost) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const clock = movedClock();
    const own = createSshdHost({ folder: join(folder, "pods"), flavour: "orgpods", log: silentLog });
    await withHost(cuttingHost(own), async (podHost) => {
      const world: RealWorld = Object.assign(await createWorld({ clock, podHost, ...QUICK }), { clock });
      try {
        const id = await newPod(world, "one");
        await untilPod(world, id, "the pod is set up", (pod) => pod.trust_digest !== null);
        await use(world, id, folder, podHost);
      } finally {
        await world.close();
      }
    });
  });
}

async function everybodyIn(world: RealWorld, id: string, folder: string): Promise<void> {
  const answer = await world.call("GET", `${ORG}/pods/${id}/files?path=/root`, { as: "officer" });
  assert.equal(answer.status, 200, answer.text);
  await memberGetsIn(world, id, folder);
}

Deno.test({
  name: "everybody gets in wherever the connection is cut that brings the new keys, and they come with the next turns",
  ignore: ignoreScene,
  fn: () =>
    withPod(async (world, id, folder, host) => {
      let cuts = 0;
      // Before the script, within it, and while it tells what it wrote.
      const points = [[1, "to"], [400, "to"], [1, "from"], [100, "from"], [180, "from"], [260, "from"]] as const;
      for (const [bytes, direction] of points) {
        const kind = cuts % 2 === 0 ? "backend" : "user_ca";
        const { new_fingerprint: wanted } = await rotated(world, kind);
        host.cutAfter(bytes, direction);
        await nextTurn(world);
        assert.ok(host.wasCut(), `${bytes} bytes ${direction} the pod`);
        cuts++;
        await everybodyIn(world, id, folder);
        const has = (at: "files_backend" | "files_user_ca") => podRow(world, id)[at]?.includes(wanted) === true;
        for (let turns = 0; turns < 30 && !has(`files_${kind}`); turns++) {
          world.clock.advance(2_000);
          await nextTurn(world);
        }
        assert.ok(
          has(`files_${kind}`),
          `the new ${kind} key is in the files after a cut at ${bytes} bytes ${direction} the pod`,
        );
        await everybodyIn(world, id, folder);
        await act(world, id, "stop");
        await nextTurn(world);
        assert.equal((await rotation(world, kind)).state, "done");
        await act(world, id, "start");
        await untilPod(world, id, "the pod is set up again", (pod) => pod.trust_digest !== null);
        await everybodyIn(world, id, folder);
      }
    }),
});

Deno.test({
  name: "a wrong belief about a pod's key costs no login: the other is tried on the same connection and remembered",
  ignore: ignoreScene,
  fn: () =>
    withPod(async (world, id, folder) => {
      const { old_fingerprint: old, new_fingerprint: young } = await rotated(world, "backend");
      // As when a start began with another env than RunPod showed.
      const sql = "update compute_pods set start_env_backend = ?, files_backend = null, files_user_ca = null, " +
        "login_key = null where runpod_id = ?";
      world.db.run(sql, young, id);
      world.clock.advance(31_000);
      await everybodyIn(world, id, folder);
      const row = podRow(world, id);
      assert.deepEqual([row.login_key, row.unreachable_reason], [old, null]);
      await nextTurn(world);
      assert.deepEqual(JSON.parse(podRow(world, id).files_backend!), [young, old]);
      world.clock.advance(31_000);
      await everybodyIn(world, id, folder);
      assert.equal(podRow(world, id).login_key, young, "what has both is logged in to with the new one");
    }),
});

Deno.test({
  name: "a pod that was restarted with the old env gets both keys again, and the old ones leave it when all is done",
  ignore: ignoreScene,
  fn: () =>
    withPod(async (world, id, folder) => {
      await rotated(world, "backend");
      const { answer } = await connect(world, id, folder);
      await rotated(world, "user_ca");
      await nextTurn(world);
      const state = async () => {
        const path = `${ORG}/me/pods/${id}/ssh-config?serial=${answer.json.serial}`;
        return (await world.call("GET", path, { as: "member" })).json.certificate;
      };
      assert.equal(await state(), "usable");
      assert.equal((await act(world, id, "restart")).status, 200);
      await untilPod(world, id, "the pod is set up again", (pod) => pod.trust_digest !== null);
      await everybodyIn(world, id, folder);
      assert.equal(JSON.parse(podRow(world, id).files_user_ca!).length, 2);
      await act(world, id, "stop");
      await nextTurn(world);
      await act(world, id, "start");
      await untilPod(world, id, "the pod is set up again", (pod) => pod.trust_digest !== null);
      await nextTurn(world);
      const row = podRow(world, id);
      assert.deepEqual([JSON.parse(row.files_backend!), JSON.parse(row.files_user_ca!)], [
        [row.env_backend],
        [row.env_user_ca],
      ]);
      assert.equal(await state(), "renew", "a certificate of the old CA works nowhere");
    }),
});
