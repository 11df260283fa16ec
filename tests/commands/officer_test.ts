/** What officers do in the admin, done from the shell: on the server itself and from elsewhere, by the same commands. */
import assert from "node:assert/strict";
import { MEMBER, OFFICER, OFFICER_ROLE } from "../../server/demo/people.ts";
import { keepToken, officerFolder, officerTokenPath } from "../../admin/client/officer_token.ts";
import { type Bench, run, withOrg } from "./bench.ts";

/** Runs commands by an officer token against the server's address; fails unless they end with 0. */
type Remote = (args: readonly string[], input?: string) => Promise<string>;

async function withOfficer(use: (bench: Bench, remote: Remote, url: string) => Promise<void>): Promise<void> {
  await withOrg(async (bench, { url }) => {
    const token = await bench.must(["token", "issue", "--kind", "officer", "--discord-id", OFFICER.id]);
    const remote: Remote = async (args, input) => {
      const done = await bench.orgpods(["--server", url, "--org", "demo", ...args], {
        env: { ORGPODS_TOKEN: token },
        ...(input === undefined ? {} : { input }),
      });
      assert.equal(done.code, 0, `${args.join(" ")}: ${done.stderr}`);
      return done.stdout.replace(/\n$/, "");
    };
    await use(bench, remote, url);
  });
}

Deno.test("pod gpus and cpus list RunPod's catalog with prices, as create takes them", () =>
  withOfficer(async (bench, remote) => {
    for (const must of [bench.must, remote]) {
      assert.match(await must(["pod", "gpus"]), /^NVIDIA RTX A4000 +16 +\d\.\d{3} +\d\.\d{3} +\w+$/m);
      const { gpus } = JSON.parse(await must(["pod", "gpus", "--cloud", "secure", "--json"]));
      assert(gpus.some(({ id }: { id: string }) => id === "NVIDIA RTX A4000"));
      assert.match(await must(["pod", "cpus"]), /^cpu3c +\S+ +2 to \d+ +2 +\d\.\d{3} +\w+$/m);
      assert(JSON.parse(await must(["pod", "cpus", "--json"])).cpus.length > 0);
    }
  }));

Deno.test("org members finds people by name and role, and pod access adds all of a role", () =>
  withOfficer(async (bench, remote) => {
    const name = JSON.parse(await remote(["org", "members", "--json"])).members
      .find(({ id }: { id: string }) => id === MEMBER.id).name;
    for (const must of [bench.must, remote]) {
      assert.match(
        await must(["org", "members", "--name", name.slice(0, 3)]),
        new RegExp(`^${MEMBER.id} +${name} `, "m"),
      );
      const withRole = JSON.parse(await must(["org", "members", "--role", OFFICER_ROLE, "--json"]));
      assert.deepEqual(withRole.members.map(({ id }: { id: string }) => id), [OFFICER.id]);
      assert.match(await must(["org", "discord-roles"]), new RegExp(`^${OFFICER_ROLE} +\\S+`, "m"));
      const id = await must(["pod", "create", "--cpu", "--allow", MEMBER.id]);
      await must(["pod", "access", id, "--allow-role", OFFICER_ROLE]);
      const members = JSON.parse(await must(["pod", "members", id, "--json"]));
      const listed = members.access.allowed.map(({ discord_id }: { discord_id: string }) => discord_id);
      assert.deepEqual(listed.sort(), [MEMBER.id, OFFICER.id].sort());
      assert.match(await must(["pod", "members", id]), new RegExp(`^${MEMBER.id} +${name}$`, "m"));
    }
    const id = await bench.must(["pod", "create", "--cpu"]);
    for (const role of ["officers", "123456789012345678"]) {
      const refused = await bench.orgpods(["pod", "access", id, "--allow-role", role]);
      assert.equal(refused.code, 2, role);
      assert.match(refused.stderr, /role/);
    }
    const { pod } = JSON.parse(await bench.must(["pod", "show", id, "--json"]));
    assert.deepEqual(pod.allowed_users, []);
  }));

