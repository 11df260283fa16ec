/** Ways in and ways to keep others out that the image closes. */
import assert from "node:assert/strict";
import { eventually, run, ssh, sshOptions, withSshdPod } from "../demo/pods_support.ts";
import { asRoot, ignorePods, withOpenSsh } from "./support.ts";

Deno.test({
  name: "a key that a member leaves in their home opens nothing",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const bob = await org.member("pod1", "bob");
      const planted = await org.newKey("planted");
      const line = (await Deno.readTextFile(`${planted}.pub`)).trim();
      const command = `umask 077; mkdir -p .ssh && echo '${line}' >.ssh/authorized_keys && cat .ssh/authorized_keys`;
      assert.equal((await ssh(address, bob, { command })).out.trim(), line);
      const as = [...sshOptions(address, planted), `godfather_bob@${address.host}`, "id -un"];
      const tried = await run("ssh", as);
      assert.deepEqual([tried.code, tried.out], [255, ""]);
      assert.match(tried.err, /Permission denied/);
    }),
});

Deno.test({
  name: "an officer whose folder is in trouble keeps no member's login waiting with their shell",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      await asRoot(address, org, "mkdir -p /workspace/users && ln -s /tmp /workspace/users/ada");
      const ada = await org.officer("pod1");
      const shell = { command: "/usr/local/bin/godfather-login --admin ada", input: "echo here-$((40 + 2))\n" };
      await withOpenSsh(address, ada, shell, async (open) => {
        await eventually("the officer has a shell", () => Promise.resolve(open.printed().includes("here-42")));
        const bob = await org.member("pod1", "bob");
        const command = "id -un";
        assert.equal((await ssh(address, bob, { command })).out, "godfather_bob\n");
        const locked = await asRoot(address, org, "flock -n /run/godfather true && echo free");
        assert.equal(locked, "free\n");
      });
    }),
});
