/** Settings, tokens, roles, webhooks, events and audit in the real program, in a real terminal, against the demo. */
import assert from "node:assert/strict";
import { OFFICER_ROLE } from "../../server/demo/people.ts";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import type { Tmux } from "../support/tmux.ts";
import { eventually } from "../support/world.ts";
import { inAdmin } from "./program.ts";
import { sentence } from "./support.ts";

const ignore = lacks("tmux");

/** What the API tells the operator of the org. */
const ask = async (demo: DemoProcess, path: string) =>
  (await demo.operator("GET", `/api/compute/${demo.facts.org}${path}`)).json;

async function run(terminal: Tmux, command: string, want: string | RegExp): Promise<string> {
  await terminal.type(`:${command}`);
  await terminal.until(`:${command}`);
  await terminal.keys("Enter");
  return await terminal.until(want);
}

/** Filters the settings to one, and waits until it is the selected one. */
async function goTo(terminal: Tmux, title: string): Promise<void> {
  await terminal.type("/");
  await terminal.keys("C-u");
  await terminal.type(title);
  await terminal.keys("Enter");
  await terminal.until(new RegExp(`^> ${title}`, "m"));
}

/** Sets one setting by its form; `hint` is what its field says. */
async function setTo(terminal: Tmux, title: string, hint: string, text: string, shown: string | RegExp): Promise<void> {
  await goTo(terminal, title);
  await terminal.keys("Enter");
  await terminal.until(sentence(hint));
  await terminal.keys("C-u");
  await terminal.type(text);
  await terminal.keys("C-s");
  await terminal.until(shown);
}

Deno.test({
  name: "an officer changes every setting from the terminal, and the API shows it",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      await inAdmin(demo, {}, async (terminal) => {
        await terminal.until(/^> workshop/m);
        await run(terminal, "settings", /^> Compute +● on/m);
        await setTo(
          terminal,
          "Default image",
          "Empty (ctrl-u)",
          "society/base:2",
          /^> Default image +society\/base:2/m,
        );
        assert.equal((await ask(demo, "/settings")).settings.pod_image, "society/base:2");
        await terminal.keys("D");
        await terminal.until("New pods then get");
        await terminal.keys("y");
        await terminal.until("(the server's)");
        assert.equal((await ask(demo, "/settings")).settings.pod_image, null);
        await setTo(terminal, "Budget", "Empty (ctrl-u): no budget", "150", "$150.00 a month");
        await setTo(terminal, "Idle stop", "From 5; empty", "45", "after 45 minutes");
        await setTo(terminal, "Longest run", "no limit", "12", "12 hours");
        const { settings } = await ask(demo, "/settings");
        assert.deepEqual(
          [settings.monthly_budget_usd, settings.auto_stop_after_minutes, settings.max_run_hours],
          [150, 45, 12],
        );
        await goTo(terminal, "At 100 %");
        await terminal.keys("Enter");
        await terminal.until("all running pods are stopped");
        await terminal.keys("y");
        await terminal.until("Pods are stopped at 100 %");
        assert.equal((await ask(demo, "/settings")).settings.stop_at_budget, true);

        await goTo(terminal, "RunPod key");
        await terminal.keys("t");
        await terminal.until("Connected. 1 pods on the account.");

        await run(terminal, "roles", /^> officers +Officers/m);
        await terminal.keys("m");
        await terminal.until("Role for members");
        await terminal.until(/> Officers/);
        await terminal.keys("Enter");
        await terminal.until("the first member role");
        await terminal.keys("y");
        await terminal.until(/members +Officers/);
        assert.deepEqual((await ask(demo, "/roles")).member_role_ids, [OFFICER_ROLE]);
        await terminal.keys("G", "D");
        await terminal.until("It is the last one");
        await terminal.keys("y");
        await terminal.until("makes no members now");
        assert.deepEqual((await ask(demo, "/roles")).member_role_ids, []);

        await run(terminal, "webhooks", "There is no webhook; n adds one.");
        await terminal.keys("a");
        await terminal.until("[ Add the webhook ]");
        await terminal.type("grading");
        await terminal.keys("Tab", "Right", "Tab");
        await terminal.until("The https address");
        await terminal.paste("https://orgpods.invalid/in");
        await terminal.keys("C-s");
        const secret = /whsec_\S+/.exec(await terminal.until(/whsec_\S+/))![0];
        assert(!(await terminal.screen()).includes("orgpods.invalid/in"));
        await terminal.keys("Escape");
        await terminal.until(/^> grading +● on/m);
        assert(!(await terminal.screen()).includes(secret));
        await terminal.keys("t");
        await terminal.until("! The test of grading failed");
        await terminal.keys("e");
        await terminal.until("New address");
        await terminal.keys("C-u");
        await terminal.type("marks");
        await terminal.keys("C-s");
        await terminal.until(/^> marks/m);
        await terminal.keys("Enter");
        await terminal.until(/ test +! failed/);
        await terminal.keys("Escape");
        await terminal.until(/^> marks/m);
        const [hook] = (await ask(demo, "/webhooks")).webhooks;
        assert.deepEqual([hook.name, hook.format, hook.kinds], ["marks", "signed", []]);
        assert.notEqual(hook.last_error, null);
        await terminal.keys("D");
        await terminal.until("Delete marks");
        await terminal.keys("y");
        await terminal.until("There is no webhook; n adds one.");
        assert.deepEqual((await ask(demo, "/webhooks")).webhooks, []);

        await run(terminal, "tokens", "Tokens 3");
        await goTo(terminal, "Mo Member");
        await terminal.keys("D");
        await terminal.until(sentence("What they got with this token ends at once"));
        await terminal.keys("y");
        await terminal.until("The token of Mo Member is revoked");
        assert.equal((await demo.call("GET", "/me/pods", demo.facts.member.token)).status, 401);

        await run(terminal, "settings", /^> Compute +● on/m);
        await terminal.keys("Enter");
        await terminal.until("Pods that run go on");
        await terminal.keys("y");
        await terminal.until(sentence(`workshop (${demo.facts.pod_id})`));
        await terminal.type(demo.facts.org);
        await terminal.keys("Enter");
        await terminal.until("○ off");
        assert.equal((await demo.operator("GET", `/api/compute/${demo.facts.org}/settings`)).json.code, "module_off");
        await terminal.keys("Enter");
        await terminal.until("Switch compute on");
        await terminal.keys("y");
        await terminal.until(/^> Compute +● on/m);
        assert.equal((await ask(demo, "/settings")).settings.monthly_budget_usd, 150);

        await goTo(terminal, "RunPod key");
        await terminal.keys("D");
        await terminal.until("Without it pods cannot be seen");
        await terminal.keys("y");
        await terminal.until(sentence(`workshop (${demo.facts.pod_id})`));
        await terminal.type(demo.facts.org);
        await terminal.keys("Enter");
        await terminal.until("The RunPod key is removed");
        assert.equal((await ask(demo, "/integrations/runpod")).configured, false);
        await terminal.keys("q");
        await terminal.until("rc=0");
      });
    }),
});

