/**
 * The server is killed between any two lines of a rotation and started again. The rotation must go on by itself, with one
 * change of an env at most for each that is known to have been made.
 */
import assert from "node:assert/strict";
import type { RecordedRequest } from "../../server/demo/runpod/mod.ts";
import type { KeyView, RotationView } from "../../server/key_rotation/status.ts";
import { type KillScene, withKillScene } from "../support/kill_scene.ts";
import type { Step } from "../support/kill_steps.ts";
import { must, untilTrue } from "../support/server_process.ts";

const KEYS = "/api/operator/orgs/demo/keys";

const keys = async (scene: KillScene): Promise<KeyView[]> => (await must(scene.operator("GET", KEYS))).json.keys;

const rotation = async (scene: KillScene): Promise<RotationView | undefined> =>
  (await must(scene.operator("GET", "/api/operator/orgs/demo/rotations"))).json.rotations[0];

const rotate = (scene: KillScene) => scene.operator("POST", `${KEYS}/backend`);

/** The rotation that is under way is finished, its old private half is gone, and the env has the present key. */
async function finished(scene: KillScene, podId: string): Promise<void> {
  await untilTrue("the rotation is finished", async () => (await rotation(scene))?.state === "done");
  const backend = (await keys(scene)).filter((key) => key.kind === "backend");
  assert.deepEqual(backend.map((key) => key.usable), backend.map((key) => key.state === "current"));
  const line = backend.find((key) => key.state === "current")!.public_key;
  assert.equal(scene.standins.runpod.pods.get(podId).env["GODFATHER_SSH_PUBLIC_KEY"], line);
  assert.equal(scene.standins.runpod.pods.get(podId).env["WORD"], "stays");
}

const changesSent = ({ standins }: KillScene): number =>
  standins.runpod.requests.filter((request: RecordedRequest) => request.method === "PATCH").length;

const keyRows = async (scene: KillScene) =>
  (await scene.newAudit()).filter((row) => row.action === "KEYS").map((row) => [
    row.outcome,
    row.details["finished"] === true ? "finish" : "env",
  ]);

async function stoppedPod(scene: KillScene): Promise<string> {
  const body = { name: "stays", use_cpu_only: true, env: { WORD: "stays" } };
  const id: string = (await must(scene.call("POST", "/pods", body))).json.pod.id;
  await must(scene.call("POST", `/pods/${id}/action`, { action: "stop" }));
  await scene.newAudit();
  return id;
}

interface Cut {
  readonly step: Step;
  readonly action: "rotate" | "env" | "finish";
  readonly fault?: { readonly fault: string; readonly variant: string };
  /** Changes of the env that RunPod is sent in all. */
  readonly sent: number;
}

const CUTS: readonly Cut[] = [
  { step: "stored", action: "rotate", sent: 1 },
  { step: "sent", action: "env", sent: 1 },
  { step: "unanswered", action: "env", fault: { fault: "F34", variant: "refused-like" }, sent: 2 },
  { step: "unanswered", action: "env", fault: { fault: "F34", variant: "cut" }, sent: 1 },
  { step: "answered", action: "env", sent: 1 },
  { step: "storing", action: "env", sent: 1 },
  { step: "stored", action: "env", sent: 1 },
  { step: "storing", action: "finish", sent: 1 },
  { step: "stored", action: "finish", sent: 1 },
];

Deno.test("a rotation goes on by itself when the server is killed at any step of it", async (t) => {
  await withKillScene(async (scene) => {
    const id = await stoppedPod(scene);
    for (const { step, action, fault, sent } of CUTS) {
      await t.step(`${step} ${action}${fault === undefined ? "" : ` ${fault.variant}`}`, async () => {
        const before = changesSent(scene);
        if (fault) scene.standins.runpod.faults.on({ ...fault, on: `PATCH /pods/${id}`, times: 1 });
        await scene.killedWhile(step, action, () => rotate(scene));
        await finished(scene, id);
        assert.equal(changesSent(scene), before + sent);
        const rows = await keyRows(scene);
        assert.deepEqual(rows.filter(([outcome]) => outcome === "ok"), [["ok", "env"], ["ok", "finish"]]);
        const lost = action === "env" && (step === "sent" || fault?.variant === "refused-like");
        assert.equal(rows.length, lost ? 3 : 2, "that it was not made is written down");
      });
    }
  });
});

Deno.test("a rotation that was killed before it was written down never was", async () => {
  await withKillScene(async (scene) => {
    const id = await stoppedPod(scene);
    const before = await keys(scene);
    await scene.killedWhile("storing", "rotate", () => rotate(scene));
    assert.deepEqual(await keys(scene), before);
    assert.equal(await rotation(scene), undefined);
    assert.equal((await rotate(scene)).status, 202);
    await finished(scene, id);
  });
});
