/** Sessions and money in the real program in a real terminal against the demo; what is done is looked up by the API. */
import assert from "node:assert/strict";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import type { Tmux } from "../support/tmux.ts";
import { eventually } from "../support/world.ts";
import { inAdmin } from "./program.ts";
import { command, untilFresh } from "./terminal_steps.ts";

const ignore = lacks("tmux");

/** Seven hours behind UTC all year. */
const ENV = { TZ: "America/Phoenix", NO_COLOR: "1" };
const HOUR = 3_600_000;
const inPhoenix = (ms: number) => new Date(ms - 7 * HOUR).toISOString().slice(0, 16).replace("T", " ");

// deno-lint-ignore no-explicit-any
async function sessionsOf({ operator, facts }: DemoProcess): Promise<any[]> {
  return (await operator("GET", `/api/compute/${facts.org}/pods/${facts.pod_id}/sessions`)).json.sessions;
}

async function budgetOf({ operator, facts }: DemoProcess): Promise<unknown> {
  return (await operator("GET", `/api/compute/${facts.org}/settings`)).json.settings.monthly_budget_usd;
}

/** Presses keys in a form, one at a time. */
async function press(terminal: Tmux, ...keys: string[]): Promise<void> {
  for (const key of keys) await terminal.keys(key);
}

Deno.test({
  name: "an officer adds, repeats, changes, extends and deletes sessions from the terminal, and sees why one failed",
  ignore,
  fn: () =>
    withDemo((demo) =>
      inAdmin(demo, { env: ENV }, async (terminal) => {
        await terminal.until("> workshop");
        await command(terminal, "sessions");
        await terminal.until("There are no sessions to come");
        assert.match(await terminal.screen(), /Time zone America\/Phoenix/);

        await terminal.keys("a");
        await terminal.until("> workshop");
        await terminal.keys("Enter");
        await terminal.until("New session of workshop");
        await terminal.type("Evening");
        await terminal.until(/to .* MST \(America\/Phoenix\)/);
        await terminal.keys("C-s");
        await terminal.until("The session is added");
        const [evening] = await sessionsOf(demo);
        assert.equal(evening.title, "Evening");
        assert.equal(Date.parse(evening.start_at) % HOUR, 0);
        assert.equal(Date.parse(evening.stop_at) - Date.parse(evening.start_at), 2 * HOUR);

        await command(terminal, "pods");
        await terminal.until("ACCESS");
        await terminal.keys("Enter");
        await terminal.until("Pod id");
        await terminal.keys("c");
        await terminal.until("○ Scheduled");
        await terminal.keys("a");
        await terminal.until("New session of workshop");
        await terminal.type("Weekly");
        await press(terminal, "Tab", "Tab", "Tab", "Right");
        await terminal.until("weekly, so many times");
        await press(terminal, "Tab", "Tab", "C-u", "3");
        await terminal.until("3 sessions, the last one");
        await terminal.keys("C-s");
        await terminal.until("3 sessions are added");
        const series = (await sessionsOf(demo)).filter(({ title }) => title === "Weekly");
        assert.equal(series.length, 3);
        assert.equal(Date.parse(series[1].start_at) - Date.parse(series[0].start_at), 7 * 24 * HOUR);

        await terminal.until(/> .* Evening/);
        await terminal.keys("c");
        await terminal.until("Change Evening");
        await terminal.type(" class");
        await terminal.until("Evening class");
        await terminal.keys("C-s");
        await terminal.until("The session is changed");
        await terminal.until(/> .* Evening class/);
        assert.equal((await sessionsOf(demo))[0].title, "Evening class");
        await terminal.keys("d");
        await terminal.until("Press y to delete it");
        await terminal.keys("y");
        await terminal.until("The session is deleted");
        await terminal.until(/> .* Weekly/);
        assert.equal((await sessionsOf(demo)).length, 3);
        await terminal.keys("D");
        await terminal.until("3 sessions of workshop go");
        await terminal.keys("y");
        await terminal.until("3 sessions are deleted");
        assert.deepEqual(await sessionsOf(demo), []);

        await demo.act("stop");
        await demo.control("runpod", "/_demo/faults", { fault: "F24", variant: "conflict" });
        await terminal.keys("a");
        await terminal.until("New session of workshop");
        await terminal.type("Now");
        await press(terminal, "Tab", "C-u");
        await terminal.type(inPhoenix(Date.now()));
        await press(terminal, "Tab", "C-u");
        await terminal.type(inPhoenix(Date.now() + HOUR));
        await terminal.until("the pod is started");
        await terminal.keys("C-s");
        await terminal.until("The session is added");
        await untilFresh(terminal, /Why +.*409/);
        assert.match(await terminal.screen(), /What to do/);
        await demo.control("runpod", "/_demo/faults", { fault: "F24", off: true });
        await terminal.keys("c");
        await terminal.until("Change Now");
        await terminal.type(" or never");
        await terminal.keys("C-s");
        await terminal.until("The session is changed");
        // It runs by the schedule's next turn; that the pod was started for it is told at once.
        await untilFresh(terminal, /> .*(◐ Starting|● Running)/);

        await terminal.keys("e");
        await terminal.until("120 of 120 minutes are left");
        await press(terminal, "C-u", "4", "5", "C-s");
        await terminal.until("The stop is put off");
        assert.equal((await sessionsOf(demo))[0].extended_minutes, 45);
        await terminal.keys("d");
        await terminal.until("It has started: the pod stops");
        await terminal.until("EVERY file on it is lost");
        await terminal.keys("y");
        await terminal.until("The session ends now");
        assert(Date.parse((await sessionsOf(demo))[0].stop_at) <= Date.now());
        // A new session makes the schedule look at once; else it does so every five minutes.
        const { facts } = demo;
        const tomorrow = Date.now() + 24 * HOUR;
        const body = { start_at: new Date(tomorrow), stop_at: new Date(tomorrow + HOUR), title: "Tomorrow" };
        const path = `/api/compute/${facts.org}/pods/${facts.pod_id}/sessions`;
        assert.equal((await demo.operator("POST", path, body)).status, 201);
        await eventually(async () => (await sessionsOf(demo))[0].state === "done", "the pod is stopped");
        await untilFresh(terminal, /> .* Tomorrow/);
        await terminal.keys("p");
        await terminal.until(/✓ Done/);
        const { json } = await demo.operator("GET", `/api/compute/${demo.facts.org}/pods`);
        assert.equal(json.pods[0].status, "EXITED");
        await terminal.keys("q");
        await terminal.until("rc=0");
      })
    ),
});

