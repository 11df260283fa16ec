/** How the stand-in drives the pod host that runs its containers. */
import assert from "node:assert/strict";
import { systemClock } from "../../server/clock.ts";
import type { PodAddress, PodHost, PodSpec } from "../../server/demo/pods/host.ts";
import { type Bench, cpuPod, eventually, gpuPod, withBench } from "./runpod_helper.ts";

/** A host that keeps a diary instead of running anything. */
class DiaryHost implements PodHost {
  readonly diary: string[] = [];
  readonly specs: PodSpec[] = [];
  failWith: string | null = null;
  gate: Promise<void> = Promise.resolve();
  async start(pod: PodSpec): Promise<PodAddress> {
    await this.gate;
    this.diary.push(`start ${pod.image}`);
    this.specs.push(pod);
    if (this.failWith !== null) throw new Error(this.failWith);
    return { host: "127.0.0.1", port: 2_200 + this.specs.length };
  }
  stop(_id: string, { keepVolume }: { readonly keepVolume: boolean }): Promise<void> {
    this.diary.push(`stop ${keepVolume ? "keeps" : "loses"}`);
    return Promise.resolve();
  }
  remove(): Promise<void> {
    this.diary.push("remove");
    return Promise.resolve();
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

const act = async ({ api, fake, clock }: Bench, id: string, action: string) => {
  const got = await api("POST", `/pods/${id}/action`, { action });
  assert.ok(got.status < 300, got.text);
  await fake.idle();
  clock.advance(1_000);
};
const address = async ({ api }: Bench, id: string) => (await api("GET", `/pods/${id}`)).json.ssh.direct;

Deno.test("a pod runs in a container with its env and RunPod's own, and never shows RunPod's", async () => {
  const host = new DiaryHost();
  await withBench(async (bench) => {
    await bench.api("PUT", "/account/ssh-keys", { keys: ["ssh-ed25519 AAAA officer"] });
    const { id } = (await bench.api("POST", "/pods", gpuPod())).json;
    await bench.fake.idle();
    bench.clock.advance(1_000);
    const { env, image } = host.specs[0]!;
    assert.equal(image, "ghcr.io/example/pod:1");
    assert.equal(env["RUNPOD_POD_ID"], id);
    assert.equal(env["GODFATHER_CA"], "ssh-ed25519 AAAA");
    assert.equal(env["RUNPOD_GPU_COUNT"], "1");
    assert.equal("PUBLIC_KEY" in env, false);
    const pod = (await bench.api("GET", `/pods/${id}`)).json;
    assert.deepEqual(pod.env, { GODFATHER_CA: "ssh-ed25519 AAAA" });
    assert.deepEqual([pod.ssh.direct.host, pod.ssh.direct.port], ["127.0.0.1", 2_201]);
    const inPod = { authorization: `Bearer ${env["RUNPOD_API_KEY"]}` };
    assert.equal((await bench.api("GET", "/pods", undefined, inPod)).status, 403);
    await bench.api("POST", "/pods", gpuPod({ startSsh: true }));
    await bench.fake.idle();
    assert.equal(host.specs[1]?.env["PUBLIC_KEY"], "ssh-ed25519 AAAA officer");
  }, { podHost: host });
});

Deno.test("stop, start, restart and terminate reach the pod host in order, volumes kept only with a mount", async () => {
  const host = new DiaryHost();
  await withBench(async (bench) => {
    const mounts = { persistent: { size: 10, path: "/workspace" } };
    const kept = (await bench.api("POST", "/pods", gpuPod({ image: "kept", mounts }))).json.id;
    await bench.fake.idle();
    bench.clock.advance(1_000);
    const before = await address(bench, kept);
    await act(bench, kept, "stop");
    await act(bench, kept, "start");
    assert.notEqual((await address(bench, kept)).port, before.port);
    await act(bench, kept, "restart");
    await act(bench, kept, "terminate");
    assert.deepEqual(host.diary, [
      "start kept",
      "stop keeps",
      "start kept",
      "stop keeps",
      "start kept",
      "remove",
    ]);
    host.diary.length = 0;
    const lost = (await bench.api("POST", "/pods", cpuPod({ image: "lost" }))).json.id;
    await act(bench, lost, "stop");
    assert.deepEqual(host.diary, ["start lost", "stop loses"]);
  }, { podHost: host });
});

Deno.test("a pod stays STARTING until its container answers, and a stop meanwhile wins", async () => {
  const host = new DiaryHost();
  let release = () => {};
  host.gate = new Promise((resolve) => release = resolve);
  await withBench(async (bench) => {
    const { id } = (await bench.api("POST", "/pods", gpuPod())).json;
    bench.clock.advance(60_000);
    assert.equal((await bench.api("GET", `/pods/${id}`)).json.status, "STARTING");
    assert.equal((await bench.api("POST", `/pods/${id}/action`, { action: "stop" })).json.status, "EXITED");
    release();
    await bench.fake.idle();
    bench.clock.advance(60_000);
    assert.equal((await bench.api("GET", `/pods/${id}`)).json.status, "EXITED");
    assert.deepEqual(host.diary, ["start ghcr.io/example/pod:1", "stop loses"]);
  }, { podHost: host });
});

Deno.test("a container that answers after a stop and a start is not taken for the new one", async () => {
  const host = new DiaryHost();
  const release: (() => void)[] = [];
  const hold = () => host.gate = new Promise((resolve) => release.push(resolve));
  await withBench(async (bench) => {
    hold();
    const { id } = (await bench.api("POST", "/pods", gpuPod())).json;
    await Promise.resolve();
    await bench.api("POST", `/pods/${id}/action`, { action: "stop" });
    hold();
    await bench.api("POST", `/pods/${id}/action`, { action: "start" });
    bench.clock.advance(60_000);
    release[0]!();
    await eventually(() => host.diary.includes("stop loses") || null);
    assert.equal((await bench.api("GET", `/pods/${id}`)).json.status, "STARTING");
    release[1]!();
    await bench.fake.idle();
    bench.clock.advance(1_000);
    assert.equal((await address(bench, id)).port, 2_202);
  }, { podHost: host });
});

Deno.test("a pod goes to ERROR with the reason kept when its container cannot start", async () => {
  const host = new DiaryHost();
  host.failWith = "sshd is missing";
  await withBench(async (bench) => {
    const { id } = (await bench.api("POST", "/pods", gpuPod())).json;
    await bench.fake.idle();
    bench.clock.advance(1_000);
    const pod = (await bench.api("GET", `/pods/${id}`)).json;
    assert.deepEqual([pod.status, pod.actions, pod.cost], ["ERROR", ["start", "terminate"], 0]);
    assert.equal((await bench.demo("GET", "pods")).json.pods[0].failure, "sshd is missing");
    host.failWith = null;
    await act(bench, id, "start");
    assert.notEqual(await address(bench, id), null);
  }, { podHost: host });
});

Deno.test("PATCH of env reaches the container at its next boot", async () => {
  const host = new DiaryHost();
  await withBench(async (bench) => {
    const { id } = (await bench.api("POST", "/pods", gpuPod())).json;
    await act(bench, id, "stop");
    await bench.api("PATCH", `/pods/${id}`, { env: { NEW: "1" } });
    assert.equal(host.specs.length, 1);
    await act(bench, id, "start");
    assert.equal(host.specs[1]?.env["NEW"], "1");
    assert.equal("GODFATHER_CA" in host.specs[1]!.env, false);
    await bench.api("PATCH", `/pods/${id}`, { env: { NEWER: "2" } });
    await bench.fake.idle();
    assert.equal(host.specs[2]?.env["NEWER"], "2");
  }, { podHost: host });
});

Deno.test("foreign pods do not reach the pod host", async () => {
  const host = new DiaryHost();
  await withBench(async ({ fake }) => {
    fake.pods.deleteOutside(fake.pods.addForeign().id);
    await fake.idle();
    assert.deepEqual(host.diary, []);
  }, { podHost: host });
});

Deno.test("with the default timings and the system clock a pod gets its address", () =>
  withBench(async ({ api }) => {
    const { id } = (await api("POST", "/pods", gpuPod())).json;
    const pod = await eventually(async () => {
      const got = (await api("GET", `/pods/${id}`)).json;
      return got.ssh.direct ? got : null;
    });
    assert.equal(pod.status, "RUNNING");
    assert.ok(Date.parse(pod.startedAt) - Date.parse(pod.createdAt) < 1_000);
  }, { clock: systemClock }));
