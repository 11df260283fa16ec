/** The rules of the terminal in the real program, in a real terminal: what holds of every screen, looked up by the API. */
import assert from "node:assert/strict";
import { GUILD } from "../../server/demo/people.ts";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import type { Tmux } from "../support/tmux.ts";
import { eventually } from "../support/world.ts";
import { ask, inAdmin, PHOENIX, SIZES } from "./program.ts";
import { withServe } from "./serve_scene.ts";
import { sentence } from "./support.ts";
import { command, filter, leave, openPod, scrollTo } from "./terminal_steps.ts";

const ignore = lacks("tmux");
const NAMES: readonly string[] = JSON.parse(
  Deno.readTextFileSync(new URL("../vectors/admin/names.json", import.meta.url)),
).names;

/** The org's pods, as the API tells them. */
// deno-lint-ignore no-explicit-any
const podsOf = async (demo: DemoProcess): Promise<any[]> => (await ask(demo, "GET", "/pods")).pods;
const statusOf = async (demo: DemoProcess) => (await podsOf(demo))[0]?.status;

/** Asks for something, waits for its question, and says no. */
async function decline(terminal: Tmux, key: string, question: string): Promise<void> {
  await terminal.keys(key);
  await terminal.until(sentence(question));
  await terminal.keys("n");
  await eventually(async () => !sentence(question).test(await terminal.screen()), "the question is gone");
}

Deno.test({
  name: "what costs money, disconnects people or loses files asks first, and nothing is done before a yes",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      const lastAudit = async () => (await ask(demo, "GET", "/audit?limit=1")).audit[0].id;
      for (const [columns, rows] of SIZES) {
        await inAdmin(demo, { columns, rows, env: PHOENIX }, async (terminal) => {
          await terminal.until(/^> workshop +● Running/m);
          const before = await lastAudit();
          await decline(terminal, "x", "Press y to stop it");
          await decline(terminal, "R", "Press y to restart it");
          await terminal.keys("D");
          await terminal.until(sentence("Type workshop and press enter to terminate it"));
          await terminal.type("worksho");
          await terminal.until("> worksho");
          await terminal.keys("Enter", "y");
          await terminal.until("> workshoy");
          await leave(terminal, "> workshoy");
          await terminal.until(/^> workshop +● Running/m);
          await openPod(terminal, "workshop");
          await terminal.keys("a");
          await terminal.until("Open to ALL members");
          await decline(terminal, "p", "Press y to change it");
          await command(terminal, "settings", /^> Compute +● on/m);
          await terminal.keys("Enter");
          await terminal.until(sentence("Press y to switch it off, n to leave all as it is."));
          await scrollTo(terminal, sentence("! Pods that run go on running and costing money."));
          await decline(terminal, "Up", "Press y to switch it off, n to leave all as it is.");
          await filter(terminal, "RunPod key", /^> RunPod key/m);
          await decline(terminal, "D", "Press y to remove it, n to leave all as it is.");
          await command(terminal, "tokens", /Tokens \d/);
          await filter(terminal, "Mo Member", /^> .*Mo Member/m);
          await decline(terminal, "D", "What they got with this token ends at once");
          await command(terminal, "pods", /^> workshop +● Running/m);
          await terminal.keys("n");
          await terminal.until("Cost: $0.25/hr and disks from now on.");
          await terminal.type("dear");
          await terminal.until(/> Name +dear/);
          await terminal.keys("Escape");
          await terminal.until("What you typed is lost.");
          await terminal.keys("y");
          await terminal.until(/^> workshop +● Running/m);
          // Every change is in the audit, so nothing new in it is nothing done.
          assert.equal(await lastAudit(), before);
          const [pod, ...others] = await podsOf(demo);
          assert.deepEqual([pod.status, pod.is_public, others], ["RUNNING", true, []]);

          await terminal.keys("x");
          await terminal.until(sentence("This pod has no volume: EVERY file on it is lost."));
          await terminal.keys("y");
          await terminal.until("○ Stopped");
          assert.equal(await statusOf(demo), "EXITED");
          await terminal.keys("s");
          await terminal.until("● Running");
          assert.equal(await statusOf(demo), "RUNNING");
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      }
    }),
});