Deno.test("an officer elsewhere sets image and CUDA, tests, removes and sets the RunPod key, and switches compute", () =>
  withOfficer(async (bench, remote) => {
    const settings = async () => JSON.parse(await bench.must(["org", "settings", "--json"])).settings;
    await remote(["org", "settings", "--image", "example/pod:2", "--min-cuda", "12.4"]);
    assert.deepEqual([(await settings()).pod_image, (await settings()).min_cuda_version], ["example/pod:2", "12.4"]);
    await remote(["org", "settings", "--no-image", "--no-min-cuda", "--budget", "off"]);
    assert.deepEqual([(await settings()).pod_image, (await settings()).min_cuda_version], [null, null]);

    const key = bench.standins.secrets.runpodKey;
    for (const must of [bench.must, remote]) {
      assert.match(
        await must(["org", "secret", "show", "demo", "runpod_api_key"]),
        new RegExp(`\\.\\.\\.${key.slice(-4)} `),
      );
      assert.equal(await must(["org", "secret", "test", "demo", "runpod_api_key"]), "0");
      await must(["org", "secret", "unset", "demo", "runpod_api_key"]);
      assert.equal(await must(["org", "secret", "show", "demo", "runpod_api_key"]), "");
      assert.equal(
        await must(["org", "secret", "set", "demo", "runpod_api_key"], key),
        `runpod_api_key ...${key.slice(-4)}`,
      );
      const on = JSON.parse(await must(["org", "compute", "on", "--json"]));
      assert.deepEqual(on, { enabled: true });
      assert.equal(await must(["org", "compute", "off"]), "off");
      assert.equal(JSON.parse(await bench.must(["org", "show", "demo", "--json"])).org.enabled, false);
      assert.equal(await must(["org", "compute", "on"]), "on");
    }
    assert.equal((await bench.orgpods(["org", "compute", "perhaps"])).code, 2);
    assert.equal((await bench.orgpods(["org", "secret", "test", "demo", "other_key"])).code, 2);
  }));

Deno.test("org roles shows which roles make officers and members; changing them is for the operator", () =>
  withOfficer(async (bench, remote) => {
    assert.match(await remote(["org", "roles"]), new RegExp(`^Officer roles +${OFFICER_ROLE}$`, "m"));
    assert.deepEqual(JSON.parse(await bench.must(["org", "roles", "--member", OFFICER_ROLE, "--json"])), {
      officer_role_ids: [OFFICER_ROLE],
      member_role_ids: [OFFICER_ROLE],
    });
    assert.match(await bench.must(["org", "roles", "--no-member"]), /^Member roles +none/m);
    assert.match(await remote(["org", "list"]), /^demo +Demo$/m);
  }));

Deno.test("an officer who may not change roles is refused with 4, and nothing is changed", () =>
  withOfficer(async (bench, _, url) => {
    const token = await bench.must(["token", "issue", "--kind", "officer", "--discord-id", OFFICER.id]);
    const refused = await bench.orgpods(["--server", url, "--org", "demo", "org", "roles", "--no-officer"], {
      env: { ORGPODS_TOKEN: token },
    });
    assert.equal(refused.code, 4, refused.stderr);
    assert.match(await bench.must(["org", "roles"]), new RegExp(`^Officer roles +${OFFICER_ROLE}$`, "m"));
  }));

Deno.test("commands take the token that the admin kept when none is given, and a given one before it", () =>
  withOfficer(async (bench, _, url) => {
    const token = await bench.must(["token", "issue", "--kind", "officer", "--discord-id", OFFICER.id]);
    const home = await Deno.makeTempDir({ prefix: "orgpods-test-" });
    try {
      const env = { XDG_CONFIG_HOME: home, ORGPODS_TOKEN: "" };
      const path = officerTokenPath(officerFolder((name) => ({ ...env } as Record<string, string>)[name]), url, "demo");
      const args = ["--server", url, "--org", "demo", "pod", "list", "--json"];
      assert.equal((await run(args, env)).code, 2);
      await keepToken(path, { token, expires_at: null });
      const done = await run(args, env);
      assert.equal(done.code, 0, done.stderr);
      assert.deepEqual(JSON.parse(done.stdout).pods, []);
      const given = await run(args, { ...env, ORGPODS_TOKEN: `plat_${"x".repeat(43)}` });
      assert.equal(given.code, 4);
    } finally {
      await Deno.remove(home, { recursive: true });
    }
  }));
