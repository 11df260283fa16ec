import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { GUILD, MEMBER, OFFICER, OFFICER_ROLE } from "../../server/demo/people.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";
import { lacks } from "../support/needs.ts";
import { playOnTerminal } from "../support/pty.ts";
import { type Bench, withBench, withOrg } from "./bench.ts";

const ADD = ["org", "add", "demo", "--name", "Demo", "--guild", GUILD, "--officer-role", OFFICER_ROLE];

Deno.test("org add refuses what Discord does not know, and takes it with --force and a warning", async () => {
  await withBench(async (bench) => {
    await bench.serve();
    const other = ["org", "add", "demo", "--name", "Demo", "--guild", GUILD, "--officer-role", "123456789012345678"];
    const refused = await bench.orgpods(other);
    assert.equal(refused.code, 5);
    assert.match(refused.stderr, /^error: Roles: The server has no role 123456789012345678\. /);
    assert.equal(await bench.must(["org", "list", "--json"]), '{"orgs":[]}');
    const forced = await bench.orgpods([...other, "--force"]);
    assert.equal(forced.code, 0);
    assert.match(forced.stderr, /^warning: Roles: The server has no role 123456789012345678\n/);
    const again = await bench.orgpods([...ADD]);
    assert.equal(again.code, 5);
  });
});

Deno.test("org set changes what is named and nothing else", async () => {
  await withOrg(async (bench) => {
    const org = async () => JSON.parse(await bench.must(["org", "show", "demo", "--json"])).org;
    const before = await org();
    assert.deepEqual(before.officer_role_ids, [OFFICER_ROLE]);
    await bench.must([
      "org",
      "set",
      "demo",
      "--image",
      "ghcr.io/demo/pod:2",
      "--disable",
      "--member-role",
      OFFICER_ROLE,
    ]);
    assert.deepEqual(await org(), {
      ...before,
      pod_image: "ghcr.io/demo/pod:2",
      enabled: false,
      member_role_ids: [OFFICER_ROLE],
    });
    await bench.must(["org", "set", "demo", "--no-image", "--enable", "--no-member-role"]);
    assert.deepEqual(await org(), before);
    await bench.must(["org", "set", "demo", "--deactivate"]);
    assert.match(await bench.must(["org", "show", "demo"]), /^Compute +inactive$/m);
    assert.equal((await bench.orgpods(["org", "set", "demo", "--force"])).code, 2);
  });
});

Deno.test("org show of an org that is not there ends with 3", async () => {
  await withBench(async (bench) => {
    const done = await bench.orgpods(["org", "show", "nobody"]);
    assert.equal(done.code, 3);
    assert.equal(done.stderr, "error: Organization not found: nobody\n");
    assert.equal((await bench.orgpods(["org", "show", ".."])).code, 2);
    assert.equal((await bench.orgpods(["org", "show", "one", "--org", "two"])).code, 2);
  });
});

Deno.test("org check shows each point and ends with 1 when one is wrong", async () => {
  await withOrg(async (bench) => {
    for (const named of [["demo"], ["--org", "demo"], []]) {
      const good = await bench.orgpods(["org", "check", ...named]);
      assert.equal(good.code, 0, good.stdout + good.stderr);
      assert.match(good.stdout, /^ok +RunPod key +The account has 0 pods$/m);
    }
    assert.equal((await bench.orgpods(["org", "check", "demo", "--org", "other"])).code, 2);
    assert.equal((await bench.orgpods(["org", "check", "--org", "nosuch"])).code, 3);
    bench.standins.runpod.faults.on({ fault: "F1" });
    const bad = await bench.orgpods(["org", "check", "demo"]);
    assert.equal(bad.code, 1);
    assert.match(bad.stdout, /^BAD +RunPod key +/m);
    assert.match(bad.stderr, /^RunPod key: Set a key /m);
  });
});

Deno.test("org secret set takes the value from stdin alone; unset forgets it", async () => {
  await withOrg(async (bench) => {
    const set = ["org", "secret", "set", "demo", "runpod_api_key"];
    const key = bench.standins.secrets.runpodKey;
    assert.equal(await bench.must(set, key), `runpod_api_key ...${key.slice(-4)}`);
    for (const input of ["", "two\nlines"]) assert.equal((await bench.orgpods(set, { input })).code, 2);
    const wrong = await bench.orgpods(set, { input: "rpa_wrong_0123456789" });
    assert.equal(wrong.code, 6, wrong.stderr);
    assert(!wrong.stderr.includes("rpa_wrong"), wrong.stderr);
    assert.equal(
      (await bench.orgpods(["org", "secret", "set", "demo", "password"], { input: "x".repeat(20) })).code,
      2,
    );
    assert.equal(await bench.must(["org", "secret", "unset", "demo", "runpod_api_key"]), "runpod_api_key");
    assert.equal((await bench.orgpods(["org", "secret", "unset", "demo", "runpod_api_key"])).code, 3);
  });
});