Deno.test({
  name: "an officer looks at the spend by pod, month and session, and sets a budget",
  ignore,
  fn: () =>
    withDemo((demo) =>
      inAdmin(demo, { env: ENV }, async (terminal) => {
        const month = new Date().toISOString().slice(0, 7);
        await terminal.until("> workshop");
        await command(terminal, "spend");
        await terminal.until(`Spend of ${month} by pod`);
        await terminal.until(/> workshop +\$0\.0\d\d? /);
        await terminal.keys("m");
        await terminal.until(new RegExp(`> ${month} +\\$0\\.0\\d`));
        await terminal.keys("s");
        await terminal.until("> outside sessions");
        await terminal.keys("[");
        await terminal.until("→ later");
        await terminal.keys("]");
        await terminal.until(`Spend of ${month} by session`);
        await terminal.until("> outside sessions");
        await terminal.keys("b");
        await terminal.until("[ Set the budget ]");
        await terminal.type("50");
        await terminal.keys("C-s");
        await terminal.until("of $50.00 (0 %)");
        await terminal.until(/hours left until the (budget is spent|balance is used up)/);
        assert.equal(await budgetOf(demo), 50);
        await terminal.keys("q");
        await terminal.until("rc=0");
      })
    ),
});

Deno.test({
  name: "sessions and spend are worked with in a window of 40x12 and in one of 200x50",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      for (const [columns, rows] of [[40, 12], [200, 50]] as const) {
        await inAdmin(demo, { columns, rows, env: ENV }, async (terminal) => {
          await terminal.until("> workshop");
          await command(terminal, "sessions");
          await terminal.until("There are no sessions to come");
          await terminal.keys("a");
          await terminal.until("> workshop");
          await terminal.keys("Enter");
          await terminal.until("> Title");
          await terminal.type("Evening");
          await terminal.until("Evening");
          await terminal.keys("C-s");
          await terminal.until(/> (today|\w{3} \d+ \w{3}) \d\d:\d\d +.*○ Scheduled +works/);
          assert.equal((await sessionsOf(demo))[0].title, "Evening");
          await terminal.keys("Enter");
          await terminal.until(/> Evening[^]*When +/);
          await terminal.keys("d");
          await terminal.until("delete it");
          await terminal.keys("y");
          await terminal.until("There are no sessions to come");
          assert.deepEqual(await sessionsOf(demo), []);
          await command(terminal, "spend");
          await terminal.until(/> workshop +\$0\.0/);
          await terminal.keys("b");
          await terminal.until("> Budget");
          await terminal.keys("C-u");
          await terminal.type(String(columns));
          await terminal.until(new RegExp(`${columns} +USD`));
          await terminal.keys("C-s");
          await terminal.until(`of $${columns}.00`);
          assert.equal(await budgetOf(demo), columns);
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      }
    }),
});
