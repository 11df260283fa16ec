/** Both keys are replaced under pods with people on them, while the server is killed again and again. */
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { untilTrue } from "../support/server_process.ts";
import { KEYS, type RotationScene, saveBackendKey, withRotationScene } from "./rotation_scene.ts";

const ignore = lacks("root", "sshd", "unshare", "setpriv", "useradd", "su", "ssh", "ssh-keygen", "ps");

/** A call that the death of the server may cut off. */
async function untilKilled(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

const isDone = async (scene: RotationScene) =>
  (await scene.rotation("backend")).state === "done" && (await scene.rotation("user_ca")).state === "done";

/** Every pod that runs has the present keys in its files, and no other of the org. */
const filesAreNew = (scene: RotationScene, ...names: string[]) =>
  untilTrue("the files of all pods have the present keys", async () => {
    const views = [...(await scene.rotation("backend")).pods, ...(await scene.rotation("user_ca")).pods];
    return views.filter((pod) => names.includes(pod.name)).every((pod) => pod.left === null);
  });

Deno.test({
  name:
    "a rotation of both keys over three pods locks nobody out at any moment, and in the end the old keys are refused",
  ignore,
  fn: () =>
    withRotationScene(async (scene) => {
      await scene.everybodyIn("a", "b", "c");
      const oldBackend = { key: await saveBackendKey(scene, "old-backend"), at: null as never };
      const held = { a: await scene.pass("a"), b: await scene.pass("b"), c: await scene.pass("c") };
      await scene.act("c", "stop");

      await scene.killedWhile("stored", "rotate", () => scene.operator("POST", `${KEYS}/backend`));
      await scene.everybodyIn("a", "b");

      // Killed when the files are on a pod and nothing of it is stored.
      await scene.arm("answered", "files");
      await untilKilled(scene.operator("POST", `${KEYS}/user_ca`));
      await scene.reborn();
      if ((await scene.rotation("user_ca")) === undefined) await scene.operator("POST", `${KEYS}/user_ca`);
      await scene.everybodyIn("a", "b");
      assert.ok(await scene.isLetIn(held.a, "a"), "a certificate of the old CA works as long as it is trusted");
      assert.ok(await scene.isLetIn(held.b, "b"));

      await untilTrue("the stopped pod has its new env", async () => (await scene.left("user_ca"))["c"] === null);
      const stopOnce = "Stop it once, for half a minute, so that its environment can be changed";
      assert.deepEqual(await scene.left("backend"), { a: stopOnce, b: stopOnce, c: null });
      assert.ok(!await isDone(scene));
      await scene.act("c", "start");
      await scene.everybodyIn("a", "b", "c");

      // A restart brings the old env back, and the files of a start are gone.
      await scene.act("a", "restart");
      await scene.act("b", "restart");
      await scene.everybodyIn("a", "b", "c");

      await scene.arm("answered", "env");
      await untilKilled(scene.act("a", "stop"));
      await scene.reborn();
      await untilTrue("the env of a is new", async () => (await scene.left("backend"))["a"] === null);
      await scene.everybodyIn("b", "c");
      await scene.act("a", "start");
      await scene.everybodyIn("a", "b", "c");

      await scene.arm("storing", "finish");
      await untilKilled(scene.act("b", "stop"));
      await scene.reborn();
      await untilTrue("both rotations are finished", () => isDone(scene));
      await scene.act("b", "start");
      await scene.everybodyIn("a", "b", "c");
      await filesAreNew(scene, "a", "b", "c");

      const oldOnesAreRefused = async () => {
        for (const name of ["a", "b", "c"] as const) {
          assert.ok(!await scene.isLetIn(oldBackend, name), `the old backend key on ${name}`);
          assert.ok(!await scene.isLetIn(held[name], name), `a certificate of the old CA on ${name}`);
        }
      };
      await oldOnesAreRefused();
      for (const name of ["a", "b", "c"]) await scene.act(name, "restart");
      await scene.everybodyIn("a", "b", "c");
      await filesAreNew(scene, "a", "b", "c");
      await oldOnesAreRefused();
    }),
});
