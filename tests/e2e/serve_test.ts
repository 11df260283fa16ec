/** The program `orgpods serve` as its operator meets it: starts that are refused, ends, and keys that change. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../server/clock.ts";
import type { DataDir } from "../../server/data_dir.ts";
import { tryLock } from "../../server/data_lock.ts";
import { MEMBER, OFFICER } from "../../server/demo/people.ts";
import { createInProcessHost } from "../../server/demo/pods/inprocess_host.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";
import { silentLog } from "../../server/log.ts";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { type Finished, runProgram, startProgram } from "../support/process.ts";
import {
  addOrg,
  must,
  type ServeOptions,
  type Server,
  serverOf,
  startServe,
  startServeProgram,
  tokenOf,
  untilTrue,
  withDataDir,
} from "../support/server_process.ts";
import { type Standins, startStandins } from "../support/standins.ts";

const API = "/api/compute/demo";
/** How long a server may take to end after SIGTERM. */
const END_MS = 60_000;

async function withStandins(
  use: (standins: Standins) => Promise<void>,
  options: Parameters<typeof startStandins>[0] = {},
) {
  const standins = await startStandins(options);
  try {
    await use(standins);
  } finally {
    await standins.close();
  }
}

async function withServer(dir: DataDir, options: ServeOptions, use: (server: Server) => Promise<void>): Promise<void> {
  const server = await startServe(dir, options);
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

/** A start that must be refused: nothing on standard output; on standard error what is wrong in one line, and what helps. */
async function refusedStart(dir: DataDir, options: ServeOptions): Promise<Finished> {
  const program = startServeProgram(dir, options);
  try {
    const ended = await program.ended();
    assert.equal(program.stdout(), "");
    assert.match(program.stderr(), /^error: [^\n]+\n(?:hint: [^\n]+\n)?$/);
    return { ...ended, stdout: "", stderr: program.stderr() };
  } finally {
    await program.close();
  }
}

async function endsWell(server: Server): Promise<void> {
  server.program.kill("SIGTERM");
  assert.equal((await server.program.ended(END_MS)).code, 0);
}

Deno.test("serve refuses to start when a setting, a file or another program stands in its way", async (t) => {
  await withDataDir(generateSecretKey(), async (dir) => {
    const env = {};
    const plain: ServeOptions = { env, args: ["--port", "0"] };

    await t.step("test upstreams without the flag", async () => {
      const { code, stderr } = await refusedStart(dir, { ...plain, env: { RUNPOD_API_URL: "http://127.0.0.1:9/v2" } });
      assert.equal(code, 2);
      assert.match(
        stderr,
        /RUNPOD_API_URL must be https:\/\/api\.runpod\.io\/v2 unless --allow-test-upstreams is given/,
      );
    });

    await t.step("a malformed SECRETS_KEY, which is not repeated", async () => {
      const value = `${generateSecretKey()},not-a-key-but-nearly-secret`;
      const { code, stderr } = await refusedStart(dir, { ...plain, env: { SECRETS_KEY: value } });
      assert.equal(code, 2);
      assert.match(stderr, /SECRETS_KEY entry 2 must be 32 bytes/);
      for (const part of value.split(",")) assert.ok(!stderr.includes(part.slice(0, 8)), stderr);
    });

    await t.step("a settings file that others can read", async () => {
      Deno.chmodSync(dir.envFile, 0o640);
      const { code, stderr } = await refusedStart(dir, plain).finally(() => Deno.chmodSync(dir.envFile, 0o600));
      assert.equal(code, 2);
      assert.ok(stderr.includes(`chmod 600 ${dir.envFile}`), stderr);
    });

    await t.step("a data directory that others can enter", async () => {
      Deno.chmodSync(dir.path, 0o750);
      const { code, stderr } = await refusedStart(dir, plain).finally(() => Deno.chmodSync(dir.path, 0o700));
      assert.equal(code, 2);
      assert.ok(stderr.includes(`chmod 700 ${dir.path}`), stderr);
    });

    await t.step("a port that is taken", async () => {
      using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const port = String((other.addr as Deno.NetAddr).port);
      const { code, stderr } = await refusedStart(dir, { env, args: ["--port", port] });
      assert.equal(code, 5);
      assert.ok(stderr.includes(`Port ${port} on 127.0.0.1 is in use`), stderr);
    });

    for (const journal of ["wal", "delete"]) { // A copy made by VACUUM INTO is in the second.
      await t.step(`a database of a newer program in journal mode ${journal}, which stays as it is`, async () => {
        const file = new DatabaseSync(dir.database);
        const version = file.prepare("pragma user_version").get()!.user_version;
        file.exec(`pragma journal_mode = ${journal}; pragma user_version = 999`);
        file.close();
        const before = Deno.readFileSync(dir.database);
        const { code, stderr } = await refusedStart(dir, plain);
        const after = Deno.readFileSync(dir.database);
        const again = new DatabaseSync(dir.database);
        again.exec(`pragma user_version = ${version}`);
        again.close();
        assert.equal(code, 5);
        assert.match(stderr, /schema version 999, newer than this program knows/);
        assert.deepEqual(after, before);
      });
    }

    await t.step("a second serve, and the first goes on", async () => {
      await withServer(dir, plain, async (server) => {
        const { code, stderr } = await refusedStart(dir, plain);
        assert.equal(code, 5);
        assert.match(stderr, /Another orgpods uses the data directory/);
        assert.match(stderr, /hint: It is a server: stop that one first/);
        assert.equal((await server.call("GET", "/health")).json.status, "ok");
        assert.equal((await server.operator("GET", "/api/operator/status")).status, 200, "its socket is still its own");
        await endsWell(server);
      });
    });
  });
});

Deno.test("serve starts again on the spot when it was killed", async () => {
  await withDataDir(generateSecretKey(), async (dir) => {
    await withServer(dir, { env: {} }, async (server) => {
      server.program.kill("SIGKILL");
      await server.program.ended();
      assert.ok(Deno.lstatSync(dir.socket).isSocket, "a socket is left behind");
    });
    await withServer(dir, { env: {} }, async (server) => {
      assert.equal((await server.operator("GET", "/api/operator/status")).status, 200);
      await endsWell(server);
    });
    const lock = tryLock(dir);
    assert.ok(lock);
    lock.release();
  });
});

Deno.test("serve goes on and says so when a rejected promise is awaited by nobody", async () => {
  await withDataDir(generateSecretKey(), async (dir) => {
    const server = await serverOf(startProgram("tests/support/serve_program.ts", { args: [dir.path] }), dir);
    try {
      await server.program.send("reject");
      await server.program.line(/"level":"error".*nobody awaits this/);
      assert.equal((await server.call("GET", "/health")).json.status, "ok");
      await endsWell(server);
    } finally {
      await server.close();
    }
  });
});

Deno.test("serve answers what is under way and ends with 0 when it is told to stop", async (t) => {
  await withStandins((standins) =>
    withDataDir(generateSecretKey(), async (dir) => {
      const { faults, requests } = standins.runpod;
      const body = { public_key: publicLine(generateKeyPair().publicKey, "") };
      let [member, podId] = ["", ""];
      await withServer(dir, { env: standins.env }, async (server) => {
        await addOrg(server, standins.secrets.runpodKey);
        member = await tokenOf(server, "cli", MEMBER.id);
        const officer = await tokenOf(server, "officer", OFFICER.id);
        const body = { name: "lab", use_cpu_only: true, is_public: true };
        podId = (await must(server.call("POST", `${API}/pods`, { token: officer, body }))).json.pod.id;
        await untilTrue("the pod has an address", async () =>
          (await server.call("GET", `${API}/pods/${podId}`, { token: officer })).json.pod.status === "RUNNING");
        await endsWell(server);
      });
      const cases = [
        { what: "a slow RunPod", ms: 1_500, answer: { status: 200, code: undefined } },
        { what: "a RunPod that stalls", ms: 60_000, answer: { status: 424, code: "runpod_unavailable" } },
      ];
      for (const { what, ms, answer } of cases) {
        await t.step(what, () =>
          withServer(dir, { env: standins.env }, async (server) => {
            faults.on({ fault: "F34", variant: "slow", ms });
            requests.length = 0;
            const reply = server.call("POST", `${API}/me/pods/${podId}/connect`, { token: member, body });
            await untilTrue("RunPod was asked", () =>
              requests.some((r) =>
                r.path === `/v2/pods/${podId}`
              ));
            const [{ status, json }] = await Promise.all([reply, endsWell(server)]);
            assert.deepEqual({ status, code: json.code }, answer);
            faults.clear();
          }));
      }
    })
  );
});

Deno.test("serve says what does not work when SECRETS_KEY is missing, wrong or changes", async (t) => {
  const folder = await Deno.makeTempDir();
  await Deno.chmod(folder, 0o755); // The pods' commands run as another user.
  const podHost = createInProcessHost({ folder: `${folder}/pods`, log: silentLog, clock: systemClock });
  try {
    await withStandins((standins) => {
      const [oldKey, newKey] = [generateSecretKey(), generateSecretKey()];
      return withDataDir(oldKey, async (dir) => {
        await Deno.remove(dir.envFile);
        const public_key = publicLine(generateKeyPair().publicKey, "");
        const withKeys = (...keys: string[]): ServeOptions => ({
          env: { ...standins.env, ...(keys.length === 0 ? {} : { SECRETS_KEY: keys.join(",") }) },
        });
        let [officer, member, podId] = ["", "", ""];
        const create = (server: Server) =>
          server.call("POST", `${API}/pods`, { token: officer, body: { use_cpu_only: true } });
        const connect = (server: Server) =>
          server.call("POST", `${API}/me/pods/${podId}/connect`, { token: member, body: { public_key } });
        const works = async (server: Server) => {
          const answer = await connect(server);
          assert.deepEqual([answer.status, answer.json.stale], [200, false], answer.text);
          assert.equal((await server.call("GET", `${API}/pods`, { token: officer })).status, 200);
        };
        const refuses = async (server: Server, code: string) => {
          for (const answer of [await create(server), await connect(server)]) {
            assert.deepEqual([answer.status, answer.json.code], [503, code], answer.text);
          }
          assert.equal((await server.call("GET", `${API}/me/pods`, { token: member })).json.stale, true);
        };

        await t.step(
          "with the first key a pod is made and reached",
          () =>
            withServer(dir, withKeys(oldKey), async (server) => {
              await addOrg(server, standins.secrets.runpodKey);
              officer = await tokenOf(server, "officer", OFFICER.id);
              member = await tokenOf(server, "cli", MEMBER.id);
              const body = { name: "lab", use_cpu_only: true, is_public: true };
              podId = (await must(server.call("POST", `${API}/pods`, { token: officer, body }))).json.pod.id;
              await untilTrue(
                "the pod is reached",
                async () => (await server.call("GET", `${API}/pods`, { token: officer })).json.pods[0].reachable,
              );
              await works(server);
              await endsWell(server);
            }),
        );

        await t.step(
          "without a key one line says so, and create and connect are refused",
          () =>
            withServer(dir, withKeys(), async (server) => {
              await refuses(server, "secrets_key_missing");
              await endsWell(server);
              const start = server.program.stderr().split("\n").filter((line) =>
                line.includes("SECRETS_KEY is not set")
              );
              assert.equal(start.length, 1);
            }),
        );

        await t.step(
          "with another key alone they are refused",
          () =>
            withServer(dir, withKeys(newKey), async (server) => {
              await refuses(server, "secrets_key_wrong");
              await endsWell(server);
            }),
        );

        await t.step(
          "with the new and the old key all works, and everything is encrypted anew",
          () =>
            withServer(dir, withKeys(newKey, oldKey), async (server) => {
              await works(server);
              const done = await runProgram("main.ts", { args: ["--data-dir", dir.path, "secrets", "rotate"] });
              assert.equal(done.code, 0, done.stderr);
              await works(server);
              await endsWell(server);
            }),
        );

        await t.step("then the new key alone is enough", () =>
          withServer(dir, withKeys(newKey), async (server) => {
            await works(server);
            assert.equal((await create(server)).status, 201);
            await endsWell(server);
          }));

        await t.step("and the old one alone is not", () =>
          withServer(dir, withKeys(oldKey), async (server) => {
            await refuses(server, "secrets_key_wrong");
            await endsWell(server);
          }));
      });
    }, { podHost });
  } finally {
    await podHost.close();
    await Deno.remove(folder, { recursive: true });
  }
});
