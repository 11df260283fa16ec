import assert from "node:assert/strict";
import { ssh, withSshdPod } from "../demo/pods_support.ts";
import { asRoot, ignorePods } from "./support.ts";

const ADMIN = "/usr/local/bin/godfather-login --admin ada";

Deno.test({
  name: "login program takes a writable /workspace back before it believes what is in it",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      assert.equal((await ssh(address, await org.member("pod1", "eve"), { command: "id -u" })).out, "20000\n");
      // Her own logins would mend it, so she does it in one that was open.
      const input = `mv /workspace/users /workspace/users.old && mkdir -p /workspace/users/bob &&
        echo 'touch /workspace/shared/ran-as-$(id -un)' >/workspace/users/bob/.profile && chmod -R 777 /workspace/users`;
      const command = "chmod 777 /workspace && exec su godfather_eve -c sh";
      assert.equal((await ssh(address, org.backend, { command, input })).code, 0);

      const bob = await ssh(address, await org.member("pod1", "bob"), { command: "id -un" });
      assert.deepEqual([bob.code, bob.out], [1, ""]);
      assert.match(
        bob.err,
        /^godfather-login: \/workspace\/users\/bob belongs to somebody else \(uid 20000\); ask an officer/,
      );
      const state = "stat -c '%n %U %a' /workspace /workspace/users; ls /workspace/shared";
      assert.equal(await asRoot(address, org, state), "/workspace root 755\n/workspace/users root 755\n");

      const [remedy] = /chown -hR .*/.exec(bob.err)!;
      await asRoot(address, org, `rm /workspace/users/bob/.profile; ${remedy}`);
      const again = await ssh(address, await org.member("pod1", "bob"), { command: "id -un; stat -c %U ." });
      assert.equal(again.out, "godfather_bob\ngodfather_bob\n");
    }),
});

Deno.test({
  name: "login program follows no planted link and gives nobody what it leads to",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.member("pod1", "eve");
      const officer = await org.officer("pod1");
      const before = await asRoot(address, org, "stat -c '%U:%G %a' /etc /etc/shadow /root");
      const plants = {
        "/workspace/users/eve": "ln -s /root /workspace/users/eve",
        "/workspace/users": "mv /workspace/users /workspace/u && ln -s /etc /workspace/users",
        "/workspace/shared": "rm -r /workspace/shared && ln -s /root /workspace/shared",
      };
      for (const [path, plant] of Object.entries(plants)) {
        await asRoot(address, org, plant);
        const { code, out, err } = await ssh(address, key, { command: "id" });
        assert.deepEqual({ code, out }, { code: 1, out: "" }, path);
        assert.match(err, new RegExp(`^godfather-login: ${path} is a link; ask an officer\n$`));
        const inside = await ssh(address, officer, { command: ADMIN, input: "id -u; pwd\n" });
        assert.match(
          inside.out,
          path === "/workspace/users/eve" ? /^0\n\/workspace\/users\/ada\n$/ : /^0\n\/\n$/,
          path,
        );
        await asRoot(address, org, `rm ${path}; if [ -e /workspace/u ]; then mv /workspace/u /workspace/users; fi`);
        await asRoot(address, org, "mkdir -p /workspace/shared");
      }
      assert.equal(await asRoot(address, org, "stat -c '%U:%G %a' /etc /etc/shadow /root"), before);
      assert.equal((await ssh(address, key, { command: "stat -c %U ." })).out, "godfather_eve\n");
    }),
});

Deno.test({
  name: "login program refuses what is no folder, and a folder two people would share by its number",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      await asRoot(address, org, "touch /workspace/users/eve; mkfifo /workspace/users/ann");
      for (const name of ["eve", "ann"]) {
        const { code, err } = await ssh(address, await org.member("pod1", name), { command: "id" });
        assert.equal(code, 1);
        assert.match(err, new RegExp(`/workspace/users/${name} is not a folder; ask an officer`));
      }
      // As a volume of the original image may be: both folders have the number one of them had in another start.
      await asRoot(
        address,
        org,
        "cd /workspace/users; mkdir bob joe; chown 1001 bob joe; echo mine >bob/file; chown 1001 bob/file",
      );
      const bob = await org.member("pod1", "bob");
      const refused = await ssh(address, bob, { command: "cat file" });
      assert.equal(refused.code, 1);
      await asRoot(address, org, /chown -hR .*/.exec(refused.err)![0]);
      assert.equal((await ssh(address, bob, { command: "cat file; id -u" })).out, "mine\n20000\n");
      assert.equal((await ssh(address, await org.member("pod1", "joe"), { command: "id -u" })).out, "1001\n");
    }),
});
