/** What a container trusts in the first moments of a new start. */
import assert from "node:assert/strict";
import { freePort } from "../../server/demo/pods/free_port.ts";
import { act, ORG } from "../pods/support.ts";
import { ignoreScene, type Scene, withScene } from "../presence/scene.ts";
import { eventually, PEOPLE } from "../support/world.ts";

const list = async (scene: Scene) => {
  scene.world.clock.advance(1_500);
  await scene.world.call("GET", `${ORG}/pods`, { as: "officer" });
};

Deno.test({
  name:
    "a certificate that was taken back is refused from the first moment of the pod's next start, and others work after the set-up",
  ignore: ignoreScene,
  async fn() {
    const port = freePort();
    await withScene(async (scene) => {
      const people = [PEOPLE.member, PEOPLE.exOfficer];
      const put = (allowed_users: readonly string[]) =>
        scene.world.call("PUT", `${ORG}/pods/${scene.podId}`, {
          as: "officer",
          body: { is_public: false, allowed_users },
        });
      await put(people);
      await scene.login("officer");
      assert.equal((await scene.tryLogin("exOfficer")).code, 0);
      assert.equal((await scene.tryLogin("member")).code, 0);
      await act(scene.world, scene.podId, "stop");
      await eventually(() => Promise.resolve(scene.row().status === "EXITED"), "it is stopped", () => list(scene));
      // Taken back while the pod is stopped: nothing can be delivered, and the container's disk begins anew.
      const { json } = await put([PEOPLE.exOfficer]);
      assert.match(json.removals[0].report, /^The pod is stopped/);

      const logins: { code: number; setUp: boolean }[] = [];
      let goesOn = true;
      const isSetUp = () => scene.row().setup_start === scene.row().start_key && scene.row().trust_digest !== null;
      const knocking = (async () => {
        while (goesOn) {
          const setUp = isSetUp();
          const { code } = await scene.tryLogin("member");
          logins.push({ code, setUp });
        }
      })();
      try {
        await act(scene.world, scene.podId, "start");
        await eventually(() => Promise.resolve(isSetUp()), "it is set up", () => list(scene));
        await eventually(
          async () => (await scene.tryLogin("exOfficer")).code === 0,
          "whoever may use it gets in with the certificate from before",
        );
      } finally {
        goesOn = false;
        await knocking;
      }
      assert.deepEqual(logins.filter((one) => one.code !== 255), [], "nobody removed gets in");
      assert.ok(logins.some((one) => !one.setUp) && logins.some((one) => one.setUp), `${logins.length} logins`);
      const trusted = await scene.root("wc -l </etc/ssh/godfather_user_ca.pub");
      assert.equal(trusted.out.trim(), "1");
    }, { choosePort: () => port });
  },
});
