/** The check that ends the access of people who lost it outside of the server. */
import assert from "node:assert/strict";
import { HOUR, MINUTE } from "../../server/clock.ts";
import { RECREATE } from "../../server/removal/tell.ts";
import { inWorld, ORG } from "../pods/support.ts";
import { createRunningPod, GUILD, OFFICER_ROLE, OTHER_GUILD, PEOPLE, type Person } from "../support/world.ts";
import { check, inWard, type Ward, wardOf } from "./support.ts";

/** What Discord said a moment ago counts no more. */
async function checkedLater(ward: Ward): Promise<string[]> {
  ward.world.clock.advance(MINUTE + 1);
  await check(ward.world);
  return ward.rows().map((row) => `${row.discord_id} ${row.which}: ${row.reason}`);
}

const LEFT = "They left the Discord server or lost the member role";
const line = (person: Person, which: string, reason: string) => `${PEOPLE[person]} ${which}: ${reason}`;

const MEMBER_ROLE = "900000000000000011";

Deno.test("whoever left the server, lost the member role or is pending again loses everything; who stayed keeps it", () =>
  inWorld({}, async (world) => {
    const { discord } = world;
    discord.world.addRole({ guild_id: GUILD, id: MEMBER_ROLE, name: "Members", position: 1 });
    for (const who of ["member", "exOfficer", "pending", "removed"] as const) {
      if (who === "removed") discord.world.addMember({ guild_id: GUILD, user_id: PEOPLE[who] });
      discord.world.setPending(GUILD, PEOPLE[who], false);
      discord.world.setRoles(GUILD, PEOPLE[who], [MEMBER_ROLE]);
    }
    const roles = { member_role_ids: [MEMBER_ROLE] };
    assert.equal((await world.call("PUT", `${ORG}/roles`, { as: "operator", body: roles })).status, 200);
    const ward = wardOf(world, await createRunningPod(world));
    await ward.connect("member", "exOfficer", "pending", "removed", "officer");
    assert.deepEqual(await checkedLater(ward), [], "nobody lost anything");
    discord.world.removeMember(GUILD, PEOPLE.removed);
    discord.world.setRoles(GUILD, PEOPLE.exOfficer, []);
    discord.world.setPending(GUILD, PEOPLE.pending, true);
    const all = [line("removed", "all", LEFT), line("pending", "all", LEFT), line("exOfficer", "all", LEFT)];
    assert.deepEqual((await checkedLater(ward)).toSorted(), all.toSorted());
    assert.deepEqual(
      ward.certificates().filter((one) => one.revoked_at === null).map((one) => one.discord_id),
      [PEOPLE.member, PEOPLE.officer],
    );
    assert.deepEqual(ward.events().map((one) => one.discord_id).toSorted(), [
      PEOPLE.exOfficer,
      PEOPLE.removed,
      PEOPLE.pending,
    ]);
    assert.deepEqual(ward.rows().map((row) => row.asked_by), [null, null, null], "the server did it by itself");
  }));

Deno.test("who left is told once, also when their certificate had run out and the pod has been up since", () =>
  inWard([PEOPLE.member], async (ward) => {
    await ward.connect("member");
    ward.world.clock.advance(13 * HOUR);
    ward.world.discord.world.removeMember(GUILD, PEOPLE.member);
    assert.deepEqual(await checkedLater(ward), [line("member", "all", LEFT)], "their connection may be open");
    assert.deepEqual(await checkedLater(ward), [line("member", "all", LEFT)]);
    assert.equal(ward.events().length, 1);
  }));

Deno.test("a certificate that ran out before the pod came up is nobody's access", () =>
  inWard([PEOPLE.member], async (ward) => {
    await ward.connect("member");
    ward.world.clock.advance(13 * HOUR);
    ward.world.db.run("update compute_pods set up_since = ?", ward.world.clock.now());
    ward.world.discord.world.removeMember(GUILD, PEOPLE.member);
    assert.deepEqual(await checkedLater(ward), []);
  }));

Deno.test("an ex-officer who may use the pod loses root alone, and what is to be done about it is told", () =>
  inWard([PEOPLE.exOfficer], async (ward) => {
    const { discord } = ward.world;
    await ward.connect("exOfficer");
    discord.world.setRoles(GUILD, PEOPLE.exOfficer, [OFFICER_ROLE]);
    ward.world.clock.advance(MINUTE + 1);
    await ward.connect("exOfficer");
    discord.world.setRoles(GUILD, PEOPLE.exOfficer, []);
    const rows = await checkedLater(ward);
    assert.deepEqual(rows, [line("exOfficer", "root", "They are no officer any more")]);
    assert.deepEqual(ward.certificates().map((one) => [one.is_admin, one.revoked_at === null]), [[0, true], [
      1,
      false,
    ]]);
    assert.equal(ward.events()[0]!.todo, RECREATE);
    const { removals } = (await ward.world.call("GET", `${ORG}/removals`, { as: "officer" })).json;
    assert.deepEqual([removals[0].only_root, removals[0].had_root, removals[0].todo], [true, true, RECREATE]);
    assert.deepEqual(await checkedLater(ward), rows, "once");
  }));

Deno.test("an ex-officer who is not on the pod's list loses everything there", () =>
  inWard([], async (ward) => {
    ward.world.discord.world.setRoles(GUILD, PEOPLE.exOfficer, [OFFICER_ROLE]);
    await ward.connect("exOfficer");
    ward.world.discord.world.setRoles(GUILD, PEOPLE.exOfficer, []);
    assert.deepEqual(await checkedLater(ward), [line("exOfficer", "all", "They may not use the pod any more")]);
  }));

