import assert from "node:assert/strict";
import { join } from "node:path";
import { createInProcessHost } from "../../server/demo/pods/inprocess_host.ts";
import { silentLog } from "../../server/log.ts";
import { parseCertificate } from "../../server/ssh/certificate.ts";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { createRunningPod, createWorld, eventually, PEOPLE, type Person, testClock } from "../support/world.ts";
import { type ClockedWorld, inWorld, ORG, refreshed, refused } from "./support.ts";

const KEY = publicLine(generateKeyPair().publicKey, "laptop");
const NO_FORWARDING = /^Port forwarding is off for you on this pod/;

const connect = (world: ClockedWorld, id: string, as: Person, key = KEY) =>
  world.call("POST", `${ORG}/me/pods/${id}/connect`, { as, body: { public_key: key } });

interface Connection {
  serial: string;
  runpod_id: string;
  discord_id: string;
  username: string;
  is_admin: number;
  key_fingerprint: string;
  ca_fingerprint: string;
  valid_after: number;
  valid_before: number;
  port_forwarding: number;
  address: string;
}

const lastConnection = (world: ClockedWorld) =>
  world.db.get<Connection>("select * from compute_connections order by id desc")!;

async function readyPod(world: ClockedWorld): Promise<string> {
  const id = await createRunningPod(world);
  world.clock.advance(2_000);
  return id;
}

Deno.test("a member's certificate names one pod and one folder, forces the login program and lasts twelve hours", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    const now = world.clock.now();
    const answer = await connect(world, id, "member");
    assert.equal(answer.status, 200, answer.text);
    const { ssh_info, serial, valid_before, stale, as_of, warnings } = answer.json;
    assert.match(ssh_info.certificate, /^ssh-ed25519-cert-v01@openssh\.com [A-Za-z0-9+/=]+$/);
    const certificate = parseCertificate(ssh_info.certificate);
    assert.equal(`${certificate.serial}`, serial);
    assert.equal(certificate.keyId, `discord:${PEOPLE.member}:member`);
    assert.deepEqual(certificate.principals, [`gf-${id}`]);
    assert.equal(Number(certificate.validAfter), (now - 5 * 60_000) / 1_000);
    assert.equal(Number(certificate.validBefore), (now + 12 * 3_600_000) / 1_000);
    assert.deepEqual([...certificate.criticalOptions], [["force-command", "/usr/local/bin/godfather-login member"]]);
    assert.deepEqual([...certificate.extensions.keys()], ["permit-pty"]);
    assert.deepEqual([ssh_info.username, ssh_info.user_folder, ssh_info.is_admin], ["root", "member", false]);
    assert.equal(valid_before, "2026-12-01T00:00:04+00:00");
    assert.deepEqual([stale, as_of !== null], [false, true]);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], NO_FORWARDING);

    const row = lastConnection(world);
    const ca = world.db.get<{ fingerprint: string }>("select fingerprint from compute_keys where kind = 'user_ca'")!;
    assert.equal(certificate.caFingerprint, ca.fingerprint);
    assert.deepEqual(
      [row.serial, row.runpod_id, row.discord_id, row.username, row.is_admin, row.port_forwarding, row.address],
      [serial, id, PEOPLE.member, "member", 0, 0, "192.0.2.1"],
    );
    assert.deepEqual([row.key_fingerprint, row.ca_fingerprint], [certificate.key.fingerprint, ca.fingerprint]);
    assert.deepEqual([row.valid_after, row.valid_before], [now - 5 * 60_000, now + 12 * 3_600_000]);
    const audit = world.db.get<{ actor_kind: string; actor_id: string; pod_id: string; details: string }>(
      "select * from audit_log where action like '%/connect'",
    )!;
    assert.deepEqual([audit.actor_kind, audit.actor_id, audit.pod_id], ["member", PEOPLE.member, id]);
    assert.equal(JSON.parse(audit.details).serial, serial);
  });
});

Deno.test("an officer's certificate is a root certificate with agent and port forwarding", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    const { json } = await connect(world, id, "officer");
    const certificate = parseCertificate(json.ssh_info.certificate);
    assert.deepEqual([...certificate.criticalOptions], []);
    assert.deepEqual([...certificate.extensions.keys()], [
      "permit-agent-forwarding",
      "permit-port-forwarding",
      "permit-pty",
    ]);
    assert.deepEqual(certificate.principals, [`gf-${id}`]);
    assert.equal(certificate.keyId, `discord:${PEOPLE.officer}:officer`);
    assert.deepEqual([json.ssh_info.is_admin, json.warnings], [true, []]);
    assert.deepEqual([lastConnection(world).is_admin, lastConnection(world).port_forwarding], [1, 1]);
  });
});

