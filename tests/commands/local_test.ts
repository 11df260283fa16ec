import assert from "node:assert/strict";
import { connectLocal } from "../../admin/client/local.ts";
import { takeLock } from "../../server/data_lock.ts";
import { GUILD, OFFICER_ROLE } from "../../server/demo/people.ts";
import { generateSecretKey, parseSecretKeys } from "../../server/identity/secret_box.ts";
import { lacks } from "../support/needs.ts";
import { runProgram } from "../support/process.ts";
import { startServeProgram, withDataDir } from "../support/server_process.ts";
import { run, withBench, withFolder } from "./bench.ts";

Deno.test("init makes a closed data directory and prints its path alone on stdout", async () => {
  await withFolder(async (dir) => {
    const done = await run(["--data-dir", dir.path, "init"]);
    assert.equal(done.code, 0, done.stderr);
    assert.equal(done.stdout, `${Deno.realPathSync(dir.path)}\n`);
    assert.match(done.stderr, /serve/);
    assert.equal(Deno.statSync(dir.path).mode! & 0o777, 0o700);
    assert.equal(Deno.statSync(dir.envFile).mode! & 0o777, 0o600);
    assert.equal(Deno.statSync(dir.database).mode! & 0o777, 0o600);
    const again = await run(["--data-dir", dir.path, "init"]);
    assert.equal(again.code, 5);
    assert.match(again.stderr, /^error: .* is a data directory already\n$/);
  });
});

Deno.test("a command takes the data directory from ORGPODS_DATA", async () => {
  await withFolder(async (dir) => {
    assert.equal((await run(["init"], { ORGPODS_DATA: dir.path })).code, 0);
    assert.equal((await run(["org", "list", "--json"], { ORGPODS_DATA: dir.path })).stdout, '{"orgs":[]}\n');
  });
});

Deno.test("a command in a folder without a data directory says so and makes none", async () => {
  await withFolder(async (dir) => {
    for (const command of [["org", "list"], ["serve"]]) {
      const done = await run(["--data-dir", dir.path, ...command]);
      assert.equal(done.code, 2);
      assert.match(done.stderr, /is no data directory of orgpods\. Make one with: orgpods init\n/);
    }
    assert.throws(() => Deno.statSync(dir.path), Deno.errors.NotFound);
  });
});

Deno.test("a command that writes works in its own process when no server runs, and a server sees it", async () => {
  await withBench(async (bench) => {
    await bench.must(["org", "add", "demo", "--name", "Demo", "--guild", GUILD, "--officer-role", OFFICER_ROLE]);
    assert.throws(() => Deno.statSync(bench.dir.socket), Deno.errors.NotFound);
    assert.match(await bench.must(["org", "list"]), /^PREFIX +NAME .*\ndemo +Demo +on +/);
    const server = await bench.serve();
    assert.equal((await server.operator("GET", "/api/operator/orgs/demo")).status, 200);
    assert.match(await bench.must(["org", "list"]), /\ndemo /);
  });
});

Deno.test("a second serve on the same data directory ends with 5", async () => {
  await withBench(async (bench) => {
    await bench.serve();
    const second = startServeProgram(bench.dir, { env: bench.env });
    try {
      assert.equal((await second.ended()).code, 5);
      assert.match(second.stderr(), /error: Another orgpods uses the data directory/);
    } finally {
      await second.close();
    }
  });
});

Deno.test("serve ends with 0 after SIGTERM", async () => {
  await withBench(async (bench) => {
    const server = await bench.serve();
    server.program.kill("SIGTERM");
    assert.deepEqual(await server.program.ended(), { code: 0, signal: null });
  });
});

Deno.test("commands at the same time without a server wait for each other", async () => {
  await withBench(async (bench) => {
    const all = await Promise.all([1, 2, 3].map(() => bench.orgpods(["org", "list", "--json"])));
    for (const done of all) assert.equal(done.stdout, '{"orgs":[]}\n', done.stderr);
  });
});

Deno.test("connectLocal throws already_running when the lock stays held and nobody answers", async () => {
  await withDataDir(generateSecretKey(), async (dir) => {
    const lock = takeLock(dir);
    try {
      const connecting = connectLocal({ dataDir: dir.path, waitMs: 150 });
      await assert.rejects(connecting, { code: "already_running", message: /does not answer on its socket/ });
    } finally {
      lock.release();
    }
  });
});

Deno.test("a settings file that others can read is refused, and a wrong setting is named", async () => {
  await withBench(async (bench) => {
    const file = `${bench.dir.path}/other.env`;
    Deno.writeTextFileSync(file, "CLIENT_SECRET=hush\n");
    Deno.chmodSync(file, 0o644);
    const open = await bench.orgpods(["--env-file", file, "org", "list"]);
    assert.equal(open.code, 2);
    assert.match(open.stderr, /can be read by others; run: chmod 600/);
    const wrong = await bench.orgpods(["org", "list"], { env: { SYS_ADMIN: "root" } });
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /^error: SYS_ADMIN must be a comma list of Discord ids\n$/);
  });
});

Deno.test("secrets keygen prints a key that SECRETS_KEY takes, and nothing else, on stdout", async () => {
  const one = (await run(["secrets", "keygen"])).stdout;
  assert.match(one, /^[A-Za-z0-9_-]{43}\n$/);
  assert.equal(parseSecretKeys(one).length, 1);
  assert.notEqual((await run(["secrets", "keygen"])).stdout, one);
});

Deno.test("root opens no data directory of another user by itself", { ignore: lacks("root") }, async () => {
  await withBench(async (bench) => {
    Deno.chownSync(bench.dir.path, 65534, 65534);
    const done = await bench.orgpods(["org", "list"]);
    assert.equal(done.code, 4, done.stderr);
    assert.match(done.stderr, /belongs to another user: run this as that user/);
    assert.throws(() => Deno.statSync(`${bench.dir.path}/lock`), Deno.errors.NotFound);
  });
});

Deno.test("an unforeseen error is one line and exit 1; the stack only with ORGPODS_DEBUG=1", async () => {
  await withFolder(async (dir) => {
    Deno.mkdirSync(dir.path, { mode: 0o700 });
    Deno.writeTextFileSync(dir.database, "this is no database, but long enough to be read as one ".repeat(200));
    const options = { args: ["--data-dir", dir.path, "org", "list"] };
    const short = await runProgram("main.ts", options);
    assert.equal(short.code, 1);
    assert.match(short.stderr, /^error: [^\n]*not a database[^\n]*\n$/);
    const long = await runProgram("main.ts", { ...options, env: { ORGPODS_DEBUG: "1" } });
    assert.match(long.stderr, /\n {4}at /);
  });
});
