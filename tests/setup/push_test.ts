/** The set-up of a pod of another image, on the real sshd, and what is left of it when it is cut off. */
import assert from "node:assert/strict";
import { DROP_IN } from "../../server/setup/look.ts";
import { PUSH_STEPS, pushSetup } from "../../server/setup/push.ts";
import { planSetup } from "../../server/setup/plan.ts";
import { CA_FILE, KRL_FILE } from "../../server/setup/trust.ts";
import { eventually } from "../demo/pods_support.ts";
import { ignoreScene } from "../presence/scene.ts";
import { type SetupScene, withSetupScene } from "./scene.ts";

class Cut extends Error {}

/** Who must be let in at any moment. */
async function openToBoth(scene: SetupScene, when: string): Promise<void> {
  const [backend, member] = await Promise.all([scene.backend("echo root"), scene.member("exit 0")]);
  assert.deepEqual([backend.code, backend.out], [0, "root\n"], `the backend key, ${when}`);
  assert.equal(member.code, 0, `a member, ${when}: ${member.err}`);
}

Deno.test({
  name: "pushSetup gives a pod of the original image the rules of ours, and once per start is enough",
  ignore: ignoreScene,
  fn: () =>
    withSetupScene("original", async (scene) => {
      const banner = await scene.member("echo $((40 + 2))");
      assert.doesNotMatch(banner.out, /^42$/m, "the original image runs no commands");
      const parts = await scene.parts();
      assert.equal(await pushSetup(parts), null);
      await openToBoth(scene, "after the set-up");
      assert.equal((await scene.member("echo $((40 + 2))")).out, "42\n");
      const { out } = await scene.backend(
        `cat ${KRL_FILE} | wc -c; ls /run/godfather/connections | wc -l; ls /run/orgpods-setup`,
      );
      assert.match(out, /^\d{2,}\n[1-9]\d*\n/);
      assert.doesNotMatch(out, /^(key|watch)/m, "no key and no watch is left");
      assert.deepEqual(planSetup(await scene.facts(), parts.dropIn.sha256), { kind: "push", isDone: true });
    }),
});

Deno.test({
  name:
    "pushSetup that is cut off before or within any step leaves the pod open to the server and to members, also once the watch has been",
  ignore: ignoreScene,
  fn: () =>
    withSetupScene("original", async (scene) => {
      for (const step of [...PUSH_STEPS, "end"] as const) {
        const stays = step === "end";
        const parts = await scene.parts({
          // What is to stay must be proved before the watch is over, also on a slow machine.
          ...(stays ? {} : { takeBackAfterS: 1 }),
          before: (one) => {
            if (one === step) throw new Cut();
          },
        });
        await assert.rejects(async () => {
          await pushSetup(parts);
          throw new Cut();
        }, Cut);
        scene.cut();
        await openToBoth(scene, `cut before "${step}"`);
        await eventually(`the watch has been, cut before "${step}"`, async () => {
          const { out } = await scene.backend(`ls ${DROP_IN} /run/orgpods-setup/watch 2>/dev/null`);
          return out === (stays ? `${DROP_IN}\n` : "");
        });
        await openToBoth(scene, `cut before "${step}", after the watch`);
      }
    }),
});

Deno.test({
  name: "pushSetup takes everything back when a login with a certificate does not work under it",
  ignore: ignoreScene,
  fn: () =>
    withSetupScene("original", async (scene) => {
      const parts = await scene.parts();
      const broken = parts.files.filter((file) => !file.path.endsWith("/principals"));
      assert.equal(
        await pushSetup({ ...parts, files: broken }),
        "a certificate of the organization is not let in with them",
      );
      assert.equal((await scene.backend(`ls ${DROP_IN} 2>/dev/null`)).out, "");
      await openToBoth(scene, "after it was taken back");
    }),
});

Deno.test({
  name:
    "pushSetup changes nothing about who comes in when sshd's settings are broken by its officers, or include no drop-ins",
  ignore: ignoreScene,
  fn: () =>
    withSetupScene("original", async (scene) => {
      await scene.backend("echo 'NoSuchSetting yes' >>/etc/ssh/sshd_config");
      const parts = await scene.parts();
      assert.match(String(await pushSetup(parts)), /^its SSH server refuses the settings: .*NoSuchSetting/);
      await openToBoth(scene, "with broken settings");
      await scene.backend("sed -i '/NoSuchSetting/d; /^Include/d' /etc/ssh/sshd_config");
      await scene.backend(`cat /etc/ssh/sshd_config.d/godfather.conf >>/etc/ssh/sshd_config`);
      const failure = await pushSetup(await scene.parts());
      assert.match(String(failure), /^its SSH server keeps another setting \(/);
      assert.equal((await scene.backend(`ls ${DROP_IN} 2>/dev/null`)).out, "");
      await openToBoth(scene, "without drop-ins");
    }),
});

Deno.test({
  name: "pushSetup says that the pod's disk is full, and leaves what was there",
  ignore: ignoreScene,
  fn: () =>
    withSetupScene("original", async (scene) => {
      const ca = (await scene.backend(`cat ${CA_FILE}`)).out;
      await scene.backend(
        "head -c 2G /dev/zero >/root/fill 2>/dev/null; head -c 1M /dev/zero >/etc/fill 2>/dev/null; true",
      );
      assert.equal(await pushSetup(await scene.parts()), `its disk is full (${KRL_FILE})`);
      assert.equal((await scene.backend(`cat ${CA_FILE}`)).out, ca);
      await scene.backend("rm -f /root/fill /etc/fill");
      await openToBoth(scene, "after the disk was full");
      assert.equal(await pushSetup(await scene.parts()), null);
    }),
});

Deno.test({
  name: "pushSetup after one that was cut goes back to what was there before both, not to what nobody proved",
  ignore: ignoreScene,
  fn: () =>
    withSetupScene("original", async (scene) => {
      const cut = await scene.parts({
        before: (step) => {
          if (step === "log in") throw new Cut();
        },
      });
      await assert.rejects(pushSetup(cut), Cut);
      const parts = await scene.parts();
      assert.equal(
        await pushSetup({ ...parts, tryCertificate: () => Promise.resolve("it is not let in") }),
        "it is not let in",
      );
      assert.equal((await scene.backend(`ls ${DROP_IN} 2>/dev/null`)).out, "");
      await openToBoth(scene, "after both");
      assert.equal(await pushSetup(await scene.parts()), null);
      const again = await scene.parts();
      assert.equal(
        await pushSetup({ ...again, tryCertificate: () => Promise.resolve("it is not let in") }),
        "it is not let in",
      );
      assert.equal((await scene.backend(`ls ${DROP_IN}`)).out, `${DROP_IN}\n`, "what was proved stays");
    }),
});

Deno.test({
  name: "pushSetup is not done when the pod took the settings back while they were being proved",
  ignore: ignoreScene,
  fn: () =>
    withSetupScene("original", async (scene) => {
      const parts = await scene.parts({
        before: async (step) => {
          if (step === "confirm") await scene.backend(". /run/orgpods-setup/take-back");
        },
      });
      assert.match(String(await pushSetup(parts)), /took the settings back before they were proved/);
      assert.equal((await scene.backend("cat /run/orgpods-setup/confirmed 2>/dev/null")).out, "");
      assert.deepEqual(planSetup(await scene.facts(), parts.dropIn.sha256), { kind: "push", isDone: false });
    }),
});
