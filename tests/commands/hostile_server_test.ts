/** What a hostile server says to the commands of an officer's own computer. */
import assert from "node:assert/strict";
import { run } from "./bench.ts";

/** Would set the clipboard and the window's title, and move the cursor, by both kinds of control characters. */
const HOSTILE = "x\x1b]52;c;cm0gLXJm\x07\x1b]0;t\x07\x1b[2J\x9b2J\x9d0;t\x9c\u202e\r\x08y";
// deno-lint-ignore no-control-regex
const STEERS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/;

/** One answer that suits many commands: each name that they print. */
const ANSWER = {
  ...Object.fromEntries(
    [
      "id",
      "name",
      "status",
      "state",
      "discord_id",
      "unblocked",
      "revoked",
      "removed",
      "kind",
      "url",
      "deleted",
      "keep_until",
    ]
      .map((name) => [name, HOSTILE]),
  ),
  action: HOSTILE,
  pod: { id: HOSTILE, name: HOSTILE, status: HOSTILE, cost_per_hour: HOSTILE },
  webhook: { id: HOSTILE, name: HOSTILE, url: HOSTILE },
  session: { id: HOSTILE, warnings: [HOSTILE] },
  removal: { discord_id: HOSTILE, state: HOSTILE, report: HOSTILE, left: HOSTILE, todo: HOSTILE },
  removals: [],
  warnings: [HOSTILE],
};

const COMMANDS = [
  "pod start k7x2m9",
  "pod stop k7x2m9",
  "pod create --name a --gpu b",
  "pod keep k7x2m9 --minutes 5",
  "pod disconnect k7x2m9 200000000000000002",
  "org block 200000000000000002",
  "org unblock 200000000000000002",
  "session extend k7x2m9 5 --minutes 5",
  "session remove k7x2m9 5",
  "attention forget a-1",
  "webhook remove 5",
];

async function withServer(answer: () => Response, use: (url: string) => Promise<void>): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  try {
    await use(`http://127.0.0.1:${(server.addr as Deno.NetAddr).port}`);
  } finally {
    await server.shutdown();
  }
}

for (const command of COMMANDS) {
  Deno.test(`orgpods ${command.split(" ").slice(0, 2).join(" ")} prints nothing of a hostile server's that steers a terminal`, async () => {
    await withServer(() => Response.json(ANSWER), async (url) => {
      for (const more of [[], ["--json"]]) {
        const done = await run(["--server", url, "--org", "demo", ...more, ...command.split(" ")], {
          ORGPODS_TOKEN: `plat_${"x".repeat(43)}`,
        });
        assert.doesNotMatch(done.stdout, STEERS);
        assert.doesNotMatch(done.stderr, STEERS);
        assert.notEqual(done.code, 2, done.stderr);
      }
    });
  });
}
