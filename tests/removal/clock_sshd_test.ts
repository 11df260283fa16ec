/** A pod whose clock is an hour off. */
import assert from "node:assert/strict";
import { HOUR } from "../../server/clock.ts";
import { ignoreScene, type Scene, withScene } from "../presence/scene.ts";
import { connected, list, livesOn, processesOf, settled, shiftClock, takeOff } from "./scene.ts";

/** As after a new start: what is known about the pod is asked for again. */
async function withClock(scene: Scene, hours: number): Promise<void> {
  await shiftClock(scene, hours);
  scene.world.db.run("update compute_pods set setup_start = null, trust_digest = null");
  scene.forget("member");
}

Deno.test({
  name: "a pod's clock that is an hour off is said by connect and by who is on, and a removal works all the same",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member", "exOfficer");
      const other = await scene.ssh("exOfficer", ["-tt"]);
      await withClock(scene, -1);
      const behind = await scene.login("member");
      const said =
        "The pod's clock is 60 minutes behind: it refuses the certificate until its clock is right, or until then.";
      assert.ok(behind.warnings.includes(said), behind.warnings.join("\n"));
      const offset: number = (await connected(scene)).clock_offset_seconds;
      assert.ok(Math.abs(offset + 3_600) <= 2, String(offset));

      await withClock(scene, 1);
      const ahead = await scene.login("member");
      const ends = "The pod's clock is 60 minutes ahead: the certificate ends that much earlier there.";
      assert.ok(ahead.warnings.includes(ends), ahead.warnings.join("\n"));
      const session = await scene.ssh("member", ["-tt"]);
      await livesOn(session);
      // The list cannot be brought now: until when a certificate works there is told by the pod's clock.
      await scene.root("mkdir /etc/ssh/godfather_revoked.orgpods");
      const removal = await takeOff(scene, "member");
      assert.equal(removal.state, "open");
      const until = Date.parse(/works there until (\S+?)\.? /.exec(`${removal.left} `)?.[1] ?? "");
      const expected = scene.world.clock.now() + 11 * HOUR;
      assert.ok(Math.abs(until - expected) < 5_000, removal.left!);
      assert.deepEqual(await processesOf(scene, "member"), []);
      await scene.root("rmdir /etc/ssh/godfather_revoked.orgpods");
      await settled(scene);
      assert.match((await scene.tryLogin("member")).err, /Permission denied/);
      await livesOn(other);
    }),
});
