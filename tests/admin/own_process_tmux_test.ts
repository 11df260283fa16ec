/** The admin where no server runs: it opens the data directory itself, says so, and gives it away when asked. */
import assert from "node:assert/strict";
import { withBench } from "../commands/bench.ts";
import { GUILD, OFFICER_ROLE } from "../../server/demo/people.ts";
import { lacks } from "../support/needs.ts";
import { inTmux } from "../support/tmux.ts";
import { checkGivenBack, childOf, programWords } from "./program.ts";

Deno.test({
  name:
    "admin without a server says so, gives the directory to a server that starts and goes on there, and leaves it free",
  ignore: lacks("tmux"),
  fn: () =>
    withBench(async (bench) => {
      await bench.must(["org", "add", "demo", "--name", "Demo", "--guild", GUILD, "--officer-role", OFFICER_ROLE]);
      const words = programWords(["--data-dir", bench.dir.path, "--allow-test-upstreams", "admin"]);
      const command = ["env", ...Object.entries(bench.env).map(([name, value]) => `${name}=${value}`), ...words];
      await inTmux({ command }, async (terminal) => {
        await terminal.until("Connect a hosting provider");
        const screen = await terminal.screen();
        assert.match(screen, /^ orgpods {2}demo \(Demo\) {2}no server runs/);
        assert.match(screen, /! No server runs: nothing is scheduled until one starts/);
        assert.match(await bench.must(["org", "list"]), /\ndemo /, "a command is let in, too");
        const server = await bench.serve();
        await terminal.keys("C-r");
        await terminal.until(/^ orgpods {2}demo \(Demo\) {2}this server/);
        assert.doesNotMatch(await terminal.screen(), /No server runs/);
        const { status } = await server.operator("PATCH", "/api/operator/orgs/demo", { name: "Renamed" });
        assert.equal(status, 200);
        await terminal.keys("C-r");
        await terminal.until(/^ orgpods {2}demo \(Renamed\) {2}this server/);
        server.program.kill("SIGTERM");
        assert.deepEqual(await server.program.ended(), { code: 0, signal: null });
        await terminal.keys("q");
        await checkGivenBack(terminal, 0);
      });
      await inTmux({ command }, async (terminal) => {
        await terminal.until("Connect a hosting provider");
        const shell = await childOf(await terminal.pid());
        Deno.kill(shell, "SIGTERM");
        await checkGivenBack(terminal, 143);
      });
      const server = await bench.serve();
      assert.equal((await server.operator("GET", "/api/operator/orgs/demo")).status, 200);
      await inTmux({ command }, async (terminal) => {
        await terminal.until("this server");
        assert.doesNotMatch(await terminal.screen(), /No server runs/);
        await terminal.keys("q");
        await checkGivenBack(terminal, 0);
      });
    }),
});
