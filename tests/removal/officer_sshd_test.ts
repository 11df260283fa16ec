/** An officer who is none any more: what they had as root ends, what they may do as a member stays. */
import assert from "node:assert/strict";
import { RECREATE } from "../../server/removal/tell.ts";
import { eventually } from "../demo/pods_support.ts";
import { ORG } from "../pods/support.ts";
import { ignoreScene, withScene } from "../presence/scene.ts";
import { GUILD, OFFICER_ROLE, PEOPLE } from "../support/world.ts";
import { connected, livesOn, removals, settled } from "./scene.ts";

Deno.test({
  name: "an officer who lost the role loses their root connections and what runs below, and stays a member",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const { world } = scene;
      world.discord.world.setRoles(GUILD, PEOPLE.exOfficer, [OFFICER_ROLE]);
      const member = await scene.ssh("member", ["-tt"]);
      const officer = await scene.ssh("officer", ["-tt"]);
      const root = await scene.ssh("exOfficer", ["-tt"], "sleep 611 & exec sleep 612");
      await scene.ssh("exOfficer", ["-N"]);
      await eventually("all are on", async () => (await connected(scene)).connections === 4);
      assert.equal(
        (await connected(scene)).certificates.filter((one: { is_admin: boolean }) => one.is_admin).length,
        3,
      );

      // A moment ago they were an officer: what Discord said is kept for a minute.
      world.discord.world.setRoles(GUILD, PEOPLE.exOfficer, []);
      world.clock.advance(61_000);
      // As a member of a moment ago, on a connection of their own.
      scene.forget("exOfficer");
      const asMember = await scene.ssh("exOfficer", ["-tt"]);
      await livesOn(asMember);
      await world.app.jobs.access.checks.turn();

      const [removal] = await removals(world);
      assert.deepEqual(
        [removal?.discord_id, removal?.only_root, removal?.left, removal?.todo],
        [PEOPLE.exOfficer, true, null, RECREATE],
      );
      assert.match(removal!.report, /2 SSH connections of theirs were ended\. What they may do as a member stays\.$/);
      assert.doesNotMatch((await scene.root("ps -eo args=")).out, /sleep 61[12]/);
      for (const one of [member, officer, asMember]) await livesOn(one);
      const { sessions, certificates } = await connected(scene);
      const ofThem = (list: { discord_id: string; is_admin: boolean }[]) =>
        list.filter((one) => one.discord_id === PEOPLE.exOfficer).map((one) => one.is_admin);
      assert.deepEqual([ofThem(sessions), ofThem(certificates)], [[false], [false]]);
      await root.end();
      await settled(scene, 6_000);
      for (const one of [member, officer, asMember]) await livesOn(one);
      const { events } = (await world.call("GET", `${ORG}/events`, { as: "officer" })).json;
      const ended = events.filter((one: { kind: string }) => one.kind === "access.ended");
      assert.deepEqual([ended.length, ended[0].details.todo], [1, RECREATE]);
      await world.app.jobs.access.checks.turn();
      assert.equal((await removals(world)).length, 1, "once is enough");
    }),
});
