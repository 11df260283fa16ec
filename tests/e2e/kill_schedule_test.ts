/**
 * The server is killed between any two lines of a scheduled start and stop, and started again: the next turns settle it.
 * The pod is started exactly once for its session and stopped exactly once after it, and each is told once.
 */
import assert from "node:assert/strict";
import { isoTime, MINUTE } from "../../server/clock.ts";
import type { RecordedRequest } from "../../server/demo/runpod/mod.ts";
import type { SessionView } from "../../server/schedule/session_view.ts";
import { type KillScene, withKillScene } from "../support/kill_scene.ts";
import type { Step } from "../support/kill_steps.ts";
import { must, untilTrue } from "../support/server_process.ts";

interface Cut {
  readonly name: string;
  readonly step: Step;
  /** What RunPod does with the call before its answer is lost. */
  readonly fault?: { readonly fault: string; readonly variant: string };
}

const NOT_DONE = { fault: "F34", variant: "refused-like" } as const;
const DONE = { fault: "F34", variant: "cut" } as const;

const CUTS: readonly Cut[] = [
  { name: "saved", step: "saved" },
  { name: "sent", step: "sent" },
  { name: "unanswered, not done", step: "unanswered", fault: NOT_DONE },
  { name: "unanswered, done", step: "unanswered", fault: DONE },
  { name: "answered", step: "answered" },
  { name: "storing", step: "storing" },
  { name: "stored", step: "stored" },
];
const START_CUTS: readonly Cut[] = [
  { name: "unmarked", step: "unmarked" },
  { name: "marked", step: "marked" },
  ...CUTS,
];

const inScene = (use: (scene: KillScene) => Promise<void>) => withKillScene(use, { turnMs: 200 });

/** How often RunPod heard this action about this pod. */
const heard = ({ standins }: KillScene, id: string, action: string): number =>
  standins.runpod.requests.filter(({ method, path, body }: RecordedRequest) =>
    method === "POST" && path === `/v2/pods/${id}/action` && (body as { action: string }).action === action
  ).length;

async function stoppedPod(scene: KillScene, body: Record<string, unknown>): Promise<string> {
  const id: string = (await must(scene.call("POST", "/pods", body))).json.pod.id;
  await must(scene.call("POST", `/pods/${id}/action`, { action: "stop" }));
  return id;
}

/** Adds a session that is on already. */
function addSession(scene: KillScene, id: string, more: Record<string, unknown> = {}): Promise<unknown> {
  const now = Date.now();
  const times = { start_at: isoTime(now - MINUTE), stop_at: isoTime(now + 60 * MINUTE) };
  return scene.call("POST", `/pods/${id}/sessions`, { ...times, ...more });
}

async function lastSession(scene: KillScene, id: string): Promise<SessionView> {
  return (await must(scene.call("GET", `/pods/${id}/sessions`))).json.sessions.at(-1);
}

const sessionIs = (scene: KillScene, id: string, state: string) =>
  untilTrue(`the session is ${state}`, async () => {
    const session = await lastSession(scene, id);
    return session?.state === state ? session : null;
  });

/** Deleting a session that runs lets it end now, so the next turn stops the pod. */
async function endSession(scene: KillScene, id: string): Promise<unknown> {
  const { id: session } = await lastSession(scene, id);
  return await scene.call("DELETE", `/pods/${id}/sessions/${session}`);
}

/** What happened since the last call of the function that this makes: events by kind, and what the schedule did. */
function newsOf(scene: KillScene): () => Promise<{ events: string[]; did: string[] }> {
  let last = 0;
  return async () => {
    const page = (await must(scene.call("GET", "/events"))).json.events as {
      id: number;
      kind: string;
      details: object;
    }[];
    const events = page.filter((one) => one.id > last).reverse();
    last = Math.max(last, ...page.map((one) => one.id));
    const audit = (await scene.newAudit()).filter((row) => row.action === "compute.schedule" && row.outcome === "ok");
    return {
      events: events.filter((one) => !JSON.stringify(one.details).includes("unreachable")).map((one) => one.kind),
      did: audit.map((row) => String(row.details["action"])),
    };
  };
}

/** What a start that did not happen leaves for the officers, although it was made up for. */
async function forgetNotDone(scene: KillScene): Promise<string[]> {
  const views = await scene.settled();
  for (const { id } of views) await must(scene.call("POST", `/attention/${id}`, { action: "forget" }));
  assert.deepEqual(await scene.attention(), []);
  return views.map((view) => view.kind);
}

