/** The list of pods and what needs attention in the real program, in a real terminal; what is done is looked up by the API. */
import assert from "node:assert/strict";
import { systemClock } from "../../server/clock.ts";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import { eventually } from "../support/world.ts";
import { ask, inAdmin, inPhoenix, PHOENIX, SIZES } from "./program.ts";
import { withOriginalPods, withServe } from "./serve_scene.ts";
import { sentence } from "./support.ts";
import { command, filter, openPod, scrollTo, untilFresh, untilGone } from "./terminal_steps.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The org's pods by their names, as the API tells them. */
async function podsOf(demo: DemoProcess) {
  // deno-lint-ignore no-explicit-any
  const pods: any[] = (await ask(demo, "GET", "/pods")).pods;
  return Object.fromEntries(pods.map((pod) => [pod.name, pod]));
}

Deno.test({
  name: "the list of pods shows what the API tells of each, the totals and since when, at three sizes, and is filtered",
  ignore: lacks("tmux"),
  fn: () =>
    withDemo(async (demo) => {
      const { pod } = await ask(demo, "POST", "/pods", {
        name: "lab",
        use_cpu_only: true,
        allowed_users: [demo.facts.member.discord_id],
      });
      const start = Date.now() + 72 * HOUR;
      await ask(demo, "POST", `/pods/${pod.id}/sessions`, {
        start_at: new Date(start).toISOString(),
        stop_at: new Date(start + HOUR).toISOString(),
      });
      await eventually(async () => (await podsOf(demo)).lab.status === "RUNNING", "lab runs");
      await ask(demo, "POST", `/pods/${pod.id}/action`, { action: "stop" });
      const stopped = await eventually(async () => {
        const { lab } = await podsOf(demo);
        return lab.status === "EXITED" && lab;
      }, "lab is stopped");
      const { workshop } = await podsOf(demo);
      assert.deepEqual([workshop.cost_per_hour, workshop.is_public, stopped.cost_per_hour], [0.06, true, 0]);
      for (const [columns, rows] of SIZES) {
        await inAdmin(demo, { columns, rows, env: PHOENIX }, async (terminal) => {
          await terminal.until(/1 running \/ 1 stopped {3}\$0\.060\/hr {3}\$/);
          const list = await terminal.until(/^> workshop +● Running \d+[sm] +\$0\.060\/hr/m);
          assert.match(list, /^ {2}lab +○ Stopped \d+[sm] +\$0\.00\/hr/m);
          if (columns >= 80) {
            await terminal.until("1 upcoming session");
            assert.match(list, /● Running \d+[sm] .*All members/);
            assert.match(list, /○ Stopped \d+[sm] .*1 listed/);
          }
          if (columns >= 200) {
            assert.match(list, /^ {2}lab .*cpu3c .*(now|ago)/m);
            assert(list.includes(workshop.id));
          }

          const found = await filter(terminal, "1 listed", /Pods 1 of 2 {2}\/1 listed/);
          assert.match(found, /^> lab/m);
          assert.doesNotMatch(found, /^..workshop/m);
          await openPod(terminal, "lab");
          await terminal.until(/Status +○ Stopped/);
          const facts = [
            new RegExp(`Since +${inPhoenix(Date.parse(stopped.status_since))}`),
            /Machine +cpu3c/,
            /Cost +\$0\.00\/hr/,
            /Access +1 listed/,
            /Created +(now|\d+ min ago)/,
            new RegExp(`Pod id +${stopped.id}`),
            /Provider +RunPod/,
          ];
          for (const fact of facts) await scrollTo(terminal, fact);
          await terminal.keys("Escape");
          await terminal.until(/^ Pods 1 of 2 {2}\//m);
          await terminal.keys("Escape");
          await terminal.until(/^..workshop/m);
          await terminal.keys("o");
          await terminal.until(/^..lab .*\n..workshop/m);
          await terminal.keys("O");
          await terminal.until(/^..workshop .*\n..lab/m);
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      }
    }),
});

Deno.test({
  name:
    "unconfirmed states are marked with their age, an unknown create is forgotten and a pod from outside is adopted",
  ignore: lacks("tmux"),
  fn: () =>
    withDemo(async (demo) => {
      const attention = async () => (await ask(demo, "GET", "/attention")).attention;
      await demo.control("runpod", "/_demo/faults", { fault: "F14", variant: "500", times: 1 });
      // The server looks for it for 20 seconds before it answers.
      const lost = demo.call("POST", "/pods", demo.facts.officer.token, { name: "lost-one", use_cpu_only: true })
        .then(({ status }) => status, (error: unknown) => error);
      const keyOf = (kind: string) =>
        String(demo.rows("select public_key from compute_keys where kind = ?", kind)[0]!["public_key"]);
      const env = {
        GODFATHER_SSH_CA_PUBLIC_KEY: keyOf("user_ca"),
        GODFATHER_SSH_PUBLIC_KEY: keyOf("backend"),
        GODFATHER_SETUP: "true",
      };
      for (const [columns, rows] of SIZES) {
        const name = `copied-${columns}`;
        const { pod } = await demo.control("runpod", "/_demo/pods", { action: "add_foreign", name, env });
        await inAdmin(demo, { columns, rows, env: PHOENIX }, async (terminal) => {
          await untilFresh(terminal, /! (1 thing needs|\d+ things need) attention \(a\)/);
          await terminal.keys("a");
          await untilFresh(terminal, /! orphan/);
          await filter(terminal, name, new RegExp(`^> ! orphan +${name}`, "m"));
          await terminal.keys("a");
          await terminal.until(`Adopt ${name}`);
          assert((await attention()).some((one: { pod_id: string }) => one.pod_id === pod.id));
          await terminal.keys("y");
          await terminal.until("The pod is adopted");
          assert.equal((await podsOf(demo))[name].id, pod.id);
          assert(!(await attention()).some((one: { kind: string }) => one.kind === "orphan"));

          await command(terminal, "pods", new RegExp(`^..${name}`, "m"));
          await filter(terminal, "workshop", /^> workshop/m);
          await demo.control("runpod", "/_demo/faults", { fault: "F32", variant: "empty-503", on: "GET /pods" });
          await untilFresh(terminal, /workshop +● Running~/);
          assert.match(await terminal.screen(), sentence("These are the last known"));
          const { stale, as_of } = (await podsOf(demo)).workshop;
          assert.equal(stale, true);
          assert(Date.parse(as_of) <= Date.now());
          await openPod(terminal, "workshop");
          await terminal.until(/As of +\d+ (s|min) ago: RunPod was not\s+heard since/);
          await terminal.keys("Escape");
          await terminal.until(/^ Pods 1 of \d+ {2}\/workshop/m);
          await demo.control("runpod", "/_demo/faults", { fault: "F32", off: true });
          await untilFresh(terminal, /workshop +● Running \d/);
          assert.equal((await podsOf(demo)).workshop.stale, false);
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      }

      assert.equal(await lost, 424);
      await inAdmin(demo, { env: PHOENIX }, async (terminal) => {
        await terminal.until("1 thing needs attention (a): lost-one: RunPod's answer");
        await terminal.keys("a");
        await terminal.until(/^> ! create unsettled +lost-one/m);
        await terminal.until(sentence("Do not create the pod again."));
        const [{ kind, name }] = await attention();
        assert.deepEqual([kind, name], ["create_unsettled", "lost-one"]);
        await terminal.keys("f");
        await terminal.until(sentence("If it exists, it goes on costing money."));
        await terminal.keys("n");
        await untilGone(terminal, "Forget this entry");
        assert.equal((await attention()).length, 1);
        await terminal.keys("f");
        await terminal.until("Forget this entry");
        await terminal.keys("y");
        await terminal.until("All is settled.");
        assert.deepEqual(await attention(), []);
        await terminal.keys("q");
        await terminal.until("rc=0");
      });
    }),
});

Deno.test({
  name: "an officer connects RunPod, and sees of a pod that runs without an address for minutes what it may lack",
  ignore: lacks("tmux"),
  fn: () => {
    // What runs at RunPod began to run five minutes ago.
    const clock = { now: () => systemClock.now() - 5 * MINUTE };
    return withServe({ clock, timings: { provisioningMs: 0, startingMs: 0 } }, async (scene) => {
      const { standins, call } = scene;
      await inAdmin(scene, { env: PHOENIX }, async (terminal) => {
        await terminal.until("Connect a hosting provider");
        await terminal.keys("k");
        await terminal.until("Save the key");
        await terminal.paste("rpa_nobody_knows_this");
        await terminal.keys("C-s");
        const refused = await scene.ask("PUT", "/integrations/runpod", { api_key: "rpa_nobody_knows_this" });
        assert.equal(refused.status, 400);
        await terminal.until(sentence(`! ${refused.json.error}`));
        assert(!(await terminal.screen()).includes("rpa_nobody"));
        assert.equal((await call("GET", "/integrations/runpod")).configured, false);
        await terminal.keys("C-u");
        await terminal.paste(standins.secrets.runpodKey);
        await terminal.keys("C-s");
        await terminal.until("There are no pods yet");
        const { configured, last4 } = await call("GET", "/integrations/runpod");
        assert.deepEqual([configured, last4], [true, standins.secrets.runpodKey.slice(-4)]);
        await terminal.keys("q");
        await terminal.until("rc=0");
        assert(!(await terminal.screen()).includes(standins.secrets.runpodKey));
      });

      standins.runpod.faults.on({ fault: "F16", variant: "never-address" });
      await call("POST", "/pods", { name: "elsewhere", use_cpu_only: true });
      const [pod] = (await call("GET", "/pods")).pods;
      assert.deepEqual([pod.status, pod.reachable], ["RUNNING", null]);
      for (const [columns, rows] of SIZES) {
        await inAdmin(scene, { columns, rows, env: PHOENIX }, async (terminal) => {
          const list = await terminal.until(/^> elsewhere +● Running 5m/m);
          if (columns >= 80) assert.match(list, /● Running 5m .*no public/);
          await openPod(terminal, "elsewhere");
          await terminal.until(sentence("It has been running for 5 min without an answer by SSH."));
          await terminal.until(sentence("SECURE ones always have one."));
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      }
    });
  },
});

Deno.test({
  name: "a pod whose image allows forwarding of Unix sockets is marked, at three sizes and beside all other columns",
  ignore: lacks("tmux", "sshd", "root"),
  fn: () =>
    withOriginalPods((podHost) =>
      withServe({ podHost }, async (scene) => {
        const { standins, call } = scene;
        await call("PUT", "/integrations/runpod", { api_key: standins.secrets.runpodKey });
        await call("POST", "/pods", { name: "older", use_cpu_only: true });
        const told = await eventually(
          async () => {
            const [pod] = (await call("GET", "/pods")).pods;
            return pod.port_forwarding !== null && pod;
          },
          "it is known what it allows",
          undefined,
          30_000,
        );
        assert.deepEqual([told.reachable, told.port_forwarding], [true, false]);
        for (const [columns, rows] of SIZES) {
          await inAdmin(scene, { columns, rows, env: PHOENIX }, async (terminal) => {
            await terminal.until(/^> older +● Running/m);
            await openPod(terminal, "older");
            await scrollTo(terminal, /Forwarding +! Unix sockets can be/);
            await terminal.keys("q");
            await terminal.until("rc=0");
          });
        }
        await inAdmin(scene, { columns: 300, env: PHOENIX }, async (terminal) => {
          const row = new RegExp(`^> older .*Officers only .*cpu3c .*now +${told.id} +! none +runpod`, "m");
          const list = await terminal.until(row);
          assert.match(list, /NAME .*STATUS .*COST .*ACCESS .*MACHINE .*CREATED +POD ID +FORWARD +PROVIDER/);
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      })
    ),
});
