import assert from "node:assert/strict";
import { insertHostKeyPin } from "../../db/stores/host_key_pins.ts";
import { HOUR, MINUTE } from "../../server/clock.ts";
import { newKeyPair } from "../../server/ssh/key_pair.ts";
import { run, withFolder } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";
import { createRunningPod, OFFICER_ROLE, PEOPLE, type Person } from "../support/world.ts";
import { act, type ClockedWorld, inWorld, ORG, refreshed, refused } from "./support.ts";

const sshConfig = (world: ClockedWorld, id: string, as: Person = "member", query = "") =>
  world.call("GET", `${ORG}/me/pods/${id}/ssh-config${query}`, { as });

const connect = (world: ClockedWorld, id: string, as: Person = "member") =>
  world.call("POST", `${ORG}/me/pods/${id}/connect`, { as, body: { public_key: newKeyPair("laptop").line } });

Deno.test("ssh-config says where the pod is, as connect does, without giving a certificate", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world, { name: "workshop" });
    const key = newKeyPair("host").line.split(" ").slice(0, 2).join(" ");
    const { pod, start } = world.db.get<{ pod: string; start: string }>(
      "select id as pod, start_key as start from compute_pods",
    )!;
    insertHostKeyPin(world.db, { podId: pod, startKey: start, fingerprint: "SHA256:x", publicKey: key }, 0);
    const { status, json, headers } = await sshConfig(world, id);
    assert.equal(status, 200);
    assert.match(headers.get("content-type")!, /json/);
    assert.equal(world.db.all("select * from compute_connections").length, 0);
    const given = (await connect(world, id)).json;
    assert.deepEqual(json, {
      pod_id: id,
      name: "workshop",
      alias: "org-workshop",
      host: given.ssh_info.host,
      port: given.ssh_info.port,
      username: "root",
      start: given.start,
      known_hosts: [`[${given.ssh_info.host}]:${given.ssh_info.port} ${key}`],
      certificate: "none",
      config: [
        "# Right until the pod is started again; a configuration that stays right: orgpods ssh-config",
        "Host org-workshop",
        `  HostName ${given.ssh_info.host}`,
        `  Port ${given.ssh_info.port}`,
        "  User root",
        "  IdentityFile ~/.godfather/ssh/id_ed25519",
        "  IdentitiesOnly yes",
        "  StrictHostKeyChecking yes",
        "",
      ].join("\n"),
      stale: false,
      as_of: json.as_of,
      warnings: [],
    });
    assert.deepEqual(json.known_hosts, given.known_hosts);
  }));

Deno.test("ssh-config refuses whom connect refuses", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world, { is_public: false, allowed_users: [PEOPLE.exOfficer, PEOPLE.blocked] });
    const table: [Person, number, string?][] = [
      ["officer", 200],
      ["exOfficer", 200],
      ["member", 403, "pod_not_accessible"],
      ["blocked", 403, "pod_not_accessible"],
      ["stranger", 403, "not_a_member"],
      ["pending", 403, "not_a_member"],
      ["removed", 403, "not_a_member"],
    ];
    for (const [person, status, code] of table) {
      const answer = await sshConfig(world, id, person);
      assert.deepEqual([answer.status, answer.json.code], [status, code], person);
    }
    refused(await sshConfig(world, "nosuchpod"), 404, "pod_not_found", "Pod not found");
    const otherOrg = `/api/compute/other/me/pods/${id}/ssh-config`;
    refused(await world.call("GET", otherOrg, { as: "otherOfficer" }), 404, "pod_not_found", "Pod not found");
    const foreign = await world.token("otherOfficer", "cli", "other");
    const answer = await world.call("GET", `${ORG}/me/pods/${id}/ssh-config`, { token: foreign });
    refused(answer, 401, "token_invalid", /CLI token/);
    refused(await sshConfig(world, id, "officer", "?serial=x"), 400, "invalid_request", /^serial must be/);
  }));

