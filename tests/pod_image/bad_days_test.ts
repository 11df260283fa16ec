import assert from "node:assert/strict";
import { join } from "node:path";
import { descendantsOf } from "../../server/demo/pods/process_tree.ts";
import { eventually, mustRun, type PodScene, processesWith, ssh, withSshdPod } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";
import { asRoot, ignorePods, withOpenSsh } from "./support.ts";

const ADMIN = { command: "/usr/local/bin/godfather-login --admin ada", input: "id -u; pwd\n" };

/** Runs a command in the pod's mount namespace with the machine's rights, which root of the pod does not have. */
async function inMounts({ folder }: PodScene, ...command: string[]): Promise<void> {
  const tops = await processesWith(join(folder, "pods"));
  const below = (await Promise.all(tops.map((pid) => descendantsOf(pid)))).flat();
  const first = below.find(({ name }) => name === "start.sh");
  assert.ok(first, "the pod's first process");
  await mustRun("nsenter", "--target", String(first.pid), "--mount", "--", ...command);
}

Deno.test({
  name: "login program lets in who has a folder when the volume is full or read-only, and tells others in one sentence",
  ignore: ignorePods || lacks("nsenter"),
  fn: () =>
    withSshdPod("orgpods", async (scene) => {
      const { org, address } = scene;
      const [bob, eve, ada] = [
        await org.member("pod1", "bob"),
        await org.member("pod1", "eve"),
        await org.officer("pod1"),
      ];
      // Room for /workspace, users, shared and one more.
      await inMounts(scene, "mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=4", "pod-small", "/workspace");
      assert.equal((await ssh(address, bob, { command: "pwd" })).out, "/workspace/users/bob\n");
      const check = async (reason: string) => {
        const refused = await ssh(address, eve, { command: "id" });
        const sentence = `/workspace/users/eve cannot be made or changed (${reason}); ask an officer`;
        assert.deepEqual([refused.code, refused.out, refused.err], [1, "", `godfather-login: ${sentence}\n`]);
        assert.equal((await ssh(address, bob, { command: "pwd" })).out, "/workspace/users/bob\n");
        const officer = await ssh(address, ada, ADMIN);
        assert.equal(officer.out, "0\n/\n");
        assert.match(officer.err, /\/workspace\/users\/ada cannot be made or changed/);
      };
      await check("No space left on device");
      await inMounts(scene, "mount", "-o", "remount,ro", "/workspace");
      await check("Read-only file system");
    }),
});

Deno.test({
  name: "login program says why an account cannot be made, and makes it at the next login",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.member("pod1", "bob");
      await asRoot(address, org, "touch /etc/passwd.lock; echo 1 >/etc/passwd.lock");
      const refused = await ssh(address, key, { command: "id" });
      assert.deepEqual([refused.code, refused.out], [1, ""]);
      assert.match(
        refused.err,
        /^godfather-login: The account godfather_bob cannot be made or changed \(.+\); ask an officer\n$/,
      );
      await asRoot(address, org, "rm /etc/passwd.lock");
      assert.equal((await ssh(address, key, { command: "id -un" })).out, "godfather_bob\n");
    }),
});

Deno.test({
  name: "start script asks everything to end when the pod is stopped, and ends",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address, folder }) => {
      const key = await org.member("pod1", "bob");
      const command =
        `setsid bash -c 'trap "echo saved >/workspace/shared/at-stop; exit" TERM; echo on; sleep 8645 & wait' &
        wait`;
      await withOpenSsh(address, key, { command }, async (work) => {
        await eventually("the work runs", () => Promise.resolve(work.printed() === "on\n"));
        await ssh(address, org.backend, { command: "kill -TERM 1" });
        await eventually("the pod has ended", async () => (await processesWith(join(folder, "pods"))).length === 0);
      });
      assert.equal(await Deno.readTextFile(join(folder, "pods/pod1/workspace/shared/at-stop")), "saved\n");
    }),
});

Deno.test({
  name: "start script starts sshd again when it has ended",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      await asRoot(address, org, "kill -KILL $(pgrep -o -x sshd)");
      await eventually("root gets in", async () => (await ssh(address, org.backend, { command: "true" })).code === 0);
    }),
});
