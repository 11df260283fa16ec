/** Access that ends, on a real sshd with real people on it. */
import assert from "node:assert/strict";
import { freePort } from "../../server/demo/pods/free_port.ts";
import { eventually } from "../demo/pods_support.ts";
import { ignoreScene, withScene } from "../presence/scene.ts";
import { PEOPLE } from "../support/world.ts";
import { connected, list, livesOn, put, settled } from "./scene.ts";

Deno.test({
  name:
    "a member with a shell, a tunnel, a multiplexed connection and a process left behind is removed whole, and nobody else",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member", "exOfficer");
      const other = await scene.ssh("exOfficer", ["-tt"]);
      const shell = await scene.ssh("member", ["-tt"]);
      await scene.ssh("member", ["-N", "-D", `127.0.0.1:${freePort()}`]);
      const socket = await Deno.makeTempDir();
      try {
        await scene.ssh("member", ["-M", "-S", `${socket}/mux`], "sleep 500");
        await shell.type("setsid nohup sleep 501 >/dev/null 2>&1 &\n(trap '' HUP TERM; sleep 502) &\n");
        await eventually("all of it runs", async () => {
          const { out } = await scene.root("ps -eo args");
          const { certificates } = await connected(scene);
          const of = (name: string) => certificates.filter((one: { username: string }) => one.username === name).length;
          return /^sleep 501/m.test(out) && /^sleep 502/m.test(out) && of("member") === 3 && of("exofficer") === 1;
        });
        const answer = await put(scene, { allowed_users: [PEOPLE.exOfficer] });
        const [removal] = answer.json.removals;
        assert.deepEqual([answer.json.removals.length, removal.state, removal.left], [1, "done", null], answer.text);
        assert.match(
          removal.report,
          /^Their certificates are refused on the pod\. 3 SSH connections and \d+ process(es)? of theirs/,
        );
        const after = await connected(scene);
        assert.deepEqual(
          [after.sessions.map((one: { username: string }) => one.username), after.connections],
          [["exofficer"], 1],
        );
        const { out } = await scene.root("ps -eo user:30,args");
        assert.doesNotMatch(out, /godfather_member|sleep 50[012]/);
        const refused = await scene.tryLogin("member");
        assert.equal(refused.code, 255);
        assert.match(refused.err, /Permission denied/);
        await livesOn(other);
        // Let in again with a new certificate before the second look, which leaves what they do with it alone.
        await put(scene, { allowed_users: [PEOPLE.exOfficer, PEOPLE.member] });
        await scene.forget("member");
        const again = await scene.ssh("member", ["-tt"]);
        await livesOn(again);
        const last = await settled(scene, 6_000);
        assert.match(last.report, /^Their certificates are refused on the pod\. 3 SSH connections/);
        await livesOn(again);
        assert.deepEqual((await scene.tryLogin("member", "echo back")).out, "back\n");
        await livesOn(other);
      } finally {
        await Deno.remove(socket, { recursive: true });
      }
    }),
});
