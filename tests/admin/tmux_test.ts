/** The real program in a real terminal against the demo: what officers do, and what happens to the terminal. */
import assert from "node:assert/strict";
import { type DemoProcess, startDemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import { eventually } from "../support/world.ts";
import { inTmux } from "../support/tmux.ts";
import { checkGivenBack, childOf, envAt, inAdmin, programWords } from "./program.ts";
import { sentence } from "./support.ts";

const ignore = lacks("tmux");

async function statusOf(demo: DemoProcess): Promise<string | undefined> {
  const { json } = await demo.operator("GET", `/api/compute/${demo.facts.org}/pods`);
  return json.pods[0]?.status;
}

/** Makes a pod like the demo's own, unless it is that one, and waits until it runs. */
async function makePod(demo: DemoProcess, name: string): Promise<void> {
  if (name === "workshop") return;
  const body = { name, use_cpu_only: true };
  const { status, json } = await demo.operator("POST", `/api/compute/${demo.facts.org}/pods`, body);
  assert.equal(status, 201, JSON.stringify(json));
  await eventually(async () => await statusOf(demo) === "RUNNING", `${name} runs`);
}

Deno.test({
  name: "an officer stops, starts and terminates a pod from the terminal, and the API shows it",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      for (const [columns, rows, name] of [[80, 24, "workshop"], [40, 12, "small"], [200, 50, "large"]] as const) {
        await makePod(demo, name);
        await inAdmin(demo, { columns, rows }, async (terminal) => {
          await terminal.until(new RegExp(`^> ${name}`, "m"));
          assert.equal(await terminal.flag("alternate_on"), true);
          await terminal.keys("x");
          await terminal.until(sentence("EVERY file on it is lost"));
          await terminal.keys("y");
          await terminal.until("○ Stopped");
          assert.equal(await statusOf(demo), "EXITED");
          await terminal.keys("s");
          await terminal.until("● Running");
          assert.equal(await statusOf(demo), "RUNNING");
          await terminal.keys("Enter");
          await terminal.until(`Pods 1 > ${name}`);
          await terminal.keys("D");
          await terminal.until(sentence(`Type ${name} and press enter to terminate it:`));
          await terminal.type(name);
          await terminal.keys("Enter");
          await terminal.until("There are no pods yet");
          assert.equal(await statusOf(demo), undefined);
          await terminal.keys("q");
          await checkGivenBack(terminal, 0);
        });
      }
    }),
});

Deno.test({
  name: "an officer signs in from elsewhere by a pasted token, which is kept and never drawn",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      const home = await Deno.makeTempDir({ prefix: "orgpods-test-" });
      const { url, org, officer } = demo.facts;
      const command = programWords(["--server", url, "--org", org, "admin"]);
      const env = await envAt(home);
      const file = `${home}/config/orgpods/officer/${org}@${new URL(url).host.replace(":", "_")}.json`;
      try {
        await inTmux({ command, env, columns: 100 }, async (terminal) => {
          await terminal.until(`${url}/api/compute/${org}/officer/login`);
          await terminal.until("Token (it is not shown):");
          await terminal.type("plat_wrong\n");
          await terminal.until(/Token is invalid![\s\S]*Token \(it is not shown\): *$/m);
          await terminal.type(`${officer.token}\n`);
          await terminal.until(/^> workshop/m);
          assert(!(await terminal.screen()).includes(officer.token.slice(0, 20)));
          assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
          await terminal.keys("q");
          await checkGivenBack(terminal, 0);
          assert.match(await terminal.screen(), /Your officer token works until/);
        });
        await inTmux({ command, env, columns: 100 }, async (terminal) => {
          await terminal.until(/^> workshop/m);
          const { json } = await demo.operator("GET", `/api/compute/${org}/tokens`);
          const own = json.tokens.find((token: { kind: string }) => token.kind === "officer");
          await demo.operator("DELETE", `/api/compute/${org}/tokens/${own.id}`);
          await terminal.until("Sign in to demo");
          const fresh = await demo.operator("POST", `/api/compute/${org}/tokens`, {
            kind: "officer",
            discord_id: officer.discord_id,
          });
          await terminal.paste(fresh.json.token);
          await terminal.keys("Enter");
          await terminal.until("You are signed in");
          await terminal.until(/^> workshop/m);
          await terminal.keys("q");
          await checkGivenBack(terminal, 0);
        });
        const logout = await new Deno.Command(command[0]!, { args: [...command.slice(1), "logout"], env }).output();
        assert.equal(logout.code, 0);
        await assert.rejects(Deno.stat(file), Deno.errors.NotFound);
      } finally {
        await Deno.remove(home, { recursive: true });
      }
    }),
});

