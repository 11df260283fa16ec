import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../server/demo/pods/free_port.ts";
import { descendantsOf } from "../../server/demo/pods/process_tree.ts";
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import { silentLog } from "../../server/log.ts";
import { lacks } from "../support/needs.ts";
import * as support from "./pods_support.ts";

const { ssh, withFolder, withHost, withSshdPod } = support;
const ignore = lacks("root", "sshd", "unshare", "setpriv", "useradd", "su", "ssh", "ssh-keygen");

/** The supervisor of the pods under `folder` and everything below it. */
async function processesOf(folder: string): Promise<number[]> {
  const tops = await support.processesWith(folder);
  const below = await Promise.all(tops.map((pid) => descendantsOf(pid)));
  return [...new Set([...tops, ...below.flat().map(({ pid }) => pid)])];
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test({
  name: "sshd host keeps files and uids of members over a stop and a start with the volume",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ host, org, address }) => {
      const [alice, bob, carol] = await Promise.all(["alice", "bob", "carol"].map((name) => org.member("pod1", name)));
      const write = { command: "umask 077; id -un > mine; id -u" };
      assert.equal((await ssh(address, bob!, write)).out, "20000\n");
      assert.equal((await ssh(address, alice!, write)).out, "20001\n");
      const hostKey = { command: "cat /etc/ssh/ssh_host_ed25519_key.pub; touch /root/on-the-container-disk" };
      const before = await ssh(address, org.backend, hostKey);

      await host.stop("pod1", { keepVolume: true });
      const again = await host.start({ id: "pod1", image: "test", env: org.env });
      assert.equal((await ssh(again, carol!, { command: "id -u" })).out, "20002\n");
      assert.equal((await ssh(again, alice!, { command: "cat mine; id -u" })).out, "godfather_alice\n20001\n");
      assert.equal((await ssh(again, bob!, { command: "cat mine; id -u" })).out, "godfather_bob\n20000\n");
      const after = await ssh(again, org.backend, { command: "cat /etc/ssh/ssh_host_ed25519_key.pub; ls /root" });
      assert.match(after.out, /^ssh-ed25519 /);
      assert.notEqual(after.out, before.out);
      assert.doesNotMatch(after.out, /on-the-container-disk/);
    }),
});

Deno.test({
  name: "sshd host forgets the volume after a stop without it",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ host, org, address }) => {
      await ssh(address, org.backend, { command: "touch /workspace/kept" });
      await host.stop("pod1", { keepVolume: false });
      const again = await host.start({ id: "pod1", image: "test", env: org.env });
      assert.equal((await ssh(again, org.backend, { command: "ls /workspace" })).out, "shared\nusers\n");
    }),
});

Deno.test({
  name: "sshd host leaves no process, mount or folder behind when it is closed",
  ignore,
  fn: () =>
    withFolder(async (folder) => {
      const org = await support.makeOrg(folder);
      const hadWorkspace = await exists("/workspace");
      const pods = join(folder, "pods");
      const host = createSshdHost({ folder: pods, flavour: "orgpods", log: silentLog });
      let pids: number[] = [];
      await withHost(host, async () => {
        const addresses = await Promise.all(["a", "b"].map((id) => host.start({ id, image: "test", env: org.env })));
        const command = "setsid sleep 86398 >/dev/null 2>&1 </dev/null & echo started";
        assert.equal((await ssh(addresses[0]!, org.backend, { command })).out, "started\n");
        pids = await processesOf(pods);
        assert.ok(pids.length > 10, `only ${pids.length} processes`);
      });
      for (const pid of pids) assert.ok(await support.hasEnded(pid), `process ${pid} is still there`);
      assert.doesNotMatch(await Deno.readTextFile("/proc/self/mountinfo"), new RegExp(`${pods}|pod-root`));
      assert.equal(await exists(pods), false);
      assert.equal(await exists("/workspace"), hadWorkspace);
      await assert.rejects(host.start({ id: "a", image: "test", env: org.env }), /The pod host is closed/);
    }),
});

Deno.test({
  name: "sshd host takes its pods along when the program is killed",
  ignore,
  fn: () =>
    withFolder(async (folder) => {
      const pods = join(folder, "pods");
      const program = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-lock", fileURLToPath(new URL("./pods_parent.ts", import.meta.url)), pods],
        stdin: "piped",
        stdout: "piped",
      }).spawn();
      const reader = program.stdout.getReader();
      await reader.read();
      const below = await descendantsOf(program.pid);
      program.kill("SIGKILL");
      await program.status;
      await reader.cancel();
      await program.stdin.close();
      assert.ok(below.some(({ name }) => name === "sshd"), "no sshd was running");
      for (const { pid, name } of below) await support.eventually(`${name} ends`, () => support.hasEnded(pid));
    }),
});

Deno.test({
  name: "sshd host makes a pod hang and go on",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ host, org, folder, address }) => {
      const listener = async () => {
        const all = await Promise.all((await processesOf(join(folder, "pods"))).map((pid) => support.stateOf(pid)));
        return all.filter((state) => state === "T").length;
      };
      await host.pause("pod1");
      await support.eventually("sshd is stopped", async () => await listener() === 1);
      const login = ssh(address, org.backend, { command: "echo in" });
      await host.resume("pod1");
      assert.equal((await login).out, "in\n");
      assert.equal(await listener(), 0);
      await host.pause("pod1");
      await host.stop("pod1", { keepVolume: true });
      await assert.rejects(host.pause("pod1"), /The pod pod1 is not running/);
    }),
});

Deno.test({
  name: "sshd host takes another port when the first is taken",
  ignore,
  fn: () =>
    withFolder(async (folder) => {
      const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const ports = [taken.addr.port, freePort()];
      const choosePort = () => ports.shift() ?? freePort();
      const host = createSshdHost({ folder: join(folder, "pods"), flavour: "orgpods", log: silentLog, choosePort });
      try {
        await withHost(host, async () => {
          const address = await host.start({ id: "a", image: "test", env: {} });
          assert.notEqual(address.port, taken.addr.port);
          await assert.rejects(host.start({ id: "a", image: "test", env: {} }), /The pod a is running already/);
        });
      } finally {
        taken.close();
      }
    }),
});

Deno.test({
  name: "sshd host refuses ids and environments that no pod can have",
  ignore,
  fn: () =>
    withFolder((folder) =>
      withHost(createSshdHost({ folder: join(folder, "pods"), flavour: "orgpods", log: silentLog }), async (host) => {
        for (const id of ["", "..", "a/b", "-a", "a".repeat(64)]) {
          await assert.rejects(host.start({ id, image: "test", env: {} }), /A pod id is up to 63/);
        }
        await assert.rejects(host.start({ id: "a", image: "test", env: { "-S": "x" } }), /An environment name is/);
        await assert.rejects(host.start({ id: "a", image: "test", env: { A: "x\0y" } }), /The value of A holds a NUL/);
      })
    ),
});
