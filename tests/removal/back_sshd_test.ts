/** Removals of people who come back at once, or whom the pod hides, on a real sshd. */
import assert from "node:assert/strict";
import { eventually, sshOptions } from "../demo/pods_support.ts";
import { ignoreScene, type Scene, withScene } from "../presence/scene.ts";
import { newKey, publicLineOf } from "../support/ssh_client.ts";
import { PEOPLE } from "../support/world.ts";
import {
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
  withCuts,
} from "./scene.ts";

/** Begins itself anew every half second for a minute, so that no process of it is ever old. */
const RESPAWNER = `cat >r.sh <<'E'
sleep 0.5
[ "$1" -gt 120 ] || setsid sh ~/r.sh $(($1 + 1)) >/dev/null 2>&1 </dev/null &
E
setsid sh ~/r.sh 0 >/dev/null 2>&1 </dev/null &`;

const respawns = async (scene: Scene) => (await processesOf(scene, "member")).some((args) => args.includes("r.sh"));

Deno.test({
  name: "who comes back the moment they are disconnected keeps nothing from before: no process, no key",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member");
      const { at } = await scene.login("member");
      const key = await newKey(scene.folder, "planted");
      const line = await publicLineOf(key);
      await scene.tryLogin("member", `mkdir -pm 700 .ssh && echo '${line}' >.ssh/authorized_keys; ${RESPAWNER}`);
      await eventually("it respawns", () => respawns(scene));
      const removing = disconnect(scene, "member");
      scene.forget("member");
      const body = { public_key: line };
      const path = `/api/compute/org/me/pods/${scene.podId}/connect`;
      const answers: number[] = [];
      await eventually("a new certificate is given", async () => {
        const { status } = await scene.world.call("POST", path, { as: "member", body });
        answers.push(status);
        return status === 200;
      });
      assert.ok(answers.slice(0, -1).every((status) => status === 409), answers.join());
      await removing;
      assert.deepEqual(await processesOf(scene, "member"), []);
      const byKey = await new Deno.Command("ssh", {
        args: [...sshOptions(at, key), `godfather_member@${at.host}`, "true"],
        stdin: "null",
        stderr: "null",
      }).output();
      assert.equal(byKey.code, 255, "their account lets no key in");
      assert.equal((await scene.tryLogin("member")).code, 0);
      assert.equal((await settled(scene, 6_000)).state, "done");
    }),
});

Deno.test({
  name: "a removal whose first try broke takes all they have, also when they were let in again before the next one",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member");
      await scene.tryLogin("member", RESPAWNER);
      await eventually("it respawns", () => respawns(scene));
      await withCuts(scene, async (cuts) => {
        const id = cuts.take("member");
        cuts.cutAt("before the script");
        assert.equal((await cuts.removals.carryOut(id)).isDone, false);
        scene.forget("member");
        await livesOn(await scene.ssh("member", ["-tt"]));
        scene.world.clock.advance(30_000);
        await cuts.turn();
        assert.equal(cuts.row(id).error, null);
        assert.deepEqual(await processesOf(scene, "member"), []);
        // What they do from now on is not what was taken.
        const again = await scene.ssh("member", ["-tt"]);
        await livesOn(again);
        tick(scene, 15_000);
        await cuts.turn();
        assert.equal(cuts.row(id).state, "done");
        await livesOn(again);
      });
    }),
});

Deno.test({
  name: "a removal while RunPod wrongly shows a pod as gone or stopped ends what runs when the pod is shown again",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const { world } = scene;
      await list(scene, "member", "exOfficer");
      for (const [person, status] of [["member", "GONE"], ["exOfficer", "EXITED"]] as const) {
        const session = await scene.ssh(person, ["-tt"]);
        await livesOn(session);
        // sshd keeps a connection whose certificate ends.
        world.db.run(
          "update compute_connections set valid_before = ? where discord_id = ?",
          world.clock.now() - 1,
          PEOPLE[person],
        );
        world.db.run("update compute_pods set status = ?, missing_count = 2 where runpod_id = ?", status, scene.podId);
        const removal = await takeOff(scene, person);
        assert.equal(removal.state, status === "GONE" ? "open" : "done", removal.report);
        await refresh(scene);
        assert.deepEqual([scene.row().status, scene.row().setup_start], ["RUNNING", scene.row().start_key]);
        world.clock.advance(31_000);
        await removalTurn(world);
        const [last] = await removals(world);
        assert.match(last!.report, /1 SSH connection .*ended/, status);
        assert.deepEqual(await processesOf(scene, person.toLowerCase()), [], status);
        world.clock.advance(6_000);
        await removalTurn(world);
        await removalTurn(world);
        assert.equal((await removals(world))[0]!.state, "done", "once");
      }
    }),
});

Deno.test({
  name: "a connection whose record was lost keeps a removal open, and a pod that cannot list its processes does too",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member", "exOfficer");
      const other = await scene.ssh("exOfficer", ["-tt"]);
      await livesOn(other);
      const tunnel = await scene.ssh("member", ["-N"]);
      const records = async () => {
        const { out } = await scene.root("grep -l discord:200000000000000002: /run/godfather/connections/*");
        return out.split("\n").filter((path) => path !== "");
      };
      await eventually("the tunnel is recorded", async () => (await records()).length === 1);
      await scene.root(`rm ${(await records())[0]}`);
      const removal = await takeOff(scene, "member");
      assert.equal(removal.state, "open");
      assert.match(
        removal.left!,
        /^1 SSH connection is open whose certificate is not written down .*restart of the pod/,
      );
      await tunnel.end();
      await livesOn(other);
      assert.equal((await settled(scene)).state, "done");

      await put(scene, { add_users: [PEOPLE.member] });
      scene.forget("member");
      const shell = await scene.ssh("member", ["-tt"]);
      await livesOn(shell);
      await shell.type("setsid nohup sleep 621 >/dev/null 2>&1 &\n");
      await eventually("it runs", async () => (await processesOf(scene, "member")).some((args) => /621/.test(args)));
      // As with more processes than one command can be told of, or no place for one more.
      await scene.root("printf '#!/bin/sh\\nexit 1\\n' >/usr/local/bin/xargs; chmod 755 /usr/local/bin/xargs");
      const blind = await takeOff(scene, "member");
      assert.equal(blind.state, "open");
      assert.match(blind.left!, /was not ended: the commands for it did not run to their end/);
      assert.deepEqual(await processesOf(scene, "member"), [], "they are killed without a list");
      await scene.root("rm /usr/local/bin/xargs");
      assert.equal((await settled(scene)).state, "done");
      await livesOn(other);
    }),
});

Deno.test({
  name: "a removal of root ends connections by root certificates, and by no others of that person",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member");
      const session = await scene.ssh("member", ["-tt"]);
      await livesOn(session);
      await withCuts(scene, async (cuts) => {
        // As of somebody who had a root certificate too: it ran out.
        scene.world.db.run(
          "insert into compute_connections (org_id, pod_id, runpod_id, discord_id, username, is_admin, serial, " +
            "key_fingerprint, ca_fingerprint, valid_after, valid_before, port_forwarding, created_at) select org_id, " +
            "pod_id, runpod_id, discord_id, username, 1, '77', 'f', 'c', 0, 1, 0, 1 from compute_connections " +
            "where discord_id = ?",
          PEOPLE.member,
        );
        const id = cuts.take("member", "root");
        await cuts.removals.carryOut(id);
        assert.equal(cuts.row(id).error, null);
        assert.match(cuts.row(id).report!, /Nothing of theirs was running/);
      });
      await livesOn(session);
    }),
});