Deno.test("a member may forward ports only in a start of which the pod's refusal of Unix sockets is known", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    const judged = (verdict: string | null, start: string) =>
      world.db.run(
        `update compute_pods set forwarding = ?, forwarding_start = ${start}`,
        verdict,
      );
    const table: [string | null, string, boolean][] = [
      ["refused", "start_key", true],
      ["allowed", "start_key", false],
      ["refused", "'an older start'", false],
      [null, "start_key", false],
    ];
    for (const [verdict, start, may] of table) {
      world.clock.advance(2_000);
      judged(verdict, start);
      const { json } = await connect(world, id, "member");
      const certificate = parseCertificate(json.ssh_info.certificate);
      assert.equal(certificate.extensions.has("permit-port-forwarding"), may, `${verdict} ${start}`);
      assert.equal(json.warnings.some((text: string) => NO_FORWARDING.test(text)), !may);
      assert.equal(lastConnection(world).port_forwarding, may ? 1 : 0);
    }
  });
});

Deno.test("a member keeps the folder when the Discord name changes, and nobody else ever gets it", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    const folder = async (person: Person) => (await connect(world, id, person)).json.ssh_info.user_folder;
    assert.equal(await folder("member"), "member");
    world.discord.world.change({ action: "set_user", id: PEOPLE.member, username: "renamed" });
    world.discord.world.change({ action: "set_user", id: PEOPLE.exOfficer, username: ".Member" });
    world.clock.advance(61_000);
    assert.equal(await folder("member"), "member");
    assert.match(await folder("exOfficer"), /^member-[0-9a-f]{4}$/);
  });
});

Deno.test("a connect by an older id of a pod gets a certificate for the id the pod has now", async () => {
  await inWorld({}, async (world) => {
    const oldId = await readyPod(world);
    world.clock.advance(180_000);
    const moved = world.runpod.pods.migrate(oldId);
    await refreshed(world);
    await refreshed(world);
    const entries = (await world.call("GET", `${ORG}/attention`, { as: "officer" })).json.attention;
    const orphan = entries.find((entry: { kind: string }) => entry.kind === "orphan");
    await world.call("POST", `${ORG}/attention/${orphan.id}`, { as: "officer", body: { action: "adopt" } });
    world.clock.advance(2_000);
    const { json } = await connect(world, oldId, "member");
    assert.deepEqual(parseCertificate(json.ssh_info.certificate).principals, [`gf-${moved.id}`]);
    assert.equal(lastConnection(world).runpod_id, moved.id);
  });
});

Deno.test("connect without RunPod uses the stored address once the pinned host key has answered there", async () => {
  const clock = testClock();
  const parent = await Deno.makeTempDir();
  await Deno.chmod(parent, 0o755); // As root the pod's commands run as nobody.
  const folder = join(parent, "pods");
  const podHost = createInProcessHost({ folder, log: silentLog, clock });
  const world: ClockedWorld = Object.assign(await createWorld({ clock, podHost }), { clock, fetch });
  try {
    const id = await createRunningPod(world);
    await eventually(
      async () => {
        await world.call("GET", `${ORG}/pods`, { as: "officer" });
        return world.db.get("select 1 from host_key_pins") !== undefined;
      },
      "the host key is pinned",
      () => world.clock.advance(1_500),
    );
    world.runpod.faults.on({ fault: "F1", variant: "401" });
    world.clock.advance(40_000);
    const { status, json, text } = await connect(world, id, "member");
    assert.equal(status, 200, text);
    assert.equal(json.stale, true);
    assert.equal(
      json.warnings[0],
      "RunPod answered 401: missing bearer token. The address is the last known one; the pod answered there.",
    );
    assert.deepEqual({ host: json.ssh_info.host, port: json.ssh_info.port }, world.runpod.pods.get(id).address);
    // The stored address is somebody else's by now: nothing is signed.
    world.runpod.faults.clear();
    const other = await createRunningPod(world);
    const elsewhere = world.runpod.pods.get(other).address!;
    world.runpod.faults.on({ fault: "F1", variant: "401" });
    world.clock.advance(40_000);
    world.db.run("update compute_pods set port = ? where runpod_id = ?", elsewhere.port, id);
    const before = world.db.all("select 1 from compute_connections").length;
    refused(await connect(world, id, "member"), 503, "ssh_address_pending");
    // Another host at an old address is no changed host key of the pod.
    assert.equal(world.db.get("select 1 from host_key_pins where refused_at is not null"), undefined);
    assert.equal(world.db.all("select 1 from compute_connections").length, before);
    // No pinned key, so that nothing can prove an address.
    world.db.run("delete from host_key_pins");
    refused(await connect(world, id, "member"), 400, "runpod_key_refused");
  } finally {
    await world.close();
    await podHost.close();
    await Deno.remove(parent, { recursive: true });
  }
});
