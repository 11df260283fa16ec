import assert from "node:assert/strict";
import { join } from "node:path";
import { lacks } from "../support/needs.ts";
import { hasEnded, ssh, withSshdPod } from "./pods_support.ts";

const ignore = lacks("root", "sshd", "unshare", "setpriv", "useradd", "su", "ssh", "ssh-keygen");

Deno.test({
  name: "sshd pod's root sees no file of the machine beside /usr",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, folder, address }) => {
      const canary = join(folder, "canary");
      await Deno.writeTextFile(canary, "secret of the machine");
      for (const path of [canary, `/proc/1/root${canary}`, `/proc/self/root${canary}`, `/old${canary}`]) {
        const { code, out, err } = await ssh(address, org.backend, { command: `cat ${path}` });
        assert.equal(code, 1, path);
        assert.equal(out, "", path);
        assert.match(err, /No such file/, path);
      }
      const listing = await ssh(address, org.backend, { command: "ls -A / /root /home /tmp /usr/local/bin" });
      const system = "bin dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin srv tmp usr var";
      const image = ["start.sh", "workspace", ".ssh", "godfather-login", "godfather-jupyter", ""];
      const allowed = new Set([...system.split(" "), ...image]);
      const names = listing.out.split("\n").filter((line) => !line.endsWith(":"));
      assert.ok(names.includes("workspace"));
      assert.deepEqual(names.filter((name) => !allowed.has(name)), []);
      const shadow = await ssh(address, org.backend, { command: "cat /etc/shadow" });
      assert.match(shadow.out, /^root:\*:/);
      assert.doesNotMatch(shadow.out, /\$/);
    }),
});

Deno.test({
  name: "sshd pod's root cannot mount, make devices, change the kernel or write to /usr",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const refused = [
        "mount -t tmpfs none /mnt",
        "mount -o remount,bind,rw /usr",
        "umount /proc/sys",
        "umount -l /usr",
        "mknod /dev/sda b 8 0",
        "mknod /workspace/null c 1 3",
        "echo 1 > /proc/sys/kernel/panic",
        "echo h > /proc/sysrq-trigger",
        "unshare --mount true",
        "nsenter --target 1 --mount true",
        "touch /usr/bin/new",
        "hostname elsewhere",
        "cat /proc/kcore",
      ];
      for (const command of refused) {
        const { code, err } = await ssh(address, org.backend, { command });
        assert.notEqual(code, 0, `${command} was possible`);
        assert.notEqual(code, 255, `${command}: ${err}`);
      }
      const { out } = await ssh(address, org.backend, { command: "grep CapBnd /proc/self/status" });
      const bounding = BigInt(`0x${out.trim().split(/\s+/)[1]}`);
      // Numbers of capabilities: capability.h.
      const reachHost = { DAC_READ_SEARCH: 2, LINUX_IMMUTABLE: 9, NET_ADMIN: 12, NET_RAW: 13, SYS_MODULE: 16 };
      const more = { SYS_RAWIO: 17, SYS_PTRACE: 19, SYS_ADMIN: 21, SYS_BOOT: 22, SYS_TIME: 25, MKNOD: 27, BPF: 39 };
      for (const [name, bit] of Object.entries({ ...reachHost, ...more })) {
        assert.equal(bounding >> BigInt(bit) & 1n, 0n, name);
      }
    }),
});

Deno.test({
  name: "sshd pod's root sees and signals only the pod's own processes",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const outside = new Deno.Command("sleep", { args: ["86399"], stdin: "null" }).spawn();
      try {
        const { out } = await ssh(address, org.backend, { command: "ps -eo pid=,args=" });
        await ssh(address, org.backend, { command: "kill -KILL -1" });
        assert.match(out, /^\s*1 .*\/start\.sh$/m);
        assert.match(out, /sshd/);
        assert.doesNotMatch(out, /86399|deno/);
        assert.equal(await hasEnded(outside.pid), false, "the process outside was killed");
      } finally {
        outside.kill("SIGKILL");
        await outside.status;
      }
    }),
});
