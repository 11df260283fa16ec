import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { PodAddress } from "../../server/demo/pods/host.ts";
import { eventually, mustRun, run, ssh, sshOptions, withSshdPod } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";
import { asRoot, ignorePods } from "./support.ts";

const ignore = ignorePods || lacks("scp", "sftp", "rsync");
const SIZE = 3 * 1024 * 1024;

const shellOf = (address: PodAddress, key: string) => ["-e", ["ssh", ...sshOptions(address, key)].join(" ")];

Deno.test({
  name:
    "pod image carries 3 MB unchanged for a member by a command's streams and by rsync, and leaves it to the member",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, folder, address }) => {
      const key = await org.member("pod1", "bob");
      const bytes = randomBytes(SIZE);
      const through = await ssh(address, key, { command: "cat; exit 42", input: bytes });
      assert.equal(through.code, 42);
      assert.ok(bytes.equals(through.bytes), "through a command");

      const tree = join(folder, "tree");
      await Deno.mkdir(join(tree, "a b"), { recursive: true });
      await Deno.writeFile(join(tree, "a b", "ö'\"$x"), bytes);
      const rsync = (...args: string[]) => mustRun("rsync", "-a", ...shellOf(address, key), ...args);
      await rsync(`${tree}/`, "root@127.0.0.1:there/");
      await rsync("root@127.0.0.1:there/", join(folder, "back"));
      assert.ok(bytes.equals(await Deno.readFile(join(folder, "back", "a b", "ö'\"$x"))), "by rsync");
      const owners = await asRoot(address, org, "find /workspace/users/bob -printf '%u\\n' | sort -u");
      assert.equal(owners, "godfather_bob\n");
    }),
});

Deno.test({
  name: "pod image gives a member sftp also where sshd is set to its own sftp server",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ host, org, folder, address }) => {
      const key = await org.member("pod1", "bob");
      await asRoot(
        address,
        org,
        "sed -i 's/^Subsystem .*/Subsystem sftp internal-sftp/' /etc/ssh/sshd_config && kill -HUP $(pgrep -o -x sshd)",
      );
      await eventually("sshd listens again", () =>
        Promise.resolve(host.logOf("pod1").split("Server listening").length > 2));
      const local = join(folder, "local");
      await Deno.writeTextFile(local, "text");
      const batch = `put ${local} by-sftp\n`;
      const sftp = () =>
        run("sftp", [...sshOptions(address, key, "-P"), "-b", "-", "root@127.0.0.1"], batch);
      assert.equal((await sftp()).code, 0);
      assert.equal(await asRoot(address, org, "stat -c '%U %s' /workspace/users/bob/by-sftp"), "godfather_bob 4\n");
    }),
});

Deno.test({
  name: "original image refuses a member scp, sftp and rsync, and ignores the command",
  ignore,
  fn: () =>
    withSshdPod("original", async ({ org, folder, address }) => {
      const key = await org.member("pod1", "bob");
      const local = join(folder, "local");
      await Deno.writeTextFile(local, "text");
      const options = sshOptions(address, key, "-P");
      for (const protocol of ["-O", "-s"]) {
        assert.notEqual((await run("scp", [...options, protocol, local, "root@127.0.0.1:file"])).code, 0, protocol);
      }
      const sftp = await run("sftp", [...options, "-b", "-", "root@127.0.0.1"], `put ${local} file\n`);
      assert.equal(sftp.code, 255);
      assert.match(sftp.err, /Received message too long/);
      assert.notEqual((await run("rsync", [...shellOf(address, key), local, "root@127.0.0.1:file"])).code, 0);
      assert.equal((await ssh(address, key, { command: "exit 9" })).code, 0);
      assert.equal(await asRoot(address, org, "ls -A /workspace/users/bob"), "");
    }),
});
