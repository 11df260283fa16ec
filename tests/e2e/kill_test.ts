/**
 * The server is killed between any two lines of a create, start, stop and terminate, and started again. RunPod must have
 * been asked at most once for what costs money, and officers must see every pod that it holds.
 */
import assert from "node:assert/strict";
import type { RecordedRequest } from "../../server/demo/runpod/mod.ts";
import { type KillScene, withKillScene } from "../support/kill_scene.ts";
import type { Step } from "../support/kill_steps.ts";
import { must, untilTrue } from "../support/server_process.ts";

interface Cut {
  readonly name: string;
  readonly step: Step;
  /** What RunPod does with the request before its answer is lost. */
  readonly fault?: { readonly fault: string; readonly variant: string; readonly ms?: number };
}

/** How often RunPod heard a create with this name. */
const createsOf = ({ standins }: KillScene, name: string): number =>
  standins.runpod.requests.filter((request: RecordedRequest) =>
    request.method === "POST" && request.path === "/v2/pods" &&
    (request.body as { name: string }).name.startsWith(`${name}-demo-`)
  ).length;

const podsNamed = ({ standins }: KillScene, name: string) =>
  standins.runpod.pods.list().filter((pod) => pod.name.startsWith(`${name}-demo-`));

const podRequest = (name: string) => ({ name, use_cpu_only: true, env: { WORD: "of no interest" } });

/** Waits until the settler has had two turns since now, by the list calls it makes for an open create. */
async function listedTwice({ standins }: KillScene): Promise<void> {
  const lists = () => standins.runpod.requests.filter((r) => r.method === "GET" && r.path === "/v2/pods").length;
  const before = lists();
  await untilTrue("the settler looks at RunPod's list twice", () => lists() >= before + 2);
}

Deno.test("serve makes no pod and says so when it is killed before RunPod is asked for one", async (t) => {
  await withKillScene(async (scene) => {
    await t.step("saved", async () => {
      await scene.killedAt("saved", "POST", "/pods", podRequest("saved"));
      assert.deepEqual(await scene.attention(), [], "a create that was certainly never sent needs nobody's attention");
      assert.equal(await scene.podNamed("saved"), undefined);
      assert.equal(createsOf(scene, "saved"), 0);
      const audit = await scene.newAudit();
      assert.deepEqual(audit.map((row) => [row.action, row.outcome]), [[
        "POST /api/compute/:org/pods",
        "internal_error",
      ]]);
      await must(scene.call("POST", "/pods", podRequest("saved")));
      assert.equal(createsOf(scene, "saved"), 1, "the name is free again");
      await scene.newAudit();
    });

    const lost: Cut[] = [
      { name: "unsent", step: "sent" },
      { name: "unmade", step: "unanswered", fault: { fault: "F14", variant: "cut" } },
    ];
    for (const { name, step, fault } of lost) {
      await t.step(name, async () => {
        if (fault) scene.standins.runpod.faults.on({ ...fault, times: 1 });
        await scene.killedAt(step, "POST", "/pods", podRequest(name));
        const asked = fault ? 1 : 0;
        assert.equal(createsOf(scene, name), asked);
        const [view, ...more] = await scene.attention();
        assert.deepEqual([view?.kind, view?.name, more], ["create_unsettled", name, []]);
        const again = await scene.call("POST", "/pods", podRequest(name));
        assert.deepEqual([again.status, again.json.code, again.json.attention_id], [409, "create_pending", view!.id]);
        await listedTwice(scene);
        const searched = await untilTrue(
          "the search is said to have found nothing",
          async () => (await scene.attention()).find((one) => one.what.includes("shows no pod")),
        );
        assert.equal(searched.id, view!.id);
        assert.deepEqual(await scene.newAudit(), [], "nothing is known, so nothing is told");
        await must(scene.call("POST", `/attention/${view!.id}`, { action: "forget" }));
        assert.deepEqual(await scene.attention(), []);
        assert.deepEqual([createsOf(scene, name), podsNamed(scene, name).length], [asked, 0]);
        assert.equal(await scene.podNamed(name), undefined);
        await scene.newAudit();
      });
    }
  });
});

Deno.test("serve finds the pod again when it is killed after RunPod made one", async (t) => {
  await withKillScene(async (scene) => {
    const cuts: Cut[] = [
      { name: "made", step: "unanswered", fault: { fault: "F13", variant: "cut", ms: 0 } },
      { name: "made-late", step: "unanswered", fault: { fault: "F13", variant: "cut", ms: 3_000 } },
      { name: "answered", step: "answered" },
      { name: "storing", step: "storing" },
      { name: "stored", step: "stored" },
    ];
    for (const { name, step, fault } of cuts) {
      await t.step(name, async () => {
        if (fault) scene.standins.runpod.faults.on({ ...fault, times: 1 });
        const key = { "idempotency-key": `once-${name}` };
        await scene.killedAt(step, "POST", "/pods", podRequest(name), key);
        await scene.nothingUnseen();
        const pod = await untilTrue("the pod is in the list", () => scene.podNamed(name));
        const again = await must(scene.call("POST", "/pods", podRequest(name), key));
        assert.equal(again.json.pod.id, pod.id, "the same request again gets the same pod");
        const held = podsNamed(scene, name);
        assert.deepEqual([createsOf(scene, name), held.map((one) => one.id)], [1, [pod.id]]);
        assert.deepEqual(await scene.attention(), []);
        const audit = await scene.newAudit();
        assert.deepEqual(
          audit.map((row) => [row.action, row.pod_id, row.outcome]),
          [["POST /api/compute/:org/pods", pod.id, "created"]],
        );
        await must(scene.call("POST", `/pods/${pod.id}/action`, { action: "terminate" }));
        assert.equal(podsNamed(scene, name).length, 0);
        await scene.newAudit();
      });
    }
  });
});