Deno.test(
  "org secret set on a terminal asks and does not show what is typed",
  { ignore: lacks("python3") },
  async () => {
    await withOrg(async (bench) => {
      const { runpodKey } = bench.standins.secrets;
      const steps = [{ expect: "it is not shown", send: `x\x7f${runpodKey}\r`, hidden: true }];
      const played = await onTerminal(bench, ["org", "secret", "set", "demo", "runpod_api_key"], steps);
      assert.equal(played.code, 0, played.text);
      assert(!played.text.includes(runpodKey), played.text);
      const stopped = await onTerminal(bench, ["org", "secret", "set", "demo", "runpod_api_key"], [
        { expect: "it is not shown", send: "abc\x03", hidden: true },
      ]);
      assert.equal(stopped.code, 2);
      assert.match(stopped.text, /nothing was changed/);
    });
  },
);

function onTerminal(
  bench: Bench,
  args: readonly string[],
  steps: { expect: string; send: string; hidden?: boolean }[],
) {
  const path = { PATH: Deno.env.get("PATH") ?? "", HOME: Deno.env.get("HOME") ?? "/" };
  const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
  const program = [Deno.execPath(), "run", "-A", "--no-check", "--quiet", main, "--data-dir", bench.dir.path];
  return playOnTerminal([...program, ...args], { env: { ...path, ...bench.env }, cwd: "/", steps });
}

Deno.test("pod terminate on a terminal wants the pod's name typed", { ignore: lacks("python3") }, async () => {
  await withOrg(async (bench) => {
    const id = await bench.must(["pod", "create", "--gpu", "NVIDIA RTX A4000", "--name", "lab-1"]);
    const wrong = await onTerminal(bench, ["pod", "terminate", id], [{ expect: "Type its name", send: "lab-2\r" }]);
    assert.equal(wrong.code, 2, wrong.text);
    assert.match(wrong.text, /nothing was terminated/);
    assert.match(await bench.must(["pod", "list"]), /lab-1/);
    const right = await onTerminal(bench, ["pod", "terminate", id], [{ expect: "Type its name", send: "lab-1\r" }]);
    assert.equal(right.code, 0, right.text);
    assert.equal(await bench.must(["pod", "list"]), "");
  });
});

Deno.test("token issue prints the token alone; list shows it without its value; revoke ends it", async () => {
  await withOrg(async (bench, server) => {
    const token = await bench.must(["token", "issue", "--kind", "officer", "--discord-id", OFFICER.id, "--days", "7"]);
    assert.match(token, /^plat_[A-Za-z0-9_-]{43}$/);
    assert.equal((await server.call("GET", "/api/compute/demo/pods", { token })).status, 200);
    const list = await bench.must(["token", "list"]);
    assert(!list.includes(token));
    const [, id] = new RegExp(`^(\\d+) +officer +${OFFICER.id} +`, "m").exec(list)!;
    assert.equal(await bench.must(["token", "revoke", id!]), id);
    assert.equal((await server.call("GET", "/api/compute/demo/pods", { token })).status, 401);
    assert.equal((await bench.orgpods(["token", "revoke", id!])).code, 3);
    const json = JSON.parse(await bench.must(["token", "issue", "--kind", "cli", "--discord-id", MEMBER.id, "--json"]));
    assert.deepEqual([json.kind, json.discord_id, json.revoked], ["cli", MEMBER.id, 0]);
  });
});

Deno.test("audit list pages backwards through what was done", async () => {
  await withOrg(async (bench) => {
    const first = await bench.orgpods(["audit", "list", "--limit", "1"]);
    assert.match(first.stdout, /^ID +AT +WHO +ADDRESS +ACTION +POD +OUTCOME +WHAT$/m);
    assert.match(
      first.stdout,
      / the server's operator +- +PUT \/api\/operator\/orgs\/:prefix\/secrets\/:name +- +ok +\S/m,
    );
    const [, before] = /^Older entries: --before (\d+)$/m.exec(first.stderr)!;
    const second = await bench.must(["audit", "list", "--before", before!]);
    assert.match(second, /POST \/api\/operator\/orgs +- +ok +added: \(prefix: demo; name: Demo; /m);
    assert.doesNotMatch(second, /secrets/);
  });
});

Deno.test("secrets rotate encrypts anew with the first key, so that the old one can go", async () => {
  await withOrg(async (bench, server) => {
    server.program.kill("SIGTERM");
    await server.program.ended();
    const [, old] = /^SECRETS_KEY=(\S+)$/m.exec(Deno.readTextFileSync(bench.dir.envFile))!;
    const fresh = generateSecretKey();
    const both = { env: { SECRETS_KEY: `${fresh},${old}` } };
    const done = await bench.orgpods(["secrets", "rotate"], both);
    assert.match(done.stdout, /^([1-9]\d*) of \1 encrypted anew\n$/);
    const after = await bench.orgpods(["pod", "list"], { env: { SECRETS_KEY: fresh } });
    assert.equal(after.code, 0, after.stderr);
    assert.notEqual((await bench.orgpods(["pod", "list"], { env: { SECRETS_KEY: old! } })).code, 0);
  });
});

Deno.test("org remove refuses with live pods and takes --force", async () => {
  await withOrg(async (bench) => {
    await bench.must(["pod", "create", "--gpu", "NVIDIA RTX A4000", "--name", "lab-1"]);
    const refused = await bench.orgpods(["org", "remove", "demo"]);
    assert.equal(refused.code, 5);
    assert.match(refused.stderr, /live pods.*lab-1/);
    assert.equal(await bench.must(["org", "remove", "demo", "--force"]), "demo");
    assert.equal((await bench.orgpods(["pod", "list"])).code, 3);
  });
});
