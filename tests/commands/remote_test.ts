import assert from "node:assert/strict";
import { OFFICER } from "../../server/demo/people.ts";
import { keepToken, officerFolder, officerTokenPath } from "../../admin/client/officer_token.ts";
import { run, withFolder, withOrg } from "./bench.ts";

const FAKE = { ORGPODS_TOKEN: "plat_" + "x".repeat(43) };

Deno.test("--server with an officer token does what an officer may", async () => {
  await withOrg(async (bench, { url }) => {
    const token = await bench.must(["token", "issue", "--kind", "officer", "--discord-id", OFFICER.id]);
    const remote = ["--server", url, "--org", "demo"];
    const id = (await run([...remote, "pod", "create", "--gpu", "NVIDIA RTX A4000", "--name", "lab-1"], {
      ORGPODS_TOKEN: token,
    })).stdout.trim();
    const file = `${bench.dir.path}/officer.token`;
    Deno.writeTextFileSync(file, `${token}\n`, { mode: 0o600 });
    const fromFile = await run([...remote, "--token-file", file, "pod", "list"]);
    assert.match(fromFile.stdout, new RegExp(`^${id} +lab-1 `, "m"), fromFile.stderr);
    assert.match((await run([...remote, "audit", "list"], { ORGPODS_TOKEN: token })).stdout, /POST .*\/pods/);
    Deno.chmodSync(file, 0o640);
    const open = await run([...remote, "--token-file", file, "pod", "list"]);
    assert.equal(open.code, 2);
    assert.match(open.stderr, /can be read by others; run: chmod 600/);
    const path = officerTokenPath(
      officerFolder((name) => name === "XDG_CONFIG_HOME" ? bench.dir.path : ""),
      url,
      "demo",
    );
    await keepToken(path, { token, expires_at: null });
    const kept = await run([...remote, "pod", "list"], { XDG_CONFIG_HOME: bench.dir.path });
    assert.match(kept.stdout, new RegExp(`^${id} +lab-1 `, "m"), kept.stderr);
    const given = await run([...remote, "pod", "list"], { XDG_CONFIG_HOME: bench.dir.path, ...FAKE });
    assert.equal(given.code, 4);
    const bad = await run([...remote, "pod", "list"], FAKE);
    assert.equal(bad.code, 4);
    assert.match(bad.stderr, /^error: Token is invalid!\n/);
  });
});

Deno.test("operator commands say that they work only on the server itself", async () => {
  const remote = ["--server", "https://pods.example.org", "--org", "demo"];
  const lines = [
    "org show demo",
    "org check demo",
    "secrets rotate",
    "token issue --kind cli --discord-id 12345",
    "init",
  ];
  for (const line of lines) {
    const done = await run([...remote, ...line.split(" ")], FAKE);
    assert.equal(done.code, 4, line);
    assert.match(done.stderr, /works only on the server itself, without --server\n$/);
  }
});

Deno.test("an address that would carry the token in the clear, or is none, is refused", async () => {
  const urls = [
    "http://pods.example.org",
    "pods.example.org",
    "https://a:b@pods.example.org",
    "https://pods.example.org/x",
  ];
  for (const url of urls) {
    const done = await run(["--server", url, "--org", "demo", "pod", "list"], FAKE);
    assert.equal(done.code, 2, url);
    assert.match(done.stderr, /^error: --server must /);
  }
});

Deno.test("a remote call without org or token is a mistake in the command line", async () => {
  const remote = ["--server", "http://127.0.0.1:1"];
  assert.match((await run([...remote, "pod", "list"], FAKE)).stderr, /Name the organization: --org/);
  const none = await run([...remote, "--org", "demo", "pod", "list"]);
  assert.equal(none.code, 2);
  assert.match(none.stderr, /^error: Give the officer token in ORGPODS_TOKEN, or in a file with --token-file\nhint: /);
  await withFolder(async (dir) => {
    const missing = await run([...remote, "--org", "demo", "--token-file", dir.path, "pod", "list"]);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /cannot be read/);
  });
});

const ANSWERS: readonly (readonly [() => Response, number, RegExp])[] = [
  [
    () => new Response(null, { status: 302, headers: { location: "https://evil.example" } }),
    6,
    /answers with a redirect/,
  ],
  [() => new Response("<h1>Welcome</h1>"), 6, /The answer is not JSON/],
  [() => new Response("<h1>Bad gateway</h1>", { status: 502 }), 6, /the status 502 and without a reason/],
  [
    () => Response.json({ error: "Gone \u001b[31m", code: "of_tomorrow", hint: "h" }, { status: 404 }),
    3,
    /Gone \\u\{1b\}.*\nhint: h/,
  ],
  [
    () => Response.json({ error: "E", code: "create_pending", attention_id: "a-1" }, { status: 409 }),
    5,
    /E\nattention_id: a-1\n$/,
  ],
];

Deno.test("whatever a server answers becomes a sentence and the exit code of its kind", async () => {
  let answer = ANSWERS[0]![0];
  const seen: (string | null)[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    seen.push(request.headers.get("authorization"));
    return answer();
  });
  const remote = ["--server", `http://127.0.0.1:${server.addr.port}`, "--org", "demo"];
  try {
    for (const [next, code, sentence] of ANSWERS) {
      answer = next;
      const done = await run([...remote, "pod", "list"], FAKE);
      assert.equal(done.code, code, done.stderr);
      assert.match(done.stderr, sentence);
    }
    assert(seen.every((header) => header === `Bearer ${FAKE.ORGPODS_TOKEN}`));
  } finally {
    await server.shutdown();
  }
  const gone = await run([...remote, "pod", "list"], FAKE);
  assert.equal(gone.code, 6);
  assert.match(gone.stderr, /^error: http:\S+ cannot be reached: .*connect[^()]*\n$/);
});
