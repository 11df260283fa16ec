/** The question for an officer token in a real terminal: the page is opened where there is a browser, and nothing is left behind. */
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { eventually } from "../support/world.ts";
import { inTmux } from "../support/tmux.ts";
import { checkGivenBack, programWords } from "./program.ts";

Deno.test({
  name: "the sign-in page is opened where there is a browser, and who gives up leaves with 4, the echo on and no token",
  ignore: lacks("tmux", "stty"),
  fn: async () => {
    const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => request.url.endsWith("/health") ? Response.json({ status: "ok" }) : new Response("<html></html>"),
    );
    const url = `http://127.0.0.1:${server.addr.port}`;
    const page = `${url}/api/compute/demo/officer/login`;
    const opened = `${folder}/opened`;
    const words = programWords(["--server", url, "--org", "demo", "admin"]);
    try {
      await Deno.mkdir(`${folder}/bin`);
      await Deno.writeTextFile(
        `${folder}/bin/xdg-open`,
        `#!/bin/sh\nprintf %s "$1" > ${opened}.new\nmv ${opened}.new ${opened}\n`,
        {
          mode: 0o755,
        },
      );
      const env = { XDG_CONFIG_HOME: `${folder}/config`, ORGPODS_TOKEN: "" };
      const browsers = [
        { path: `${folder}/bin:/usr/bin:/bin`, key: "C-c", isOpened: true },
        { path: `${folder}/none`, key: "C-d", isOpened: false },
      ];
      for (const { path, key, isOpened } of browsers) {
        await inTmux({ command: ["/usr/bin/env", `PATH=${path}`, ...words], env, columns: 100 }, async (terminal) => {
          await terminal.until("Token (it is not shown):");
          assert.match(await terminal.screen(), new RegExp(`^  ${page}$`, "m"));
          if (isOpened) {
            const isThere = () => Deno.stat(opened).then(() => true, () => false);
            await eventually(isThere, "the page is opened");
            assert.equal(await Deno.readTextFile(opened), page);
          }
          // The end of the input is one only on an empty line.
          if (key === "C-c") await terminal.type("plat_half");
          await terminal.keys(key);
          await checkGivenBack(terminal, 4);
          const screen = await terminal.screen();
          assert.match(screen, /error: Nobody signed in/);
          assert.doesNotMatch(screen, /plat_half/);
        });
      }
      await assert.rejects(Deno.stat(`${folder}/config`), Deno.errors.NotFound);
    } finally {
      await server.shutdown();
      await Deno.remove(folder, { recursive: true });
    }
  },
});
