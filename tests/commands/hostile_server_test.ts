/** What a hostile server says to the commands of an officer's own computer. */
import assert from "node:assert/strict";
import { failureOf } from "../../admin/commands/failure.ts";
import { Refusal } from "../../admin/client/refusal.ts";
import { passOn } from "../../admin/commands/transfer.ts";
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

Deno.test("a token for a server on this machine does not go to a proxy that the environment names", async () => {
  const asked: string[] = [];
  const proxy = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    asked.push(request.url);
    return Response.json({ pods: [] });
  });
  try {
    await withServer(() => Response.json({ pods: [] }), async (url) => {
      const through = `http://127.0.0.1:${(proxy.addr as Deno.NetAddr).port}`;
      for (const name of ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"]) {
        const done = await run(["--server", url, "--org", "demo", "pod", "list"], {
          ORGPODS_TOKEN: `plat_${"x".repeat(43)}`,
          [name]: through,
        });
        assert.deepEqual([done.code, done.stderr, asked], [0, "No pods.\n", []], name);
      }
    });
  } finally {
    await proxy.shutdown();
  }
});

Deno.test("a file that does not end after its bytes is given up, and nothing more of it is written", async () => {
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(4)) });
  let taken = 0;
  const passing = passOn({ body: endless, size: 10, start: 0, etag: undefined }, (bytes) => {
    taken += bytes.length;
    // Else a fault would fill the memory.
    return Promise.resolve(taken < 1_000);
  });
  await assert.rejects(passing, { name: "Refusal", message: "The transfer did not end after its 10 bytes" });
  assert.equal(taken, 8);
});

Deno.test("failureOf shows nothing that steers a terminal, also with the stack", () => {
  for (
    const error of [
      new Error(HOSTILE),
      HOSTILE,
      new Refusal(HOSTILE, 6, [HOSTILE]),
      new TypeError("x", { cause: HOSTILE }),
    ]
  ) {
    for (const line of failureOf(error, true).lines) assert.doesNotMatch(line, STEERS);
  }
});
