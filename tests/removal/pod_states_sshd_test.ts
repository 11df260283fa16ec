/** Removals from pods that are stopped, start, moved, or cannot be reached for a while, on a real sshd. */
import assert from "node:assert/strict";
import { eventually } from "../demo/pods_support.ts";
import { act } from "../pods/support.ts";
import { ignoreScene, type Scene, withScene } from "../presence/scene.ts";
import { PEOPLE } from "../support/world.ts";
import {
  connected,
  disconnect,
  list,
  livesOn,
  processesOf,
  put,
  refresh,
  removals,
  removalTurn,
  settled,
  takeOff,
  tick,
} from "./scene.ts";

const upAgain = (scene: Scene) =>
  eventually("the pod is up and set up", async () => {
    await refresh(scene);
    return scene.row().status === "RUNNING" && scene.row().setup_start === scene.row().start_key &&
      scene.row().trust_digest !== null;
  });

/** Tries the person's certificate at the pod's present address, which is new after each start. */
async function tryAt(scene: Scene, person: "member" | "exOfficer") {
  const { at } = await scene.login(person);
  Object.assign(at, { host: scene.row().host, port: scene.row().port });
  return await scene.tryLogin(person);
}

Deno.test({
  name: "a member removed from a stopped pod is refused from its next start on, and one let in again is let in",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member", "exOfficer");
      await scene.login("member");
      await scene.login("exOfficer");
      assert.equal((await act(scene.world, scene.podId, "stop")).status, 200);
      const removal = await takeOff(scene, "member");
      assert.deepEqual([removal.state, removal.left], ["done", null]);
      assert.equal(
        removal.report,
        "The pod is stopped, so nothing of theirs runs; the revocation list reaches it as soon as it starts.",
      );
      assert.equal((await act(scene.world, scene.podId, "start")).status, 200);
      await upAgain(scene);
      assert.match((await tryAt(scene, "member")).err, /Permission denied/);
      assert.equal((await tryAt(scene, "exOfficer")).code, 0);
      await removalTurn(scene.world);
      assert.deepEqual((await removals(scene.world)).map(({ state }) => state), ["done"], "nothing to look for again");
      await put(scene, { add_users: [PEOPLE.member] });
      scene.forget("member");
      assert.equal((await scene.tryLogin("member")).code, 0);
    }),
});

Deno.test({
  name: "a removal from a pod that moved to another port, or starts, is open until the pod is there again",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member", "exOfficer");
      await scene.ssh("member", ["-tt"]);
      await eventually("the member is on", async () => (await connected(scene)).sessions.length === 1);
      const port = scene.row().port;
      scene.world.runpod.pods.restart(scene.podId);
      await eventually("it listens on another port", async () => {
        const { address } = scene.world.runpod.pods.get(scene.podId);
        const answers = address !== null && address.port !== port;
        tick(scene, 500);
        return await Promise.resolve(answers);
      });
      assert.equal(scene.row().port, port, "the server does not know yet");
      const removal = await takeOff(scene, "member");
      assert.equal(removal.state, "open");
      assert.match(removal.left!, /^The pod has not the revocation list: .*A certificate works there until 20\d\d-/);
      assert.match(removal.left!, /What they have running on the pod was not ended: /);
      await upAgain(scene);
      const last = await settled(scene);
      assert.deepEqual([last.state, last.left], ["done", null]);
      assert.match((await tryAt(scene, "member")).err, /Permission denied/);
      assert.equal((await tryAt(scene, "exOfficer")).code, 0);

      // While it starts nobody can be on it.
      scene.world.db.run("update compute_pods set status = 'STARTING', host = null, port = null");
      const starting = await disconnect(scene, "exOfficer");
      assert.equal(starting.state, "open");
      assert.match(starting.left!, /^.*What they have running on the pod was not ended: /);
      await upAgain(scene);
      assert.equal((await settled(scene)).state, "done");
      assert.match((await tryAt(scene, "exOfficer")).err, /Permission denied/);
    }),
});

Deno.test({
  name:
    "a removal works over the open connection while officers broke sshd or nobody else gets in, and else says why not",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member", "exOfficer");
      const other = await scene.ssh("exOfficer", ["-tt"]);
      await scene.ssh("member", ["-tt"]);
      await eventually("both are on", async () => (await connected(scene)).sessions.length === 2);
      const officer = await scene.ssh("officer", ["-tt"]);
      // Three strangers who never say who they are take every place for a login.
      await scene.root(
        "sed -i 's/^MaxStartups.*/MaxStartups 3:100:3/' /etc/ssh/sshd_config.d/godfather.conf; " +
          "kill -HUP $(pgrep -o -x sshd)",
      );
      const { host, port } = scene.row();
      const strangers = await eventuallyFull(scene, host!, port!);
      try {
        const removal = await takeOff(scene, "member");
        assert.deepEqual([removal.state, removal.left], ["done", null], JSON.stringify(removal));
      } finally {
        for (const one of strangers) one.close();
      }
      await eventually("there are places again", async () => (await scene.tryLogin("exOfficer")).code === 0);
      assert.match((await scene.tryLogin("member")).err, /Permission denied/);
      assert.deepEqual(await processesOf(scene, "member"), []);

      // Now sshd does not come up again, and the connection is lost as well.
      await officer.type("echo Nonsense yes >/etc/ssh/sshd_config.d/00-a.conf; pkill -o -x sshd\n");
      await eventually("nobody gets in", async () => (await scene.tryLogin("exOfficer")).code === 255);
      await officer.type("pkill -f 'sshd: root@notty'; echo cut\n");
      await eventually("the server's connection is cut", () => Promise.resolve(/^cut/m.test(officer.printed())));
      const second = await disconnect(scene, "exOfficer");
      assert.equal(second.state, "open");
      assert.match(second.left!, /until 20\d\d-.*What they have running on the pod was not ended: /);
      await livesOn(other);
      await officer.type("rm /etc/ssh/sshd_config.d/00-a.conf\n");
      await eventually("sshd is up again", async () => (await scene.tryLogin("exOfficer")).code === 0);
      scene.world.clock.advance(300_000);
      const last = await settled(scene);
      assert.match(last.report, /[12] SSH connections?/);
      assert.match((await scene.tryLogin("exOfficer")).err, /Permission denied/);
      await livesOn(officer);
    }),
});

/** Connections that say nothing, until the real ssh is turned away. */
async function eventuallyFull(scene: Scene, hostname: string, port: number): Promise<Deno.TcpConn[]> {
  const open: Deno.TcpConn[] = [];
  await eventually("every place for a login is taken", async () => {
    try {
      open.push(await Deno.connect({ hostname, port }));
    } catch (error) {
      // sshd reads its settings anew.
      if (!(error instanceof Deno.errors.ConnectionRefused)) throw error;
    }
    return (await scene.tryLogin("exOfficer")).code === 255;
  });
  return open;
}