Deno.test({
  name: "events and audit of the real program: filter, details and the pod's own, at three sizes",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      await demo.act("stop");
      const stopped = await eventually(
        async () => (await ask(demo, "/events?kind=pod.stopped")).events[0],
        "the stop is saved",
      );
      for (const [columns, rows] of [[80, 24], [40, 12], [200, 50]] as const) {
        await inAdmin(demo, { columns, rows }, async (terminal) => {
          await terminal.until(/^> workshop/m);
          await run(terminal, "events", /pod\.stopped/);
          await terminal.type("f");
          await terminal.until("All kinds");
          await terminal.type("created");
          await terminal.until(/> pod\.created/);
          await terminal.keys("Enter");
          await terminal.until(/^> .*pod\.created/m);
          await terminal.keys("Enter");
          await terminal.until(/Event +pod\.created/);
          await terminal.until(/About +workshop/);
          await run(terminal, "audit", /WHO/);
          await terminal.type("/Olivia");
          await terminal.keys("Enter");
          await terminal.until(/^> .*Olivia/m);
          await terminal.keys("Enter");
          await terminal.until(/Who +Olivia Officer/);
          await terminal.keys("Escape");
          await terminal.until("WHEN");
          await run(terminal, "pods", /^> workshop/m);
          await terminal.keys("Enter");
          await terminal.until("> workshop");
          await terminal.keys("E");
          await terminal.until(/Events \d/);
          await terminal.keys("Enter");
          await terminal.until(new RegExp(`Event +${stopped.kind}`));
          await run(terminal, "settings", /^> Compute/m);
          await setTo(terminal, "Budget", "Spent this month (UTC)", String(columns), `$${columns}.00 a month`);
          assert.equal((await ask(demo, "/settings")).settings.monthly_budget_usd, columns);
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      }
    }),
});
