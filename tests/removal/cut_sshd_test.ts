/** Removals whose connection breaks between any two steps, and removals at the same time, on a real sshd. */
import assert from "node:assert/strict";
import { eventually } from "../demo/pods_support.ts";
import { ORG } from "../pods/support.ts";
import { ignoreScene, withScene } from "../presence/scene.ts";
import { PEOPLE } from "../support/world.ts";
import { connected, CUTS, disconnect, list, livesOn, processesOf, removals, removalTurn, withCuts } from "./scene.ts";

Deno.test({
  name: "a removal whose connection breaks between any two steps says so, stays open and comes to its end by itself",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member", "exOfficer");
      const other = await scene.ssh("exOfficer", ["-tt"]);
      await withCuts(scene, async (cuts) => {
        for (const cut of CUTS) {
          await scene.forget("member");
          const session = await scene.ssh("member", ["-tt"]);
          await livesOn(session);
          const id = cuts.take("member");
          cuts.cutAt(cut);
          const first = await cuts.removals.carryOut(id);
          assert.equal(first.isDone, false, cut);
          assert.match(
            first.error!,
            /[Tt]he connection to the pod broke|the command.* (failed|broke)|Connection/i,
            cut,
          );
          assert.deepEqual([cuts.row(id).state, cuts.row(id).error], ["open", first.error], cut);
          await cuts.turn();
          assert.equal(cuts.row(id).error, first.error, `not again at once, ${cut}`);
          for (const waitMs of [30_000, 5_000]) {
            scene.world.clock.advance(waitMs);
            await cuts.turn();
          }
          const row = cuts.row(id);
          assert.deepEqual([row.state, row.error], ["done", null], cut);
          assert.match(row.report!, /^Their certificates are refused on the pod\./, cut);
          assert.deepEqual(await processesOf(scene, "member"), [], cut);
          assert.equal((await scene.tryLogin("member")).code, 255, cut);
        }
        // Two looks right after each other are one.
        const twice = cuts.take("member");
        await cuts.removals.carryOut(twice);
        const lookedAt = cuts.row(twice).tried_at!;
        await cuts.removals.carryOut(twice);
        // On a machine so busy that five seconds are over, they were two.
        if (scene.world.clock.now() - lookedAt < 5_000) assert.equal(cuts.row(twice).state, "open");
        scene.world.clock.advance(5_000);
        await cuts.removals.carryOut(twice);
        assert.equal(cuts.row(twice).state, "done");
      });
      await livesOn(other);
    }),
});

Deno.test({
  name: "two officers at once remove two people, and the same person, without getting into each other's way",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const { world } = scene;
      await list(scene, "member", "exOfficer");
      const officer = await scene.ssh("officer", ["-tt"]);
      await scene.ssh("member", ["-tt"]);
      await scene.ssh("exOfficer", ["-tt"]);
      await eventually("all are on", async () => (await connected(scene)).connections === 3);
      const done = await Promise.all([
        disconnect(scene, "member"),
        disconnect(scene, "member", "superadmin"),
        disconnect(scene, "exOfficer"),
        disconnect(scene, "exOfficer", "superadmin"),
      ]);
      assert.deepEqual(done.map(({ state, left }) => [state, left]), Array(4).fill(["done", null]));
      assert.deepEqual(
        (await connected(scene)).sessions.map((one: { discord_id: string }) => one.discord_id),
        [PEOPLE.officer],
      );
      for (const person of ["member", "exOfficer"] as const) {
        assert.equal((await scene.tryLogin(person)).code, 255, person);
      }
      const all = await removals(world);
      assert.equal(all.length, 2, "one per person");
      for (const { report } of all) assert.match(report, /1 SSH connection/);
      const { events } = (await world.call("GET", `${ORG}/events`, { as: "officer" })).json;
      assert.equal(events.filter((one: { kind: string }) => one.kind === "access.ended").length, 4);
      for (let turn = 0; turn < 2; turn++) {
        world.clock.advance(6_000);
        await removalTurn(world);
      }
      const ended = await removals(world);
      assert.deepEqual(ended.map(({ state, report }) => [state, /1 SSH connection/.test(report)]), [
        ["done", true],
        ["done", true],
      ]);
      await livesOn(officer);
    }),
});