const CUTS: readonly (Cut & { readonly done: boolean })[] = [
  { name: "saved", step: "saved", done: false },
  { name: "unsent", step: "sent", done: false },
  { name: "not-done", step: "unanswered", fault: { fault: "F34", variant: "refused-like" }, done: false },
  { name: "done", step: "unanswered", fault: { fault: "F34", variant: "cut" }, done: true },
  { name: "answered", step: "answered", done: true },
  { name: "storing", step: "storing", done: true },
  { name: "stored", step: "stored", done: true },
];

/** How often RunPod heard this action about this pod. */
const actionsOn = ({ standins }: KillScene, id: string, action: string): number =>
  standins.runpod.requests.filter(({ method, path, body }: RecordedRequest) =>
    action === "terminate"
      ? method === "DELETE" && path === `/v2/pods/${id}`
      : method === "POST" && path === `/v2/pods/${id}/action` && (body as { action: string }).action === action
  ).length;

async function cutAction(scene: KillScene, { step, fault }: Cut, action: string, id: string): Promise<void> {
  const on = action === "terminate" ? `DELETE /pods/${id}` : `POST /pods/${id}/action`;
  if (fault) scene.standins.runpod.faults.on({ ...fault, on, times: 1 });
  await scene.newAudit();
  await scene.killedAt(step, "POST", `/pods/${id}/action`, { action });
  await scene.nothingUnseen();
}

const outcomes = async (scene: KillScene, id: string, action: string) =>
  (await scene.newAudit()).map((row) => {
    assert.deepEqual([row.action, row.pod_id], ["POST /api/compute/:org/pods/:id/action", id]);
    assert.equal(row.details.action, action);
    return row.outcome;
  });

Deno.test("serve finishes a terminate when it is killed at any step of it", async (t) => {
  await withKillScene(async (scene) => {
    for (const cut of CUTS) {
      await t.step(cut.name, async () => {
        const id: string = (await must(scene.call("POST", "/pods", podRequest(cut.name)))).json.pod.id;
        await cutAction(scene, cut, "terminate", id);
        assert.deepEqual(await scene.settled(), []);
        assert.equal(await scene.podNamed(cut.name), undefined);
        assert.deepEqual(podsNamed(scene, cut.name), [], "nothing bills on");
        assert.deepEqual(await outcomes(scene, id, "terminate"), ["ok"]);
        assert.ok(actionsOn(scene, id, "terminate") <= 3);
      });
    }
  });
});

Deno.test("serve finishes a stop when it is killed at any step of it", async (t) => {
  await withKillScene(async (scene) => {
    const id: string = (await must(scene.call("POST", "/pods", podRequest("stops")))).json.pod.id;
    const { pods } = scene.standins.runpod;
    for (const cut of CUTS) {
      await t.step(cut.name, async () => {
        const asked = actionsOn(scene, id, "stop");
        await cutAction(scene, cut, "stop", id);
        assert.deepEqual(await scene.settled(), []);
        assert.equal((await scene.podNamed("stops"))?.status, "EXITED");
        assert.equal(pods.get(id).phase, "exited");
        assert.deepEqual(await outcomes(scene, id, "stop"), ["ok"]);
        if (cut.done) assert.equal(actionsOn(scene, id, "stop"), asked + 1, "what was done is not done again");
        pods.start(id);
        assert.equal((await must(scene.call("GET", `/pods/${id}`))).json.pod.status, "RUNNING");
      });
    }
  });
});

Deno.test("serve never starts a pod by itself when it is killed at any step of a start", async (t) => {
  await withKillScene(async (scene) => {
    const id: string = (await must(scene.call("POST", "/pods", podRequest("starts")))).json.pod.id;
    const { pods } = scene.standins.runpod;
    for (const cut of CUTS) {
      await t.step(cut.name, async () => {
        if (pods.get(id).phase === "up") await must(scene.call("POST", `/pods/${id}/action`, { action: "stop" }));
        const asked = actionsOn(scene, id, "start");
        await cutAction(scene, cut, "start", id);
        const views = await scene.settled();
        assert.equal(actionsOn(scene, id, "start"), asked + (["saved", "sent"].includes(cut.step) ? 0 : 1));
        assert.equal(pods.get(id).phase, cut.done ? "up" : "exited");
        assert.equal((await scene.podNamed("starts"))?.status, cut.done ? "RUNNING" : "EXITED");
        const [outcome, ...more] = await outcomes(scene, id, "start");
        assert.deepEqual(more, []);
        if (cut.done) {
          assert.deepEqual([outcome, views], ["ok", []]);
          return;
        }
        assert.notEqual(outcome, "ok");
        assert.deepEqual(views.map((view) => [view.kind, view.pod_id]), [["action_not_done", id]]);
        await must(scene.call("POST", `/attention/${views[0]!.id}`, { action: "forget" }));
        assert.deepEqual(await scene.attention(), []);
      });
    }
  });
});
