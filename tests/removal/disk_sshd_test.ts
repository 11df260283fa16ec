/** Removals from pods whose disk takes nothing, on a real sshd. */
import assert from "node:assert/strict";
import { processesWith, run } from "../demo/pods_support.ts";
import { ignoreScene, type Scene, withScene } from "../presence/scene.ts";
import { lacks } from "../support/needs.ts";
import { list, livesOn, processesOf, settled, takeOff } from "./scene.ts";

/** Runs a command in the pod's mounts with the machine's rights, which root of a pod has not. */
async function inMounts(scene: Scene, command: string): Promise<void> {
  for (const pid of await processesWith("[listener]")) {
    const hostname = await Deno.readTextFile(`/proc/${pid}/root/etc/hostname`);
    if (hostname.trim() !== scene.podId) continue;
    const { code, err } = await run("nsenter", ["-t", String(pid), "-m", "sh", "-c", command]);
    assert.equal(code, 0, err);
    return;
  }
  throw new Error("The pod's sshd is not there");
}

Deno.test({
  name: "a removal from a pod whose /etc is full or read-only ends what runs, says what is missing, and goes on",
  ignore: ignoreScene || lacks("nsenter", "mount"),
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member", "exOfficer");
      const other = await scene.ssh("exOfficer", ["-tt"]);
      await livesOn(other);
      const days = [
        {
          spoil: "mount --rbind /etc /etc && mount -o remount,bind,ro /etc",
          mend: "mount -o remount,bind,rw /etc",
          why: "its disk is read-only (/etc/ssh/godfather_revoked)",
        },
        {
          // A small disk over /etc with the same in it, filled up.
          spoil: "mkdir -p /run/kept && cp -a /etc/. /run/kept && mount -t tmpfs -o size=8m,mode=755 full /etc && " +
            "cp -a /run/kept/. /etc && { head -c 16M /dev/zero >/etc/fill 2>/dev/null; true; }",
          mend: "rm /etc/fill",
          why: "its disk is full (/etc/ssh/godfather_revoked)",
        },
      ];
      for (const { spoil, mend, why } of days) {
        scene.forget("member");
        await list(scene, "member", "exOfficer");
        const session = await scene.ssh("member", ["-tt"]);
        await livesOn(session);
        await inMounts(scene, spoil);
        const removal = await takeOff(scene, "member");
        assert.equal(removal.state, "open", why);
        assert.ok(
          removal.left!.startsWith(`The pod has not the revocation list: ${why}. A certificate works there until 2`),
        );
        assert.match(removal.left!, /Their account on the pod could not be locked against cron jobs and keys\.$/, why);
        assert.match(removal.report, /^1 SSH connection .*ended\.$/, why);
        assert.deepEqual(await processesOf(scene, "member"), [], why);
        assert.equal((await scene.tryLogin("member")).code, 0, "as it was said");
        await inMounts(scene, mend);
        const last = await settled(scene);
        assert.match(last.report, /^Their certificates are refused on the pod\. /, why);
        assert.match((await scene.tryLogin("member")).err, /Permission denied/, why);
      }
      await livesOn(other);
    }),
});
