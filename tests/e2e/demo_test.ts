/** `orgpods demo` as a program: what it prints, how it ends, and that nothing of it is left. */
import assert from "node:assert/strict";
import { isGone } from "../../server/demo/pods/process_gone.ts";
import { run, withFolder } from "../demo/pods_support.ts";
import { startDemoProcess } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import { connected, newKey, type SshInfo } from "../support/ssh_client.ts";
import { until } from "../support/sshd.ts";

const ignore = lacks("ssh", "ssh-keygen", "sshd", "root");

/**
 * Ids of the processes that have something of `folder` mounted: everything in a pod has, for its `/workspace` is a folder
 * below it. (The processes of a pod do not carry the folder in their arguments.)
 */
async function processesOn(folder: string): Promise<number[]> {
  // The last part alone: where the temporary folder is a file system of its own, what stands in front is left out.
  const name = folder.split("/").at(-1)!;
  return await processesWithMount(name);
}

async function processesWithMount(part: string): Promise<number[]> {
  const found: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const mounts = await Deno.readTextFile(`/proc/${name}/mountinfo`);
      if (mounts.split("\n").some((line) => line.split(" ")[3]?.includes(part))) found.push(Number(name));
    } catch (error) {
      // It ended meanwhile; a process that is being collected has no mounts any more (EINVAL).
      if (!isGone(error) && !/\(os error 22\)/.test(String(error))) throw error;
    }
  }
  return found;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function answers(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return false;
    throw error;
  }
}

Deno.test("demo works on a computer whose proxy does not lead to it", async () => {
  const proxy = "http://127.0.0.1:1";
  const demo = await startDemoProcess({ HTTP_PROXY: proxy, http_proxy: proxy, no_proxy: "example.org" });
  try {
    const { status, json } = await demo.call("GET", "/pods", demo.facts.officer.token);
    assert.deepEqual([status, json.pods.map((pod: { status: string }) => pod.status)], [200, ["RUNNING"]]);
    await demo.act("stop");
  } finally {
    await demo.end("SIGTERM").finally(demo.close);
  }
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test({
    name: `demo prints one line, goes on, and leaves nothing behind when it gets ${signal}`,
    ignore,
    fn: () =>
      withFolder(async (folder) => {
        const demo = await startDemoProcess();
        try {
          const { facts } = demo;
          const key = await newKey(folder, "key");
          const at: SshInfo = (await connected(demo, facts.pod_id, facts.member.token, key)).json.ssh_info;
          // Somebody is at work when the demo ends.
          const options = ["-F", "/dev/null", "-i", key, "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none"];
          options.push("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR");
          const session = run("ssh", [...options, "-p", String(at.port), "root@127.0.0.1", "touch here; sleep 1000"]);
          const mark = `${demo.folder}/pods/${facts.pod_id}/workspace/users/mo.member/here`;
          await until(() => isThere(mark), "the member's command runs");
          const pods = await processesOn(demo.folder);
          assert.ok(pods.length > 3, "the pod has processes of its own");
          assert.ok(await answers(at.port));
          assert.equal((await Deno.lstat(facts.data_dir)).mode! & 0o777, 0o700);

          const { code, signal: endedBy, stdout, stderr } = await demo.end(signal);
          assert.deepEqual([code, endedBy, stderr], [0, null, ""]);
          assert.equal(stdout, `${JSON.stringify(facts)}\n`);

          assert.equal((await session).code, 255);
          assert.deepEqual(await processesOn(demo.folder), []);
          assert.equal(await isThere(demo.folder), false);
          for (
            const port of [
              at.port,
              ...[facts.url, facts.runpod_url, facts.discord_url].map((url) => Number(new URL(url).port)),
            ]
          ) {
            assert.equal(await answers(port), false, `port ${port}`);
          }
        } finally {
          await demo.close();
        }
      }),
  });
}
