/** What reconcile makes of the points of RunPod that always hold. */
import assert from "node:assert/strict";
import type { PodRow } from "../../db/stores/pods.ts";
import { caLinesOf } from "../../db/stores/revocations.ts";
import { attention, create, intentsOf, listed, ORG, refused, requests } from "../pods/support.ts";
import { ENV_VALUE } from "./fault_cases.ts";
import { SEEN } from "./fault_reconcile_cases.ts";
import { reconcile, type ReconcileCase, type ReconcileScene } from "./fault_reconcile_scene.ts";
import { raw } from "./fault_schedule_standing.ts";

const STAYS: ReconcileCase = { happens: "nothing", during: { status: "RUNNING" }, after: { status: "RUNNING" } };

const podRow = ({ world, pod }: ReconcileScene) =>
  world.db.get<PodRow>("select * from compute_pods where runpod_id = ?", pod)!;

/** The env of a pod that looks as if this org had made it. */
function ourEnv({ world }: ReconcileScene): Record<string, string> {
  return { GODFATHER_SSH_CA_PUBLIC_KEY: caLinesOf(world.db, 1)[0]!.line, WORD: ENV_VALUE };
}

/** By fault. */
export const STANDING_CASES: Readonly<Record<string, ReconcileCase>> = {
  // Why the list is an old one is told in RunPod's own words.
  F2: {
    ...STAYS,
    also: [{ fault: "F1", variant: "403" }],
    during: { status: "RUNNING", stale: true },
    async check({ world }) {
      const { warnings } = (await world.call("GET", `${ORG}/pods`, { as: "officer" })).json;
      assert.deepEqual(warnings, ["RunPod answered 403: access denied. These are the last known states."]);
    },
  },
  // The one body that reconcile sends, of a stop that is made up for, is taken.
  F3: {
    happens: "our stop",
    also: [{ fault: "F34", variant: "refused-like" }],
    during: { status: "RUNNING", stale: true, attention: ["action_unsettled"] },
    after: { status: "EXITED", events: ["pod.stopped"] },
    async finally(scene) {
      const taken = requests(scene.world, "POST", /action$/).filter((one) => one.status === 200);
      assert.deepEqual(taken.map((one) => one.body), [{ action: "stop" }]);
      const odd = await raw(scene, "POST", `/v2/pods/${scene.pod}/action`, { action: "stop", why: "idle" });
      assert.equal(odd.status, 422);
    },
  },
  // A create that breaks a rule is over: a pod of its name that shows up later is not taken for it.
  F4: {
    ...STAYS,
    async prepare({ world }) {
      const body = { name: "refused", cpu_flavor: "cpu3c", vcpu_count: 64 };
      refused(await create(world, body), 400, "runpod_refused", /cpu\.vcpuCount must be between 2 and 32/);
    },
    check(scene) {
      const { world } = scene;
      assert.equal(intentsOf(world).at(-1)!.state, "failed");
      const { runpod_name } = world.db.get<{ runpod_name: string }>(
        "select * from compute_pods where name = 'refused'",
      )!;
      world.runpod.pods.addForeign({ name: runpod_name, cpu: true, env: ourEnv(scene) });
    },
    after: { status: "RUNNING", events: ["pod.failed"], attention: ["orphan"] },
  },
  // Sizes are limited in requests, not in answers: a pod with a large env is read like any other.
  F5: {
    ...SEEN,
    prepare(scene) {
      const fake = scene.world.runpod.pods.get(scene.pod);
      fake.env = { ...fake.env, LARGE: "x".repeat(103_000) };
    },
    async check(scene) {
      const list = await raw(scene, "GET", "/v2/pods");
      assert.ok(list.text.length > 102_400);
      assert.equal((await raw(scene, "POST", "/v2/pods", { name: "x".repeat(103_000) })).status, 413);
    },
  },
  F6: {
    ...SEEN,
    finally({ sent }) {
      assert.ok(sent.length > 4, "there were calls");
      assert.deepEqual(sent.filter((one) => one.status !== 200).map((one) => `${one.method} ${one.path}`), []);
    },
  },
  // A turn with nothing open is one list call, however many pods there are.
  F8: {
    ...STAYS,
    async prepare({ world }) {
      for (const name of ["second", "third"]) assert.equal((await create(world, { name })).status, 201);
      world.db.run("delete from events");
    },
    async check({ world, sent }) {
      const before = sent.length;
      await reconcile(world, 70_000);
      assert.deepEqual(sent.slice(before).map((one) => `${one.method} ${one.path}`), ["GET /v2/pods"]);
    },
  },
  // Other people's pods are not ours, whatever they are called and whosever keys they carry.
  F21: {
    ...STAYS,
    prepare(scene) {
      const { runpod_name } = podRow(scene);
      const { pods } = scene.world.runpod;
      pods.addForeign({ name: "theirs" });
      pods.addForeign({ name: runpod_name, cpu: true });
      pods.addForeign({ name: "copy", cpu: true, env: { GODFATHER_SSH_CA_PUBLIC_KEY: "ssh-ed25519 AAAA other" } });
    },
    async finally({ world, pod }) {
      assert.deepEqual((await listed(world)).map((one) => one.id), [pod]);
      assert.deepEqual(world.runpod.pods.list().map((one) => one.phase), ["up", "up", "up", "up"]);
    },
  },
  // A pod that was moved has a new id: both are told, and the new one can be taken in the place of the old one.
  F22: {
    happens: "migrated",
    during: { status: "RUNNING", stale: true, events: ["pod.failed"], attention: ["orphan"] },
    after: {
      status: "GONE",
      trouble: "gone",
      events: ["pod.failed", "pod.failed"],
      external: ["gone"],
      attention: ["gone", "orphan"],
    },
    async finally({ world, pod }) {
      const orphan = (await attention(world)).find((entry) => entry.kind === "orphan");
      const path = `${ORG}/attention/${orphan.id}`;
      assert.equal((await world.call("POST", path, { as: "officer", body: { action: "adopt" } })).status, 200);
      await reconcile(world, 70_000);
      assert.deepEqual(await attention(world), []);
      const [moved, ...more] = await listed(world);
      assert.deepEqual([moved.status, moved.id === pod, more], ["RUNNING", false, []]);
    },
  },
  // RunPod shows the env in clear in every list; it is kept nowhere and shown to nobody.
  F23: {
    ...STAYS,
    happens: "our create",
    during: { status: "RUNNING", events: ["pod.created"] },
    after: { status: "RUNNING", events: ["pod.created"] },
    async check(scene) {
      assert.ok((await raw(scene, "GET", "/v2/pods")).text.includes(ENV_VALUE));
      for (const path of ["pods", "attention", "audit", "events", `pods/${scene.pod}`]) {
        const answer = await scene.world.call("GET", `${ORG}/${path}`, { as: "officer" });
        assert.equal(answer.status, 200);
        assert.ok(!answer.text.includes(ENV_VALUE), path);
      }
    },
  },
  // The answer of our terminate is lost: that the pod is in no list any more is our own doing.
  F25: {
    happens: "our terminate",
    also: [
      { fault: "F29", variant: "500-but-done", on: "DELETE /pods/{id}" },
      { fault: "F34", variant: "refused-like", on: "GET /pods/{id}" },
    ],
    during: { status: "RUNNING", stale: true, attention: ["action_unsettled"] },
    after: { status: "TERMINATED", events: ["pod.stopped"] },
    async finally(scene) {
      assert.deepEqual(await listed(scene.world), []);
      assert.equal((await raw(scene, "DELETE", `/v2/pods/${scene.pod}`)).status, 404);
    },
  },
  F30: restartedOutside(),
  F35: {
    ...SEEN,
    pod: { use_cpu_only: false, cloud_type: "SECURE" },
    finally(scene) {
      const machine = JSON.parse(podRow(scene).machine!) as { gpuTypeId: string };
      assert.equal(machine.gpuTypeId, scene.world.runpod.pods.get(scene.pod).gpu!.id);
      assert.deepEqual(requests(scene.world, "GET", /catalog/), []);
    },
  },
  // A CPU pod runs without a GPU, and nothing is wrong with that.
  F36: {
    ...STAYS,
    pod: { cpu_flavor: "cpu5c", vcpu_count: 2 },
    laterMs: 12 * 60_000,
    check(scene) {
      const { machine, gpu_count } = podRow(scene);
      assert.deepEqual([JSON.parse(machine!).cpuTypeId, gpu_count], ["cpu5c", null]);
    },
  },
  // A pod that was stopped outside costs its volume from then on; what nobody saw is told as unsure.
  F37: {
    ...SEEN,
    pod: { use_cpu_only: false, cloud_type: "SECURE", volume_in_gb: 10 },
    async finally(scene) {
      const { world } = scene;
      for (let turns = 0; turns < 12; turns++) await reconcile(world, 5 * 60_000);
      const { records } = JSON.parse((await raw(scene, "GET", "/v2/billing/pods?bucketSize=hour")).text);
      assert.ok(records.at(-1).diskAmount > 0);
      const { total } = (await world.call("GET", `${ORG}/spend`, { as: "officer" })).json;
      const billed = world.runpod.meter.billed();
      assert.ok(total.storage_amount > 0);
      assert.ok(Math.abs(total.amount - billed) <= total.unsure + billed / 100, `${total.amount} ${billed}`);
    },
  },
};

/** A restart clears the container with its host keys: what was known of the last start no longer counts. */
function restartedOutside(): ReconcileCase {
  const before = new Map<string, { key: string | null; mark: string }>();
  const told = { events: ["pod.started"], external: ["restarted"] };
  return {
    happens: "restarted",
    prepare(scene) {
      const mark = scene.world.runpod.pods.get(scene.pod).containerMark;
      before.set(scene.pod, { key: podRow(scene).start_key, mark });
    },
    during: { status: "RUNNING", ...told },
    after: { status: "RUNNING", ...told },
    check(scene) {
      const { key, mark } = before.get(scene.pod)!;
      assert.notEqual(scene.world.runpod.pods.get(scene.pod).containerMark, mark);
      assert.ok(key !== null);
      assert.notEqual(podRow(scene).start_key, key);
    },
  };
}
