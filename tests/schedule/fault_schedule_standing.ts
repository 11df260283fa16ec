/** What the schedule does under the points of RunPod that always hold. */
import assert from "node:assert/strict";
import { ORG, requests } from "../pods/support.ts";
import { RUNPOD_KEY } from "../support/world.ts";
import { ENV_VALUE } from "./fault_cases.ts";
import { FRESH, freshRefused, refused, UNHARMED } from "./fault_schedule_cases.ts";
import type { ScheduleCase, ScheduleScene } from "./fault_schedule_scene.ts";

/** A request to the stand-in beside those of the program. */
export async function raw(
  { world }: Pick<ScheduleScene, "world">,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; type: string | null; text: string }> {
  const headers = {
    authorization: `Bearer ${RUNPOD_KEY}`,
    "user-agent": "orgpods-test/1",
    "content-type": "application/json",
  };
  const url = new URL(path, world.config.runpodApiUrl);
  const answer = await world.fetch(url.href, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
}

const withStatus = ({ sent }: ScheduleScene, ...statuses: number[]) =>
  sent.filter((one) => one.status !== null && statuses.includes(one.status)).map((one) => `${one.method} ${one.path}`);

const bodies = ({ sent }: ScheduleScene, path: string) =>
  sent.filter((one) => one.method === "POST" && one.path === path).map((one) => one.body as Record<string, unknown>);

const VOLUME_POD = { use_cpu_only: false, cloud_type: "SECURE", volume_in_gb: 10 } as const;

/** By fault. */
export const STANDING_CASES: Readonly<Record<string, ScheduleCase>> = {
  // What the refusal says is what officers read, and nothing of its wrapping.
  F2: {
    ...refused(/: RunPod answered 400: There are not enough free GPUs on the host machine to start this pod\.?$/),
    also: [{ fault: "F27", variant: "problem", action: "start" }],
    async check(scene) {
      const refusal = await raw(scene, "GET", "/v2/pods/none");
      assert.deepEqual([refusal.status, refusal.type], [404, "application/problem+json"]);
    },
  },
  // Not one body that the schedule sends has a field too many or too few.
  F3: {
    ...FRESH,
    async check(scene) {
      const body = { ...bodies(scene, "/v2/pods")[0], bogus: 1 };
      const answer = await raw(scene, "POST", "/v2/pods", body);
      assert.equal(answer.status, 422);
      assert.match(answer.text, /additional properties 'bogus' not allowed/);
    },
    finally(scene) {
      assert.equal(bodies(scene, "/v2/pods").length, 1);
      assert.deepEqual(withStatus(scene, 422), []);
    },
  },
  // The network volume is no longer there: the pod is not replaced by one without it.
  F4: {
    ...freshRefused(
      /A fresh pod in its place was refused too: RunPod answered 404: network volume gone-volume not found/,
    ),
    prepare({ world, pod }) {
      const fake = world.runpod.pods.get(pod);
      fake.mounts = { network: [{ volumeId: "gone-volume", path: "/workspace" }] };
      return () => void (fake.mounts = {});
    },
  },
  F5: {
    ...freshRefused(/A fresh pod in its place was refused too: RunPod answered 413/),
    prepare({ world, pod }) {
      const fake = world.runpod.pods.get(pod);
      const { env } = fake;
      fake.env = { ...env, LARGE: "x".repeat(103_000) };
      return () => void (fake.env = env);
    },
  },
  F6: {
    ...UNHARMED,
    async check(scene) {
      assert.equal((await raw(scene, "GET", "/v1/pods")).status, 404);
      assert.equal((await raw(scene, "PUT", "/v2/pods", {})).status, 405);
    },
    finally(scene) {
      assert.ok(scene.sent.length > 5, "there were calls");
      assert.deepEqual(withStatus(scene, 404, 405), []);
    },
  },
  // A start costs one list and one call; a turn with nothing to do costs one list.
  F8: {
    ...UNHARMED,
    async check(scene) {
      const ours = (sent: ScheduleScene["sent"]) =>
        sent.filter((one) => one.headers["authorization"] === `Bearer ${RUNPOD_KEY}`)
          .map((one) => `${one.method} ${one.path}`);
      assert.deepEqual(ours(scene.sent), ["GET /v2/pods", `POST /v2/pods/${scene.pod}/action`]);
      const { requests } = scene.world.runpod;
      const before = requests.length;
      scene.world.clock.advance(10_000);
      await scene.world.app.jobs.schedule.turn();
      assert.deepEqual(ours(requests.slice(before)), ["GET /v2/pods"]);
    },
  },
  // Pods of other people in the account are nobody's business here, whatever state they are in.
  F21: {
    ...UNHARMED,
    prepare({ world }) {
      const { pods } = world.runpod;
      pods.addForeign({ name: "theirs-up" });
      pods.addForeign({ name: "theirs-down", stopped: true });
      pods.addForeign({ name: "theirs-cluster", cluster: true });
    },
    finally({ world, sent }) {
      const theirs = world.runpod.pods.list().filter((pod) => !pod.ours);
      assert.deepEqual(theirs.map((pod) => [pod.name, pod.phase, pod.containerStarts]), [
        ["theirs-up", "up", 1],
        ["theirs-down", "exited", 1],
        ["theirs-cluster", "up", 1],
      ]);
      assert.ok(!sent.some((one) => theirs.some((pod) => one.path.includes(pod.id))), "they are never asked for");
    },
  },
  // A pod that was deleted in the console ends its session, with the reason; nothing is asked of it for ever.
  F22: {
    step: "stop",
    prepare: ({ world, pod }) => world.runpod.pods.deleteOutside(pod),
    during: { asked: "stop", session: "running started", error: /RunPod answered 404: pod not found/, up: false },
    after: { asked: "", session: "failed started finished", error: /RunPod no longer has the pod/, up: false },
    ends: "failed started finished",
    events: ["session.failed", "pod.failed", "session.failed"],
    attention: ["gone"],
    pods: 0,
  },
  // The fresh pod gets the env of the old one, and nobody else sees it.
  F23: {
    ...FRESH,
    async check({ world }) {
      const fresh = world.runpod.pods.list().find((pod) => pod.containerStarts === 1 && pod.phase === "up")!;
      assert.equal(fresh.env["WORD"], ENV_VALUE);
      for (const path of ["pods", "attention", "audit", "events", "sessions"]) {
        const answer = await world.call("GET", `${ORG}/${path}`, { as: "officer" });
        assert.equal(answer.status, 200);
        assert.ok(!answer.text.includes(ENV_VALUE), path);
      }
    },
  },
  // The pod that was replaced is terminated once: the empty 204 and the 404 after it are success.
  F25: {
    ...FRESH,
    async finally(scene) {
      const deletes = scene.sent.filter((one) => one.method === "DELETE");
      assert.deepEqual(deletes.map((one) => [one.path, one.status]), [[`/v2/pods/${scene.pod}`, 204]]);
      assert.equal((await raw(scene, "DELETE", `/v2/pods/${scene.pod}`)).status, 404);
      const told = "select outcome from audit_log where pod_id = ? and details ->> 'action' = 'terminate'";
      assert.deepEqual(scene.world.db.all(told, scene.pod).map((row) => ({ ...row })), [{ outcome: "ok" }]);
    },
  },
  F30: keepsItsVolume(),
  // The catalog may say what it likes: the GPU is asked for by the id the old pod has, and RunPod's refusal counts.
  F35: {
    ...freshRefused(/A fresh pod in its place was refused too: .*no longer any instances available/),
    prepare({ world, pod }) {
      const id = world.runpod.pods.get(pod).gpu!.id;
      const type = world.runpod.catalog.gpus.find((one) => one.id === id)!;
      const { stock } = type;
      type.stock = "NONE";
      return () => void (type.stock = stock);
    },
    finally(scene) {
      const gpus = bodies(scene, "/v2/pods").map((body) => body["gpu"]);
      const { id, count } = scene.world.runpod.pods.list()[0]!.gpu!;
      assert.deepEqual(gpus, [{ id, count }, { id, count }]);
      assert.deepEqual(requests(scene.world, "GET", /catalog/), []);
      assert.ok(!scene.sent.some((one) => one.path.includes("catalog")));
    },
  },
  // A CPU pod has no GPU to lose, however odd its memory is.
  F36: {
    ...UNHARMED,
    pod: { cpu_flavor: "cpu5c", vcpu_count: 2 },
    async check(scene) {
      const { cpu, gpu } = JSON.parse((await raw(scene, "GET", `/v2/pods/${scene.pod}`)).text);
      assert.deepEqual([cpu.id, gpu], ["cpu5c", undefined]);
      const row = scene.world.db.get<{ machine: string; gpu_count: number | null }>("select * from compute_pods")!;
      assert.deepEqual([JSON.parse(row.machine).cpuTypeId, row.gpu_count], ["cpu5c", null]);
    },
  },
  // After the stop the volume costs on, as RunPod's own bill says.
  F37: {
    ...UNHARMED,
    pod: VOLUME_POD,
    async finally(scene) {
      const { world } = scene;
      world.clock.advance(60 * 60_000);
      await world.call("GET", `${ORG}/pods`, { as: "officer" });
      const { records } = JSON.parse((await raw(scene, "GET", "/v2/billing/pods?bucketSize=hour")).text);
      const last = records.at(-1);
      assert.ok(last.diskAmount > 0 && last.gpuAmount === 0, "the last hour has only a disk amount");
      const own = (await world.call("GET", `${ORG}/spend`, { as: "officer" })).json;
      const billed = world.runpod.meter.billed();
      assert.ok(own.total.storage_amount > 0);
      assert.ok(
        Math.abs(own.total.amount - billed) <= own.total.unsure + billed / 100,
        `${own.total.amount} ${billed}`,
      );
    },
  },
};

/** A session's stop and start clear the container, never the volume: the pod goes on where it was. */
function keepsItsVolume(): ScheduleCase {
  const marks = new Map<string, { container: string; volume: string | null }>();
  return {
    ...UNHARMED,
    pod: VOLUME_POD,
    prepare({ world, pod }) {
      const fake = world.runpod.pods.get(pod);
      marks.set(pod, { container: fake.containerMark, volume: fake.volumeMark });
    },
    finally({ world, pod }) {
      const [fake, before] = [world.runpod.pods.get(pod), marks.get(pod)!];
      assert.notEqual(fake.containerMark, before.container);
      assert.ok(before.volume !== null);
      assert.equal(fake.volumeMark, before.volume);
    },
  };
}