Deno.test("serve starts a pod for its session exactly once when it is killed at any step of it", async (t) => {
  await inScene(async (scene) => {
    const id = await stoppedPod(scene, { name: "starts", use_cpu_only: true });
    const { faults, pods } = scene.standins.runpod;
    const news = newsOf(scene);
    for (const cut of START_CUTS) {
      await t.step(cut.name, async () => {
        await news();
        const [carriedOut, asked] = [pods.get(id).containerStarts, heard(scene, id, "start")];
        if (cut.fault) faults.on({ ...cut.fault, on: `POST /pods/${id}/action`, action: "start", times: 1 });
        await scene.killedWhile(cut.step, "start", () => addSession(scene, id));

        await sessionIs(scene, id, "running");
        assert.equal(pods.get(id).phase, "up");
        assert.equal((await scene.podNamed("starts"))?.status, "RUNNING");
        const wasLost = cut.fault === NOT_DONE;
        assert.equal(heard(scene, id, "start"), asked + (wasLost ? 2 : 1), "what was done is not asked for again");

        await endSession(scene, id);
        await sessionIs(scene, id, "done");
        assert.equal(pods.get(id).phase, "exited");
        assert.equal(pods.get(id).containerStarts, carriedOut + 1, "it was started once");
        const { events, did } = await news();
        assert.deepEqual(did, ["start", "stop"]);
        assert.deepEqual(events.filter((kind) => kind !== "pod.failed"), ["pod.started", "pod.stopped"]);
        const left = await forgetNotDone(scene);
        const isMadeUpFor = cut.step === "saved" || cut.step === "sent" || wasLost;
        assert.deepEqual(left, isMadeUpFor ? ["action_not_done"] : []);
      });
    }
  });
});

Deno.test("serve stops a pod after its session exactly once when it is killed at any step of it", async (t) => {
  await inScene(async (scene) => {
    const id = await stoppedPod(scene, { name: "stops", use_cpu_only: true });
    const { faults, pods } = scene.standins.runpod;
    const news = newsOf(scene);
    for (const cut of CUTS) {
      await t.step(cut.name, async () => {
        await addSession(scene, id);
        await sessionIs(scene, id, "running");
        await news();
        const [carriedOut, asked] = [pods.get(id).containerStarts, heard(scene, id, "stop")];
        if (cut.fault) faults.on({ ...cut.fault, on: `POST /pods/${id}/action`, action: "stop", times: 1 });
        await scene.killedWhile(cut.step, "stop", () => endSession(scene, id));

        const session = await sessionIs(scene, id, "done");
        assert.deepEqual([session.started, session.finished, session.error], [true, true, null]);
        assert.equal(pods.get(id).phase, "exited");
        assert.equal(heard(scene, id, "stop"), asked + (cut.fault === NOT_DONE ? 2 : 1));
        assert.equal(pods.get(id).containerStarts, carriedOut, "it is not started again");
        assert.deepEqual(await scene.settled(), []);
        assert.deepEqual(await news(), { events: ["pod.stopped"], did: ["stop"] });
      });
    }
  });
});

/** With the answer of the create, the end of the old pod is written down. */
const FRESH_CUTS: readonly (Cut & { readonly action?: string })[] = [
  { name: "saved", step: "saved" },
  { name: "sent", step: "sent" },
  { name: "unanswered", step: "unanswered", fault: { fault: "F13", variant: "cut" } },
  { name: "answered", step: "answered" },
  { name: "storing", step: "storing", action: "terminate" },
  { name: "stored", step: "stored", action: "terminate" },
];

Deno.test("serve puts one fresh pod in the place of another when it is killed at any step of it", async (t) => {
  await inScene(async (scene) => {
    const { runpod } = scene.standins;
    const made = { name: "fresh", cloud_type: "SECURE" };
    let id = await stoppedPod(scene, made);
    const held = () => runpod.pods.list().filter((pod) => pod.name.startsWith("fresh-demo-"));
    const creates = () => runpod.requests.filter((one) => one.method === "POST" && one.path === "/v2/pods").length;
    const news = newsOf(scene);
    for (const cut of FRESH_CUTS) {
      await t.step(cut.name, async () => {
        await news();
        const asked = creates();
        runpod.faults.on({ fault: "F27", variant: "problem", on: `POST /pods/${id}/action` });
        if (cut.fault) runpod.faults.on({ ...cut.fault, on: "POST /pods", times: 1 });
        await scene.killedWhile(
          cut.step,
          cut.action ?? "create",
          () => addSession(scene, id, { on_gpu_taken: "fresh_pod" }),
        );
        if (cut.step === "sent") {
          // Nobody knows that it never left: no second pod is made until an officer says so.
          const lost = await untilTrue(
            "the create is said to be open",
            async () => (await scene.attention()).find((view) => view.what.includes("shows no pod")),
          );
          assert.equal(creates(), asked);
          await must(scene.call("POST", `/attention/${lost.id}`, { action: "forget" }));
        }
        await sessionIs(scene, id, "running");
        await untilTrue("the old pod is terminated", () => held().length === 1);
        assert.equal(creates(), asked + 1, "one fresh pod was asked for");
        const fresh = held()[0]!;
        assert.notEqual(fresh.id, id);
        assert.deepEqual(await scene.podNamed("fresh").then((pod) => pod?.id), fresh.id);

        await endSession(scene, id);
        await sessionIs(scene, id, "done");
        assert.deepEqual(held().map((pod) => [pod.id, pod.phase, pod.containerStarts]), [[fresh.id, "exited", 1]]);
        assert.deepEqual(await scene.settled(), []);
        const { events } = await news();
        assert.deepEqual(events, ["pod.created", "pod.stopped"]);
        runpod.faults.clear();
        id = fresh.id;
      });
    }
  });
});