Deno.test({
  name: "the terminal is whole again after a signal, a lost terminal and Ctrl-C, and the exit code says which",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      for (const [signal, code] of [["SIGTERM", 143], ["SIGHUP", 129], ["SIGINT", 130]] as const) {
        await inAdmin(demo, {}, async (terminal) => {
          await terminal.until(/^> workshop/m);
          Deno.kill(await childOf(await terminal.pid()), signal);
          await checkGivenBack(terminal, code);
        });
      }
      await inAdmin(demo, { columns: 40, rows: 12 }, async (terminal) => {
        await terminal.until(/^> workshop/m);
        await terminal.resize(100, 30);
        await terminal.until("Machine");
        await terminal.resize(30, 8);
        await terminal.until("40x12");
        await terminal.keys("C-c");
        await checkGivenBack(terminal, 0);
      });
    }),
});

Deno.test({
  name: "Ctrl-Z gives the terminal back to the shell, and fg returns to the same screen",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      await inAdmin(demo, { isShell: true }, async (terminal) => {
        await terminal.until(/^> workshop/m);
        await terminal.keys("Enter");
        await terminal.until("Pod id");
        await terminal.keys("C-z");
        await terminal.until("Stopped");
        assert.equal(await terminal.flag("alternate_on"), false);
        await terminal.type("echo between-$((40 + 2))\n");
        await terminal.until("between-42");
        await terminal.type("fg\n");
        await terminal.until("Pod id");
        assert.equal(await terminal.flag("alternate_on"), true);
        await terminal.keys("Escape");
        await terminal.until(/^> workshop/m);
        await terminal.keys("q");
        await eventually(async () => !(await terminal.flag("alternate_on")), "the shell is back");
      });
    }),
});

Deno.test({
  name: "a window that changed while the admin was stopped is drawn as it is, and bg does not draw over the shell",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      await inAdmin(demo, { isShell: true, columns: 100, rows: 30 }, async (terminal) => {
        await terminal.until(/^> workshop/m);
        await terminal.keys("C-z");
        await terminal.until("Stopped");
        await terminal.resize(70, 20);
        await terminal.type("fg\n");
        // At the old width the end of each line would stand on a line of its own.
        await terminal.until(/^ orgpods {2}demo \(Demo Society\) {2}this server +● connected {2}\d\d:\d\d \S+ ?$/m);
        await terminal.keys("C-z");
        await terminal.until("Stopped");
        await terminal.type("clear; bg; until jobs | grep Stopped; do sleep 0.1; done\n");
        await terminal.until("Stopped");
        await terminal.type("echo between-$((40 + 2))\n");
        const screen = await terminal.until("between-42");
        assert.doesNotMatch(screen, /workshop/);
        await terminal.type("fg\n");
        await terminal.until(/^> workshop/m);
        await terminal.keys("q");
        await eventually(async () => !(await terminal.flag("alternate_on")), "the shell is back");
      });
    }),
});

Deno.test({
  name: "a server that goes away leaves the last state in sight, marked, and the admin goes on when it is left",
  ignore,
  fn: async () => {
    const demo = await startDemoProcess();
    try {
      await inAdmin(demo, {}, async (terminal) => {
        await terminal.until(/^> workshop/m);
        await demo.end("SIGTERM");
        await terminal.until("connection lost");
        assert.match(await terminal.screen(), /workshop[\s\S]*/);
        await terminal.keys("q");
        await checkGivenBack(terminal, 0);
      });
    } finally {
      await demo.close();
    }
  },
});

Deno.test("admin without a terminal, or on a dumb one, is refused with 2 and a sentence", async () => {
  const words = programWords(["admin"]);
  const done = await new Deno.Command(words[0]!, { args: words.slice(1), stdin: "null" }).output();
  assert.equal(done.code, 2);
  assert.match(new TextDecoder().decode(done.stderr), /^error: The admin needs a terminal/);
  assert.equal(done.stdout.length, 0);
});

Deno.test({
  name: "admin on a dumb terminal is refused with 2",
  ignore,
  fn: () =>
    inTmux({ command: ["env", "TERM=dumb", ...programWords(["admin"])] }, async (terminal) => {
      await terminal.until("rc=2");
      assert.match(await terminal.screen(), /cannot draw on a terminal of the kind TERM=dumb/);
    }),
});
