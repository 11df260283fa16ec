/** Removals whose connection breaks between any two steps, and removals at the same time, on a real sshd. */
import assert from "node:assert/strict";
import { eventually } from "../demo/pods_support.ts";
import { ORG } from "../pods/support.ts";
import { ignoreScene, withScene } from "../presence/scene.ts";
import { PEOPLE } from "../support/world.ts";
import { connected, CUTS, disconnect, list, livesOn, processesOf, removals, withCuts } from "./scene.ts";

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
        for (const state of ["open", "open", "done"]) {
          if (state === "done") scene.world.clock.advance(5_000);
          assert.equal((await cuts.removals.carryOut(twice)).isDone, true);
          assert.equal(cuts.row(twice).state, state);
        }
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
      assert.deepEqual(all.map(({ state }) => state), ["open", "open"], "one per person, until the second look");
      for (const { report } of all) assert.match(report, /1 SSH connection/);
      const { events } = (await world.call("GET", `${ORG}/events`, { as: "officer" })).json;
      assert.equal(events.filter((one: { kind: string }) => one.kind === "access.ended").length, 4);
      // A second removal of the same person within the five seconds does not stand for the second look.
      world.clock.advance(4_000);
      await world.app.jobs.access.removals.turn();
      assert.deepEqual((await removals(world)).map(({ state }) => state), ["open", "open"]);
      world.clock.advance(2_000);
      await world.app.jobs.access.removals.turn();
      assert.deepEqual((await removals(world)).map(({ state }) => state), ["done", "done"]);
      await livesOn(officer);
    }),
});
