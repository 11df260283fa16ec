import assert from "node:assert/strict";
import { PUBLIC_WARNING } from "../../server/pods/create.ts";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { createRunningPod, GUILD, OFFICER_ROLE, PEOPLE, type Person } from "../support/world.ts";
import { act, attention, type ClockedWorld, inWorld, ORG, refused } from "./support.ts";

const KEY = publicLine(generateKeyPair().publicKey, "laptop");
const UNTIL = "2026-12-01T00:00:02+00:00";

const put = (world: ClockedWorld, id: string, body: unknown) =>
  world.call("PUT", `${ORG}/pods/${id}`, { as: "officer", body });

async function connected(world: ClockedWorld, id: string, ...people: Person[]): Promise<void> {
  for (const as of people) {
    const answer = await world.call("POST", `${ORG}/me/pods/${id}/connect`, { as, body: { public_key: KEY } });
    assert.equal(answer.status, 200, answer.text);
  }
}

const USERS = "allowed_users must be a list of at most 500 Discord ids";
const USER = "allowed_users must hold Discord ids, of 5 to 25 digits each";
const REFUSED: [unknown, string][] = [
  [{}, "Send is_public or allowed_users"],
  [{ is_public: "true" }, "is_public must be true or false"],
  [{ is_public: null }, "is_public must be true or false"],
  [{ is_public: 1 }, "is_public must be true or false"],
  [{ allowed_users: null }, USERS],
  [{ allowed_users: "12345" }, USERS],
  [{ allowed_users: Array.from({ length: 501 }, (_, i) => String(100_000 + i)) }, USERS],
  [{ allowed_users: ["1234"] }, USER],
  [{ allowed_users: [12345] }, USER],
  [{ allowed_users: ["12345", "x"] }, USER],
  [{ is_public: true, public: false }, "Unknown field: public"],
  [{ name: "new" }, "Unknown field: name"],
];