Deno.test({
  name: "a refused action shows the server's sentence as it is, also in the smallest window; a smaller one says so",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      await demo.act("stop");
      await demo.control("runpod", "/_demo/faults", { fault: "F27", variant: "problem" });
      const path = `/pods/${demo.facts.pod_id}/action`;
      const refused = await demo.call("POST", path, demo.facts.officer.token, { action: "start" });
      assert.equal(refused.json.code, "runpod_no_capacity", JSON.stringify(refused.json));
      for (const [columns, rows] of SIZES) {
        await inAdmin(demo, { columns, rows, env: PHOENIX }, async (terminal) => {
          await terminal.until(/^> workshop +○ Stopped/m);
          await terminal.keys("s");
          await terminal.until(sentence(refused.json.error));
          assert.equal(await statusOf(demo), "EXITED");
          await terminal.resize(39, 24);
          await terminal.until("Needs 40x12");
          await terminal.resize(80, 11);
          await terminal.until("orgpods needs a window of 40x12; this is 80x11");
          await terminal.resize(40, 12);
          await terminal.until(/^> workshop +○ Stopped/m);
          assert(!(await terminal.screen()).includes("40x12"));
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      }
    }),
});

Deno.test({
  name: "names of pods and people are drawn without control and direction characters, and such a pod is terminated",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      // As names that people really have on Discord: at most 32 characters.
      const members = NAMES.filter((name) => name.length <= 32 && name.trim() !== "");
      for (const [at, name] of members.entries()) {
        const id = String(300_000_000_000_001_000n + BigInt(at));
        const user = { action: "add_user", id, username: `odd${at}`, global_name: name };
        await demo.control("discord", "/_demo/world", user);
        await demo.control("discord", "/_demo/world", { action: "join", guild_id: GUILD, user_id: id });
      }
      const odd = ["\u202eright to left override", "évil\u001b[31mred\u001b[0m", "line\nbreak\r\ttab"];
      for (const name of odd) {
        assert(NAMES.includes(name));
        await ask(demo, "POST", "/pods", { name, use_cpu_only: true });
      }
      for (const [columns, rows] of SIZES) {
        await inAdmin(demo, { columns, rows, env: PHOENIX }, async (terminal) => {
          const sent = await terminal.record();
          await terminal.until(/^> workshop/m);
          await terminal.until(/^..\\u\{202e\}rig/m);
          await terminal.until(/^..évil\\u\{1b/m);
          await terminal.until(/^..line\\u\{a\}/m);
          await filter(terminal, "évil", /^> évil/m);
          await openPod(terminal, "évil");
          await terminal.keys("a");
          await terminal.until("Only officers may enter.");
          await terminal.keys("a");
          await terminal.until(`everybody: ${members.length + 2} found`);
          for (let page = 0; page < members.length / 3; page++) await terminal.keys("NPage");
          await terminal.until(/^> .*ｆｕｌｌ/m);
          await terminal.keys("C-c");
          await terminal.until("rc=0");
          const text = await sent();
          assert.match(text, /évil\\u\{1b/);
          assert.doesNotMatch(text, /[\u200b-\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]/);
          assert(!text.includes("\x07"));
          // deno-lint-ignore no-control-regex
          assert.doesNotMatch(text, /\u001b\[31m/);
        });
      }
      await inAdmin(demo, { env: PHOENIX }, async (terminal) => {
        await terminal.until(/^> workshop/m);
        await filter(terminal, "right", /^> \\u\{202e\}rig/m);
        await terminal.keys("D");
        await terminal.until(sentence("Type \\u{202e}right to left override and press enter"));
        await terminal.type("\\u{202e}right to left override");
        await terminal.keys("Enter");
        await terminal.until("No pod fits the filter");
        const names = (await podsOf(demo)).map(({ name }) => name);
        assert.deepEqual(names.toSorted(), ["workshop", ...odd.slice(1)].toSorted());
        await terminal.keys("q");
        await terminal.until("rc=0");
      });
    }),
});

Deno.test({
  name: "a server that is killed leaves the last list in sight, marked, and the admin goes on when it is back",
  ignore,
  fn: () =>
    withServe({}, async (scene) => {
      const { call, standins } = scene;
      await call("PUT", "/integrations/runpod", { api_key: standins.secrets.runpodKey });
      await call("POST", "/pods", { name: "workshop", use_cpu_only: true });
      for (const [columns, rows] of SIZES.slice(0, 2)) {
        await inAdmin(scene, { columns, rows, env: PHOENIX }, async (terminal) => {
          await terminal.until(/^> workshop +. Running/m);
          await terminal.until("● connected");
          await scene.kill();
          await terminal.until("! connection lost");
          await terminal.until("not fresh");
          assert.match(await terminal.screen(), /^> workshop +. Running/m);
          await scene.start();
          await terminal.until("● connected");
          await call("POST", "/pods", { name: `later-${columns}`, use_cpu_only: true });
          await terminal.until(new RegExp(`^..later-${columns}`, "m"));
          assert(!(await terminal.screen()).includes("not fresh"));
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      }
    }),
});