Deno.test("a superadmin keeps what they have, on no list and once they left the server", () =>
  inWard([], async (ward) => {
    const { discord } = ward.world;
    discord.world.addMember({ guild_id: GUILD, user_id: PEOPLE.superadmin });
    await ward.connect("superadmin");
    discord.world.removeMember(GUILD, PEOPLE.superadmin);
    assert.equal(ward.certificates()[0]!.is_admin, 1);
    assert.deepEqual(await checkedLater(ward), []);
  }));

Deno.test("while Discord is away nothing is taken, and afterwards what was missed", () =>
  inWard([PEOPLE.member], async (ward) => {
    const { discord } = ward.world;
    await ward.connect("member");
    discord.world.removeMember(GUILD, PEOPLE.member);
    for (const variant of ["503", "broken-json", "404-html", "cut", "404-without-code"]) {
      discord.faults.set({ fault: "D20", variant });
      assert.deepEqual(await checkedLater(ward), [], variant);
      assert.equal(ward.certificates()[0]!.revoked_at, null, variant);
      discord.faults.clear();
    }
    ward.world.clock.advance(10 * MINUTE);
    assert.deepEqual(await checkedLater(ward), [line("member", "all", LEFT)]);
  }));

Deno.test("what one Discord server said about somebody decides nothing once the org has moved to another", () => {
  let hold: Promise<void> | null = null;
  const asked = Promise.withResolvers<void>();
  const slow = (inner: typeof fetch): typeof fetch => async (input, init) => {
    const answer = await inner(input, init);
    if (hold !== null) asked.resolve();
    await hold;
    return answer;
  };
  return inWorld({ fetch: slow }, async (world) => {
    const ward = wardOf(world, await createRunningPod(world));
    await ward.connect("exOfficer");
    world.discord.world.removeMember(GUILD, PEOPLE.exOfficer);
    world.db.run("update organizations set guild_id = '900000000000000003' where id = 2");
    world.discord.world.addMember({ guild_id: OTHER_GUILD, user_id: PEOPLE.exOfficer });
    world.clock.advance(MINUTE + 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    hold = promise;
    const checking = check(world);
    await asked.promise;
    world.db.run("update organizations set guild_id = ? where id = 1", OTHER_GUILD);
    resolve();
    hold = null;
    await checking;
    assert.deepEqual(ward.rows(), []);
    assert.deepEqual(await checkedLater(ward), [], "they are on the new server");
    world.db.run("update organizations set guild_id = ? where id = 1", GUILD);
    assert.deepEqual(await checkedLater(ward), [line("exOfficer", "all", LEFT)]);
  });
});

Deno.test("one person Discord says nothing about keeps nobody else's access from being checked", () =>
  inWorld({
    fetch: (inner) => async (input, init) =>
      new URL(input instanceof Request ? input.url : String(input)).pathname.endsWith(PEOPLE.exOfficer)
        ? new Response("not JSON", { headers: { "content-type": "application/json" } })
        : await inner(input, init),
  }, async (world) => {
    const ward = wardOf(world, await createRunningPod(world));
    await ward.connect("member");
    // Before the member in every order.
    world.db.run(
      "insert into compute_connections (org_id, pod_id, runpod_id, discord_id, username, is_admin, serial, " +
        "key_fingerprint, ca_fingerprint, valid_after, valid_before, port_forwarding, created_at) select org_id, pod_id, " +
        "runpod_id, ?, 'x', 0, '1', 'f', 'c', 0, valid_before, 0, created_at from compute_connections",
      PEOPLE.exOfficer,
    );
    world.db.run("update compute_connections set discord_id = ? where discord_id = ?", PEOPLE.removed, PEOPLE.member);
    assert.deepEqual(await checkedLater(ward), [line("removed", "all", LEFT)]);
  }));

/** Discord says nothing about some people. */
const silentAbout =
  (people: ReadonlySet<string>, asked: string[]) => (inner: typeof fetch): typeof fetch => async (input, init) => {
    const id = new URL(input instanceof Request ? input.url : String(input)).pathname.split("/members/")[1] ?? "";
    if (id !== "") asked.push(id);
    return people.has(id)
      ? new Response("not JSON", { headers: { "content-type": "application/json" } })
      : await inner(input, init);
  };

Deno.test("people Discord says nothing about, however many, keep nobody's access from being checked", () => {
  const silent = new Set(["10001", "10002", "10003", "10004", "10005"].map((id) => `1000000000000${id}`));
  const asked: string[] = [];
  return inWorld({ fetch: silentAbout(silent, asked) }, async (world) => {
    const ward = wardOf(world, await createRunningPod(world));
    await ward.connect("member");
    let serial = 0;
    for (const id of silent) {
      world.db.run(
        "insert into compute_connections (org_id, pod_id, runpod_id, discord_id, username, is_admin, serial, " +
          "key_fingerprint, ca_fingerprint, valid_after, valid_before, port_forwarding, created_at) select org_id, pod_id, " +
          "runpod_id, ?, 'x', 0, ?, 'f', 'c', 0, valid_before, 0, created_at from compute_connections limit 1",
        id,
        String(++serial),
      );
    }
    world.discord.world.removeMember(GUILD, PEOPLE.member);
    const order = async () => {
      asked.length = 0;
      const rows = await checkedLater(ward);
      return [[...new Set(asked)].map((id) => id.slice(-1)), rows.length];
    };
    const member = PEOPLE.member.slice(-1);
    assert.deepEqual(await order(), [["1", "2", "3"], 0], "three in a row: Discord may be away");
    assert.deepEqual(
      await order(),
      [["4", "5", member, "1", "2", "3"], 1],
      "it goes on, and a word between begins anew",
    );
    assert.deepEqual(await order(), [["4", "5", "1"], 1]);
  });
});
