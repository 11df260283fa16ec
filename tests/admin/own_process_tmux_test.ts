/** The admin where no server runs: it opens the data directory itself, says so, and leaves it free again. */
import assert from "node:assert/strict";
import { withBench } from "../commands/bench.ts";
import { GUILD, OFFICER_ROLE } from "../../server/demo/people.ts";
import { startServeProgram } from "../support/server_process.ts";
import { lacks } from "../support/needs.ts";
import { inTmux } from "../support/tmux.ts";
import { checkGivenBack, childOf, programWords } from "./program.ts";

Deno.test({
  name: "admin without a server says so, keeps a server out that starts meanwhile, and leaves the directory free",
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
        assert.match(screen, /! No server runs: nothing is scheduled, and none can start until you leave/);
        const server = startServeProgram(bench.dir, { env: bench.env });
        try {
          assert.equal((await server.ended()).code, 5);
          assert.match(server.stderr(), /Another orgpods uses .*\nhint: .*orgpods admin.*leave that/);
        } finally {
          await server.close();
        }
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
