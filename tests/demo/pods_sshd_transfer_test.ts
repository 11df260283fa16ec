import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { lacks } from "../support/needs.ts";
import { mustRun, run, ssh, sshOptions, withSshdPod } from "./pods_support.ts";

const ignore = lacks("root", "sshd", "unshare", "setpriv", "useradd", "su", "ssh", "ssh-keygen", "scp", "sftp");
const SIZE = 3 * 1024 * 1024;

Deno.test({
  name: "sshd pod carries 3 MB unchanged for a member by scp (both protocols) and sftp",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, folder, address }) => {
      const key = await org.member("pod1", "bob");
      const local = join(folder, "local");
      const back = join(folder, "back");
      const bytes = randomBytes(SIZE);
      await Deno.writeFile(local, bytes);
      const scp = async (...args: string[]) => await mustRun("scp", ...sshOptions(address, key, "-P"), ...args);
      for (const protocol of ["-s", "-O"]) {
        await scp(protocol, local, "root@127.0.0.1:file");
        await scp(protocol, "root@127.0.0.1:file", back);
        assert.ok(bytes.equals(await Deno.readFile(back)), protocol);
      }
      const batch = `put ${local} by-sftp\nget by-sftp ${back}\n`;
      await Deno.remove(back);
      const sftp = await run("sftp", [...sshOptions(address, key, "-P"), "-b", "-", "root@127.0.0.1"], batch);
      assert.equal(sftp.code, 0, sftp.err);
      assert.ok(bytes.equals(await Deno.readFile(back)), "sftp");
      const { out } = await ssh(address, key, { command: "stat -c '%U %s' file by-sftp" });
      assert.equal(out, `godfather_bob ${SIZE}\n`.repeat(2));
    }),
});

Deno.test({
  name: "sshd pod forwards TCP and refuses reverse forwarding of a Unix socket",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.member("pod1", "bob");
      const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const answer = (async () => {
        const connection = await listener.accept();
        await connection.write(new TextEncoder().encode("through the pod"));
        connection.close();
      })();
      const forwarded = await ssh(address, key, { flags: ["-W", `127.0.0.1:${listener.addr.port}`] });
      listener.close();
      await answer;
      assert.equal(forwarded.out, "through the pod");

      const flags = ["-o", "ExitOnForwardFailure=yes", "-R", "/run/probe.sock:127.0.0.1:1"];
      const refused = await ssh(address, key, { flags, command: "true" });
      assert.equal(refused.code, 255);
      assert.match(refused.err, /remote port forwarding failed/);
      assert.equal((await ssh(address, org.backend, { command: "ls /run/probe.sock" })).out, "");
    }),
});

Deno.test({
  name: "sshd pod of the original image greets, ignores the command and allows Unix-socket forwarding",
  ignore,
  fn: () =>
    withSshdPod("original", async ({ org, folder, address }) => {
      const key = await org.member("pod1", "bob");
      const flags = ["-R", "/run/probe.sock:127.0.0.1:1", "-o", "ExitOnForwardFailure=yes"];
      const { code, out } = await ssh(address, key, { command: "echo never; exit 9", flags, input: "pwd; id -un\n" });
      assert.equal(code, 0);
      assert.match(out, /Welcome to the pod, bob/);
      assert.match(out, /\/workspace\/users\/bob\ngodfather_bob\n/);
      assert.doesNotMatch(out, /never/);
      const local = join(folder, "local");
      await Deno.writeTextFile(local, "text");
      assert.equal((await run("scp", [...sshOptions(address, key, "-P"), local, "root@127.0.0.1:file"])).code, 255);
      const root = await ssh(address, org.backend, {
        command: "ls /run/probe.sock /etc/godfather; ls /etc/ssh/*.pub; getent passwd godfather_bob | cut -d: -f6",
      });
      assert.match(root.out, /\/run\/probe\.sock/);
      assert.match(root.out, /ssh_host_rsa_key\.pub/);
      assert.match(root.out, /\/home\/godfather_bob/);
      assert.doesNotMatch(root.out, /orgpods-image/);
    }),
});
