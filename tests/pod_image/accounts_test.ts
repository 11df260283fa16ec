import assert from "node:assert/strict";
import { parseWalk } from "../../server/presence/parse.ts";
import { WALK } from "../../server/presence/script.ts";
import { eventually, run, ssh, sshOptions, withSshdPod } from "../demo/pods_support.ts";
import { asRoot, ignorePods, withOpenSsh } from "./support.ts";

Deno.test({
  name: "pod image gives twelve members who log in for the first time at once an account each",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const names = Array.from({ length: 12 }, (_, i) => `m${i}`);
      const keys = await Promise.all(names.map((name) => org.member("pod1", name)));
      const logins = await Promise.all(keys.map((key) => ssh(address, key, { command: "id -un; stat -c %U ." })));
      assert.deepEqual(
        logins.map(({ out, err }) => out + err),
        names.map((name) => `godfather_${name}\ngodfather_${name}\n`),
      );
      const uids = await asRoot(address, org, "getent passwd | grep ^godfather_ | cut -d: -f3 | sort");
      assert.deepEqual(uids.trim().split("\n"), Array.from({ length: 12 }, (_, i) => String(20_000 + i)));
    }),
});

Deno.test({
  name: "pod image gives members their own files in a new container, whoever comes first, and nobody else's",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ host, org, address }) => {
      const [bob, ann, joe] = await Promise.all(["bob", "ann", "joe"].map((name) => org.member("pod1", name)));
      for (const key of [bob!, ann!]) {
        const command = "umask 077; id -un >mine; id -un >/workspace/shared/$(id -un)";
        assert.equal((await ssh(address, key, { command })).code, 0);
      }
      await host.stop("pod1", { keepVolume: true });
      const again = await host.start({ id: "pod1", image: "test", env: org.env });
      const read = "cat mine; ls -A ~; cat /workspace/users/*/mine /workspace/shared/* 2>/dev/null | sort";
      assert.equal((await ssh(again, joe!, { command: read })).out, "");
      assert.equal(
        (await ssh(again, ann!, { command: read })).out,
        "godfather_ann\nmine\ngodfather_ann\ngodfather_ann\n",
      );
      assert.equal(
        (await ssh(again, bob!, { command: read })).out,
        "godfather_bob\nmine\ngodfather_bob\ngodfather_bob\n",
      );
    }),
});

Deno.test({
  name: "pod image makes nobody root or somebody else: not by a forged title, su or the login program itself",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      await ssh(address, await org.member("pod1", "bob"), { command: "true" });
      const eve = await org.member("pod1", "eve");
      const command = `for title in 'su - godfather_bob --session-command x' 'sshd: root@pts/9' \\
          'bash --rcfile /etc/godfather/admin.bashrc -i'; do
        (export GODFATHER_USER=ada; exec -a "$title" sleep 8644) &
      done
      echo on; wait`;
      await withOpenSsh(address, eve, { command }, async (open) => {
        await eventually("it is on", () => Promise.resolve(open.printed() === "on\n"));
        const walk = await ssh(address, org.backend, { command: "exec /bin/sh -s", input: WALK });
        const who = parseWalk(walk.out);
        assert.deepEqual(who?.sessions.map(({ username, isAdmin }) => [username, isAdmin]), [["eve", false]]);
      });
      for (
        const attempt of [
          "su - godfather_bob -c id",
          "su -c id",
          "/usr/local/bin/godfather-login bob",
          "/usr/local/bin/godfather-login --admin eve",
          "cat /workspace/users/bob/.profile",
          "echo x >/etc/ssh/godfather_user_ca.pub",
          "echo gf-pod1 >/etc/ssh/godfather_principals/godfather_eve",
          "mkdir /workspace/mine",
          "mv /workspace/users /workspace/u",
          "rm -r /workspace/users/bob",
        ]
      ) {
        const { code, out } = await ssh(address, eve, { command: attempt });
        assert.notEqual(code, 0, attempt);
        assert.equal(out, "", attempt);
      }
      // The principal is root's alone: no account can be logged in to.
      const direct = await run("ssh", [...sshOptions(address, eve), `godfather_bob@${address.host}`, "id"]);
      assert.deepEqual([direct.code, direct.out], [255, ""]);
      assert.match(direct.err, /Permission denied \(publickey\)/);
    }),
});