Deno.test("ssh-config says that a pod does not run, or has no address yet, and names each start", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    const first = (await sshConfig(world, id)).json;
    await act(world, id, "stop");
    refused(await sshConfig(world, id), 409, "pod_not_running", "Pod is not running");
    world.runpod.faults.on({ fault: "F16", variant: "never-address" });
    await act(world, id, "start");
    world.clock.advance(90_000);
    await refreshed(world);
    refused(await sshConfig(world, id), 503, "ssh_address_pending", /^RunPod has not given the pod an SSH address yet/);
    world.runpod.faults.clear();
    world.clock.advance(90_000);
    await refreshed(world);
    const second = (await sshConfig(world, id)).json;
    assert.notEqual(second.start, first.start);
    assert.notEqual(second.port, first.port);
  }));

Deno.test("ssh-config answers from what is known, with a warning, while RunPod is down", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    const before = (await sshConfig(world, id)).json;
    const key = await world.call("DELETE", `${ORG}/integrations/runpod?force=true`, { as: "officer" });
    assert.equal(key.status, 200);
    world.clock.advance(20_000);
    const { status, json } = await sshConfig(world, id);
    assert.deepEqual([status, json.stale, json.port], [200, true, before.port]);
    assert.match(json.warnings[0], /runpod_api_key.*\. This is the last known address\.$/);
  }));

Deno.test("ssh-config tells whether a certificate will still do", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    const { serial } = (await connect(world, id)).json;
    const state = async (one: string, as: Person = "member") =>
      (await sshConfig(world, id, as, `?serial=${one}`)).json.certificate;
    assert.equal(await state(serial), "usable");
    assert.equal(await state("1"), "renew", "one that nobody was given");
    assert.equal(await state(serial, "exOfficer"), "renew", "somebody else's");
    const other = await createRunningPod(world);
    const forOther = (await connect(world, other)).json.serial;
    assert.equal(await state(forOther), "renew", "another pod's");

    const root = (await connect(world, id, "officer")).json.serial;
    assert.equal(await state(root, "officer"), "usable");
    world.discord.world.setRoles("900000000000000001", PEOPLE.officer, []);
    world.discord.world.setRoles("900000000000000001", PEOPLE.member, [OFFICER_ROLE]);
    world.clock.advance(MINUTE);
    assert.equal(await state(root, "officer"), "renew", "root's, without the role");
    assert.equal(await state(serial), "renew", "a member's, with the role");
    world.discord.world.setRoles("900000000000000001", PEOPLE.member, []);
    world.clock.advance(MINUTE);
    assert.equal(await state(serial), "usable");

    world.db.run("update compute_connections set revoked_at = 1 where serial = ?", serial);
    assert.equal(await state(serial), "renew", "revoked");
    world.db.run("update compute_connections set revoked_at = null");
    world.clock.advance(12 * HOUR - 12 * MINUTE);
    assert.equal(await state(serial), "renew", "ends soon");
  }));

interface NameVector {
  readonly name: string;
  readonly alias: string | null;
}
const vectors = new URL("../vectors/member_ssh/pod_names.json", import.meta.url);
/** A NUL cannot come in: bodies that hold one are refused, and a text of the database ends there. */
const NAMES = (JSON.parse(await Deno.readTextFile(vectors)) as NameVector[]).filter(({ name }) => !name.includes("\0"));

Deno.test({
  name: "ssh-config never lets a pod's name into a configuration as more than a name",
  ignore: lacks("ssh"),
  fn: () =>
    withFolder((folder) =>
      inWorld({}, async (world) => {
        const id = await createRunningPod(world, { name: "plain" });
        for (const { name, alias } of NAMES) {
          world.db.run("update compute_pods set name = ?", name);
          const { status, json } = await sshConfig(world, id);
          assert.equal(status, 200, name);
          assert.equal(json.alias, `org-${alias ?? id}`, JSON.stringify(name));
          assert.equal(json.config.split("\n").length, 8, json.config);
          await Deno.writeTextFile(`${folder}/config`, json.config);
          const read = await run("ssh", ["-G", "-F", `${folder}/config`, json.alias]);
          assert.match(read.out, new RegExp(`^port ${json.port}$`, "m"), read.err);
        }
      })
    ),
});
