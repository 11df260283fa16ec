/**
 * The server is killed between any two steps of a removal from a pod with a real sshd, and started again: it goes on by
 * itself, ends what was to end and nothing else, and tells once what was asked for once.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { MEMBER, OFFICER } from "../../server/demo/people.ts";
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import { silentLog } from "../../server/log.ts";
import { eventually, run, sshOptions, withFolder, withHost } from "../demo/pods_support.ts";
import { ignoreScene } from "../presence/scene.ts";
import { type KillScene, withKillScene } from "../support/kill_scene.ts";
import { must, untilTrue } from "../support/server_process.ts";
import { newKey, publicLineOf, saveCertificate } from "../support/ssh_client.ts";

interface Removal {
  readonly state: "open" | "done";
  readonly tried_at: string | null;
  readonly report: string | null;
  readonly left: string | null;
}

/** Somebody with the real ssh: a session that runs, and logins beside it. */
interface Person {
  /** With a new certificate. */
  begin(): Promise<void>;
  isOn(): boolean;
  /** The exit code of one more login. */
  login(): Promise<number>;
  end(): Promise<void>;
}

async function personOf(scene: KillScene, folder: string, podId: string, discordId: string): Promise<Person> {
  const call = await scene.callAs(discordId);
  const key = await newKey(folder, discordId);
  const public_key = await publicLineOf(key);
  let to: string[] = [];
  let child: Deno.ChildProcess | null = null;
  let isOn = false;
  const end = async () => {
    if (isOn) child?.kill("SIGKILL");
    await child?.status;
  };
  return {
    async begin() {
      await end();
      const answer = await untilTrue("a certificate is given", async () => {
        const one = await call("POST", `/me/pods/${podId}/connect`, { public_key });
        return one.status === 200 ? one : null;
      });
      const { ssh_info: at } = answer.json;
      await saveCertificate(key, at.certificate);
      to = [...sshOptions(at, key), `root@${at.host}`];
      assert.equal((await run("ssh", [...to, "true"])).code, 0, "they are let in");
      const started = new Deno.Command("ssh", {
        args: [...to, "echo on; exec sleep 600"],
        stdin: "null",
        stdout: "piped",
        stderr: "null",
      }).spawn();
      child = started;
      isOn = true;
      void started.status.then(() => void (isOn = child === started ? false : isOn));
      const reader = started.stdout.getReader();
      assert.equal((await reader.read()).done, false);
      await reader.cancel();
    },
    isOn: () => isOn,
    login: async () => (await run("ssh", [...to, "true"])).code,
    end,
  };
}

Deno.test({
  name: "serve finishes a removal when it is killed at any step of it, and does nothing of it twice that does harm",
  ignore: ignoreScene,
  fn: () =>
    withFolder(async (folder) => {
      const host = createSshdHost({ folder: join(folder, "pods"), flavour: "orgpods", log: silentLog });
      await withHost(host, () =>
        withKillScene(async (scene) => {
          const body = { name: "lab", use_cpu_only: true, is_public: true };
          const id: string = (await must(scene.call("POST", "/pods", body))).json.pod.id;
          const member = await personOf(scene, folder, id, MEMBER.id);
          const officer = await personOf(scene, folder, id, OFFICER.id);
          const path = `/pods/${id}/members/${MEMBER.id}/disconnect`;
          const last = async (): Promise<Removal | undefined> =>
            (await must(scene.call("GET", "/removals"))).json.removals[0];
          const ended = async (when: string) => {
            await eventually(`their session has ended, ${when}`, () => Promise.resolve(!member.isOn()));
            assert.equal(await member.login(), 255, `they are refused, ${when}`);
            assert.equal(officer.isOn(), true, `the officer is still on, ${when}`);
            assert.equal(await officer.login(), 0, when);
          };
          try {
            await officer.begin();
            for (const step of ["stored", "delivered", "ended"] as const) {
              // Let in again while the removal before waits for its second look, which must leave this session alone.
              await member.begin();
              await scene.killedAt(step, "POST", path, {});
              await ended(`killed at "${step}"`);
              await untilTrue("a look is stored", async () => {
                const removal = await last();
                return removal !== undefined && removal.tried_at !== null && removal.left === null;
              });
            }
            await scene.killedWhile("unsettled", null, () => Promise.resolve());
            await ended('killed at "unsettled"');
            const removal = await untilTrue("it is settled", async () => {
              const one = await last();
              return one?.state === "done" ? one : null;
            });
            assert.match(removal.report!, /^Their certificates are refused on the pod\. /);
            const { removals } = (await must(scene.call("GET", "/removals"))).json;
            assert.equal(removals.length, 1, "one that is open is gone on with");
            const { events } = (await must(scene.call("GET", "/events"))).json;
            assert.equal(events.filter((one: { kind: string }) => one.kind === "access.ended").length, 3);
            const audit = (await scene.newAudit()).filter((row) => "access_ended" in row.details);
            assert.equal(audit.length, 3);
            // And nothing ends them any more.
            await member.begin();
            assert.equal(await member.login(), 0);
          } finally {
            await member.end();
            await officer.end();
          }
        }, { podHost: host }));
    }),
});
