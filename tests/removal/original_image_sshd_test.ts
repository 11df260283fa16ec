/** Removals from pods of the image the contract was written for, which lets in by its own rules until it is set up. */
import assert from "node:assert/strict";
import { HOUR } from "../../server/clock.ts";
import { eventually } from "../demo/pods_support.ts";
import { act } from "../pods/support.ts";
import { ignoreScene, withScene } from "../presence/scene.ts";
import {
  connected,
  list,
  livesOn,
  processesOf,
  refresh,
  removals,
  removalTurn,
  settled,
  shiftClock,
  takeOff,
  tick,
} from "./scene.ts";

Deno.test({
  name: "a removal works on the original image once it is set up, and ends what came in before that at its next start",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member", "exOfficer");
      const other = await scene.ssh("exOfficer", ["-tt"]);
      await livesOn(other);
      assert.deepEqual((await scene.login("member")).warnings.filter((one) => /set the pod up/.test(one)), []);
      const session = await scene.ssh("member", ["-tt"]);
      await livesOn(session);
      const removal = await takeOff(scene, "member");
      assert.deepEqual([removal.state, removal.left], ["done", null]);
      assert.match(removal.report, /^Their certificates are refused on the pod\. 1 SSH connection/);
      assert.match((await scene.tryLogin("member")).err, /Permission denied/);
      await livesOn(other);
      await settled(scene, 6_000);

      await act(scene.world, scene.podId, "stop");
      await act(scene.world, scene.podId, "start");
      const { at } = await scene.login("member");
      await eventually("it answers, and the server has not seen it yet", async () => {
        const { address } = scene.world.runpod.pods.get(scene.podId);
        Object.assign(at, address ?? {});
        tick(scene, 500);
        return address !== null && (await scene.tryLogin("member")).code === 0;
      });
      const early = await scene.ssh("member", ["-tt"]);
      await livesOn(early);
      assert.deepEqual((await removals(scene.world)).map(({ state }) => state), ["done"]);
      await eventually("it is set up", async () => {
        await refresh(scene);
        return scene.row().setup_state === "pushed" && scene.row().setup_start === scene.row().start_key;
      });
      await removalTurn(scene.world);
      const { at: officer } = await scene.login("officer");
      Object.assign(officer, { host: scene.row().host, port: scene.row().port });
      assert.deepEqual(await processesOf(scene, "member"), []);
      assert.match((await scene.tryLogin("member")).err, /Permission denied/);
      assert.match((await removals(scene.world))[0]!.report, /1 SSH connection .*ended/);
      assert.equal((await settled(scene, 6_000)).state, "done");
      await removalTurn(scene.world);
      assert.equal((await removals(scene.world))[0]!.state, "done", "once per start");
    }, { flavour: "original" }),
});

Deno.test({
  name: "where the set-up is refused connect warns, and a removal says until when a certificate works, and is repeated",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member", "exOfficer");
      const officer = await scene.ssh("officer", ["-tt"]);
      await livesOn(officer);
      // Officers took back what was set up, and left settings that sshd would not take now.
      await scene.root(
        "rm /etc/ssh/sshd_config.d/00-orgpods.conf; rm -rf /run/godfather /run/orgpods-setup; kill -HUP $(pgrep -o -x sshd)",
      );
      await eventually("sshd has read its settings anew", async () => {
        const { code } = await scene.root(
          "grep -q Nonsense /etc/ssh/sshd_config || echo Nonsense >>/etc/ssh/sshd_config",
        );
        return code === 0;
      });
      scene.world.db.run("update compute_pods set setup_start = null, trust_digest = null");
      await eventually("the server has looked at it", async () => {
        await refresh(scene);
        return scene.row().setup_state === "refused";
      });
      const { warnings } = await scene.login("member");
      assert.match(
        warnings.join("\n"),
        /^Its SSH server does not tell its settings \(sshd -T\), so orgpods could not set the pod up: a certificate that is taken back works there until it ends/m,
      );
      const other = await scene.ssh("exOfficer", ["-tt"]);
      const session = await scene.ssh("member", ["-tt"]);
      for (const one of [other, session]) await livesOn(one);
      // Nothing tells the certificates here: the officer's own session below is not the member's.
      await officer.type("su - godfather_member -c 'sleep 621' & echo became\n");
      await eventually("they became the member", async () =>
        (await scene.root("ps -eo args=")).out.includes("sleep 621"));

      const removal = await takeOff(scene, "member");
      assert.equal(removal.state, "open");
      assert.match(
        removal.left!,
        /^The pod has not the revocation list: its SSH server does not tell its settings \(sshd -T\)\. A certificate works there until 20/,
      );
      assert.match(
        removal.report,
        /^1 SSH connection and \d+ process(es)? of theirs were ended\. \d SSH connections are/,
      );
      assert.match(removal.report, / SSH connections are open whose certificate the pod did not write down/);
      assert.deepEqual(await processesOf(scene, "member"), []);
      for (const one of [other, officer]) {
        await livesOn(one);
      }

      const again = await scene.ssh("member", ["-tt"]);
      await livesOn(again);
      await refresh(scene);
      scene.world.clock.advance(31_000);
      await removalTurn(scene.world);
      assert.deepEqual(await processesOf(scene, "member"), [], "ended again");
      assert.equal((await removals(scene.world))[0]!.state, "open");
      for (const one of [other, officer]) {
        await livesOn(one);
      }

      scene.world.clock.advance(12 * HOUR);
      await shiftClock(scene, 0);
      const last = await settled(scene);
      assert.deepEqual([last.state, last.left], ["done", null]);
      for (const one of [other, officer]) {
        await livesOn(one);
      }
      assert.equal((await connected(scene)).sessions.length >= 2, true);
    }, { flavour: "original" }),
});