Deno.test("an access change that breaks a rule is refused with the rule's sentence and changes nothing", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, { is_public: false, allowed_users: ["12345"] });
    for (const [body, sentence] of REFUSED) {
      const answer = await put(world, id, body);
      assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`);
      refused(answer, 400, "invalid_request", sentence);
    }
    refused(await put(world, "nosuchpod00000", { is_public: true }), 404, "pod_not_found");
    const { pod } = (await world.call("GET", `${ORG}/pods/${id}`, { as: "officer" })).json;
    assert.deepEqual([pod.is_public, pod.allowed_users], [false, ["12345"]]);
    assert.equal(world.db.get("select 1 from audit_log where action = 'PUT /api/compute/:org/pods/:id'"), undefined);
  });
});

Deno.test("an access change replaces what it names, keeps the rest, asks RunPod nothing and is audited", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, { is_public: false, allowed_users: ["12345"], use_cpu_only: false });
    const asked = world.runpod.requests.length;
    const list = await put(world, id, { allowed_users: ["99999", "11111", "99999"] });
    assert.deepEqual([list.json.pod.is_public, list.json.pod.allowed_users], [false, ["11111", "99999"]]);
    assert.deepEqual(list.json.warnings, []);
    const open = await put(world, id, { is_public: true });
    assert.deepEqual([open.json.pod.is_public, open.json.pod.allowed_users], [true, ["11111", "99999"]]);
    assert.deepEqual(open.json.warnings, [PUBLIC_WARNING]);
    assert.deepEqual([open.json.pod.status, open.json.pod.cost_per_hour], ["RUNNING", 0.17], "the last known values");
    const none = await put(world, id, { allowed_users: [], is_public: false });
    assert.deepEqual([none.json.pod.is_public, none.json.pod.allowed_users, none.json.warnings], [false, [], []]);
    assert.equal(world.runpod.requests.length, asked);
    const audit = world.db.all<{ actor_id: string; details: string }>(
      "select * from audit_log where action = 'PUT /api/compute/:org/pods/:id'",
    );
    assert.deepEqual(audit.map((row) => row.actor_id), [PEOPLE.officer, PEOPLE.officer, PEOPLE.officer]);
    assert.deepEqual(JSON.parse(audit[1]!.details).before, { is_public: false, allowed: 2 });
    assert.equal(JSON.parse(audit[1]!.details).is_public, true);
  });
});

Deno.test("a public pod in an org with a member role is no reason to warn", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, { is_public: false });
    await world.call("PUT", `${ORG}/roles`, { as: "operator", body: { member_role_ids: [OFFICER_ROLE] } });
    assert.deepEqual((await put(world, id, { is_public: true })).json.warnings, []);
  });
});

Deno.test("taking access away takes each person's certificates back, once, and says what is left where the pod does not answer", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, { allowed_users: [PEOPLE.exOfficer] });
    await connected(world, id, "member", "exOfficer", "officer", "member");
    const first = (await put(world, id, { is_public: false })).json;
    const [removal, ...others] = first.removals;
    assert.deepEqual([removal.discord_id, removal.certificates, removal.state, others.length], [
      PEOPLE.member,
      2,
      "open",
      0,
    ]);
    assert.match(removal.left, new RegExp(`A certificate works there until ${UNTIL.replaceAll("+", "\\+")}`));
    assert.ok(first.warnings[0].startsWith(`${PEOPLE.member}: The pod has not the revocation list`), first.warnings[0]);
    const again = (await put(world, id, { is_public: false })).json;
    assert.deepEqual([again.removals, again.warnings], [[], []], "it was taken already");
    const both = (await put(world, id, { allowed_users: [] })).json.removals;
    assert.deepEqual(both.map((one: { discord_id: string }) => one.discord_id), [PEOPLE.exOfficer]);
    const revoked = world.db.all<{ is_admin: number; revoked_at: number | null }>("select * from compute_connections");
    assert.deepEqual(
      revoked.map((row) => row.revoked_at === null),
      [false, false, true, false],
      "the officer keeps theirs",
    );
    const list = (await world.call("GET", `${ORG}/removals`, { as: "officer" })).json.removals;
    assert.deepEqual(list.map((one: Record<string, unknown>) => [one.discord_id, one.state, one.pod_id]), [
      [PEOPLE.exOfficer, "open", id],
      [PEOPLE.member, "open", id],
    ]);
  });
});

Deno.test("an officer no more who is taken off a list loses what they have at once; who is one keeps it", async () => {
  await inWorld({}, async (world) => {
    const { discord } = world;
    const people = [PEOPLE.exOfficer, PEOPLE.officer];
    const id = await createRunningPod(world, { is_public: false, allowed_users: people });
    discord.world.setRoles(GUILD, PEOPLE.exOfficer, [OFFICER_ROLE]);
    await connected(world, id, "exOfficer", "officer");
    // Within the minute that Discord's word is kept.
    discord.world.setRoles(GUILD, PEOPLE.exOfficer, []);
    const { removals } = (await put(world, id, { remove_users: people })).json;
    assert.deepEqual(
      removals.map((one: Record<string, unknown>) => [one.discord_id, one.certificates, one.todo !== null]),
      [[PEOPLE.exOfficer, 1, true]],
    );
    const rows = world.db.all<{ asked_by: string; which: string }>("select * from access_removals");
    assert.deepEqual(rows.map((row) => [row.asked_by, row.which]), [[PEOPLE.officer, "all"]]);
  });
});

Deno.test("an access change says of whom Discord does not tell whether they are an officer, and lets them be", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, { is_public: false, allowed_users: [PEOPLE.officer] });
    await connected(world, id, "officer");
    world.discord.faults.set({ fault: "D20", variant: "503" });
    const change = (body: unknown) => world.call("PUT", `${ORG}/pods/${id}`, { as: "operator", body });
    const answer = await change({ remove_users: [PEOPLE.officer] });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.json.removals, answer.json.pod.allowed_users], [[], []]);
    assert.match(
      answer.json.warnings.join(),
      new RegExp(`^Discord does not say whether ${PEOPLE.officer} is still an officer, .*within three minutes\\.$`),
    );
    // Somebody who was on no list is not asked about at each change.
    assert.deepEqual((await change({ add_users: [PEOPLE.member] })).json.warnings, []);
  });
});

Deno.test("the members of a pod are those who may use it, with names, and the last hundred certificates", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, { is_public: true, allowed_users: [PEOPLE.member, "77777"] });
    await connected(world, id, "member", "officer");
    const pod = world.db.get<{ id: string }>("select id from compute_pods")!.id;
    const { status, json } = await world.call("GET", `${ORG}/pods/${id}/members`, { as: "officer" });
    assert.equal(status, 200);
    assert.deepEqual([json.pod_id, json.access.is_public], [id, true]);
    assert.deepEqual(json.access.allowed, [
      { discord_id: PEOPLE.member, name: "member" },
      { discord_id: "77777", name: null },
    ]);
    const [newest, older] = json.recent;
    assert.deepEqual(
      [newest.discord_id, newest.name, newest.username, newest.is_admin, newest.valid_before],
      [PEOPLE.officer, "officer", "officer", true, UNTIL],
    );
    assert.deepEqual([older.discord_id, older.is_admin, typeof older.serial], [PEOPLE.member, false, "string"]);
    assert.match(newest.created_at, /^2026-11-30T12:00:0\d/);
    for (let made = 0; made < 120; made++) {
      world.db.run(
        "insert into compute_connections (org_id, pod_id, runpod_id, discord_id, username, is_admin, serial, " +
          "key_fingerprint, ca_fingerprint, valid_after, valid_before, port_forwarding, created_at) " +
          "values (1, ?, ?, '77777', 'bob', 0, ?, 'f', 'c', 0, 1, 0, ?)",
        pod,
        id,
        `many-${made}`,
        made,
      );
    }
    const many = (await world.call("GET", `${ORG}/pods/${id}/members`, { as: "officer" })).json.recent;
    assert.deepEqual([many.length, many[0].serial, many[99].serial], [100, "many-119", "many-20"]);
    refused(await world.call("GET", `${ORG}/pods/nosuchpod00000/members`, { as: "officer" }), 404, "pod_not_found");
  });
});

Deno.test("the members of a pod are shown without names when Discord fails", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, { allowed_users: [PEOPLE.member] });
    await world.token("officer", "officer");
    world.discord.world.removeBot("900000000000000001");
    const { status, json } = await world.call("GET", `${ORG}/pods/${id}/members`, { as: "operator" });
    assert.equal(status, 200);
    assert.deepEqual(json.access.allowed, [{ discord_id: PEOPLE.member, name: null }]);
  });
});

Deno.test("attention is for officers, lists the oldest first, and its bodies are strict", async () => {
  await inWorld({ timings: { settleWaitMs: 40 } }, async (world) => {
    for (const name of ["first", "second"]) {
      world.runpod.faults.on({ fault: "F14", times: 1 });
      const lost = await world.call("POST", `${ORG}/pods`, { as: "officer", body: { use_cpu_only: true, name } });
      assert.equal(lost.status, 424);
      world.clock.advance(1_000);
    }
    const entries = await attention(world);
    assert.deepEqual(entries.map((entry) => entry.name), ["first", "second"]);
    assert.deepEqual(Object.keys(entries[0]).sort(), [
      "actions",
      "asked_by",
      "id",
      "kind",
      "name",
      "pod_id",
      "since",
      "todo",
      "what",
    ]);
    assert.deepEqual([entries[0].asked_by, entries[0].since], [PEOPLE.officer, "2026-11-30T12:00:00+00:00"]);
    const path = `${ORG}/attention/${entries[0].id}`;
    const send = (body: unknown, as: Person = "officer", to = path) => world.call("POST", to, { as, body });
    refused(await send({}), 400, "invalid_request", "action must be adopt or forget");
    refused(await send({ action: "delete" }), 400, "invalid_request", "action must be adopt or forget");
    refused(await send({ action: "forget", sure: true }), 400, "invalid_request", "Unknown field: sure");
    refused(await send({ action: "adopt", runpod_id: 5 }), 400, "invalid_request", /^runpod_id must be/);
    refused(await send({ action: "forget" }, "officer", `${ORG}/attention/nothing`), 404, "attention_not_found");
    const other = path.replace("/org/", "/other/");
    refused(await send({ action: "forget" }, "otherOfficer", other), 404, "attention_not_found");
    refused(await world.call("GET", `${ORG}/attention`, { as: "member", kind: "officer" }), 403, "not_an_officer");
    refused(await send({ action: "forget" }, "exOfficer"), 403, "not_an_officer");
    assert.equal((await attention(world)).length, 2);
    assert.equal((await send({ action: "forget" })).status, 200);
    assert.equal((await attention(world)).length, 1);
    assert.equal(
      world.db.all("select 1 from audit_log where action = 'POST /api/compute/:org/attention/:id'").length,
      1,
    );
  });
});

Deno.test("a pod that runs in the console again shows no attention, a stopped one no cost", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    await act(world, id, "stop");
    world.clock.advance(2_000);
    const pods = (await world.call("GET", `${ORG}/pods`, { as: "officer" })).json.pods;
    assert.deepEqual([pods[0].status, pods[0].cost_per_hour], ["EXITED", 0]);
    assert.deepEqual(await attention(world), []);
  });
});
