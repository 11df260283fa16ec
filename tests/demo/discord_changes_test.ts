import assert from "node:assert/strict";
import { ANNA, demo, fixture, get, GUILD, OFFICER_ROLE, OWNER, STRANGER } from "./discord_fixture.ts";

const ANNA_IN_GUILD = `/guilds/${GUILD}/members/${ANNA}`;

Deno.test("changes show at once: leaving, joining, roles, nick, pending, bot, intent (D18)", async () => {
  const { discord, world } = fixture();
  world.setRoles(GUILD, ANNA, []);
  assert.deepEqual((await get(discord, ANNA_IN_GUILD)).body.roles, []);
  world.setPending(GUILD, ANNA, true);
  assert.equal((await get(discord, ANNA_IN_GUILD)).body.pending, true);
  world.removeMember(GUILD, ANNA);
  assert.equal((await get(discord, ANNA_IN_GUILD)).body.code, 10007);
  world.addMember({ guild_id: GUILD, user_id: ANNA, roles: [OFFICER_ROLE] });
  assert.deepEqual((await get(discord, ANNA_IN_GUILD)).body.roles, [OFFICER_ROLE]);
  world.setIntent(true);
  assert.equal((await get(discord, `/guilds/${GUILD}/members`)).status, 200);
  world.setIntent(false);
  assert.equal((await get(discord, `/guilds/${GUILD}/members`)).status, 403);
  world.removeBot(GUILD);
  assert.equal((await get(discord, ANNA_IN_GUILD)).body.code, 10004);
  world.addBot(GUILD);
  assert.equal((await get(discord, ANNA_IN_GUILD)).status, 200);
});

Deno.test("a change shows only after its time when the fault D18 is on (D18)", async () => {
  const { discord, world, time } = fixture();
  discord.faults.set({ fault: "D18", ms: 5_000, times: 2 });
  world.setRoles(GUILD, ANNA, []);
  time.now += 1_000;
  world.removeMember(GUILD, ANNA);
  assert.deepEqual((await get(discord, ANNA_IN_GUILD)).body.roles, [OFFICER_ROLE]);
  assert.equal(world.truth().guilds.get(GUILD)!.members.has(ANNA), false);
  time.now += 3_999;
  assert.deepEqual((await get(discord, ANNA_IN_GUILD)).body.roles, [OFFICER_ROLE]);
  time.now += 1;
  assert.deepEqual((await get(discord, ANNA_IN_GUILD)).body.roles, []);
  time.now += 1_000;
  assert.equal((await get(discord, ANNA_IN_GUILD)).body.code, 10007);
  assert.deepEqual(discord.faults.list(), [], "two changes used it up");
});

Deno.test("a later change never shows before an earlier one that is delayed (D18)", async () => {
  const { discord, world, time } = fixture();
  discord.faults.set({ fault: "D18", ms: 5_000, times: 1 });
  world.setNick(GUILD, ANNA, "first");
  world.setNick(GUILD, ANNA, "second");
  assert.ok(!("nick" in (await get(discord, ANNA_IN_GUILD)).body));
  time.now += 5_000;
  assert.equal((await get(discord, ANNA_IN_GUILD)).body.nick, "second");
});

Deno.test("a refused change changes nothing and uses up no delay (D18)", () => {
  const { discord, world } = fixture();
  discord.faults.set({ fault: "D18", times: 1 });
  const before = structuredClone(world.truth());
  for (
    const [bad, message] of [
      [() => world.addUser({ id: ANNA, username: "again" }), /exists already/],
      [() => world.addUser({ id: "x", username: "x" }), /id: must be a snowflake/],
      [() => world.addGuild({ id: "77", name: "n", owner_id: "78" }), /no user "?78/],
      [() => world.addGuild({ id: "77", name: "n", owner_id: world.botId }), /bot cannot own/],
      [() => world.addGuild({ id: GUILD, name: "n", owner_id: OWNER }), /exists already/],
      [() => world.addMember({ guild_id: GUILD, user_id: ANNA }), /in the guild .* already/],
      [() => world.addMember({ guild_id: GUILD, user_id: STRANGER, roles: ["1"] }), /has no role/],
      [() => world.setRoles(GUILD, STRANGER, []), /is not in the guild/],
      [() => world.removeMember(GUILD, OWNER), /owner cannot leave/],
      [() => world.removeMember(GUILD, world.botId), /remove_bot/],
      [() => world.removeBot("77"), /no guild/],
      [() => world.addRole({ guild_id: GUILD, id: OFFICER_ROLE, name: "twice" }), /already/],
    ] as const
  ) {
    assert.throws(bad, message);
  }
  assert.deepEqual(world.truth(), before);
  assert.equal(discord.faults.list().length, 1);
});

Deno.test("POST /_demo/world makes each change, and GET shows the result (D18)", async () => {
  const { discord } = fixture();
  const member = { guild_id: GUILD, user_id: STRANGER };
  const until = "2026-03-01T00:00:00Z";
  for (
    const change of [
      { action: "add_user", id: "600000000000000050", username: "newcomer" },
      { action: "set_user", id: STRANGER, username: "renamed", global_name: "New Name" },
      { action: "add_guild", id: "500000000000000050", name: "Third", owner_id: ANNA },
      { action: "join", ...member, pending: true },
      { action: "add_role", guild_id: GUILD, id: "700000000000000050", name: "Helper" },
      { action: "set_role", guild_id: GUILD, id: "700000000000000050", name: "Helpers", permissions: "32" },
      { action: "set_roles", ...member, roles: ["700000000000000050"] },
      { action: "set_nick", ...member, nick: "Nick" },
      { action: "set_pending", ...member, pending: false },
      { action: "set_flags", ...member, flags: 16 },
      { action: "set_timeout", ...member, communication_disabled_until: until },
      { action: "set_owner", guild_id: GUILD, owner_id: ANNA },
      { action: "leave", guild_id: GUILD, user_id: OWNER },
      { action: "delete_role", guild_id: GUILD, role_id: OFFICER_ROLE },
      { action: "remove_bot", guild_id: GUILD },
      { action: "set_intent", on: true },
    ]
  ) {
    const answer = await demo(discord, "POST", "world", change);
    assert.deepEqual([answer.status, answer.body], [200, { changed: change.action }]);
  }
  const { body } = await demo(discord, "GET", "world");
  assert.equal(body.intent, true);
  const user = body.users.find((one: { id: string }) => one.id === STRANGER);
  assert.deepEqual([user.username, user.global_name], ["renamed", "New Name"]);
  const guild = body.guilds.find((one: { id: string }) => one.id === GUILD);
  assert.deepEqual([guild.bot, guild.owner_id], [false, ANNA]);
  assert.deepEqual(guild.roles.map((role: { name: string }) => role.name), ["@everyone", "Helpers"]);
  const { joined_at: _, ...stranger } = guild.members.find((one: { user_id: string }) => one.user_id === STRANGER);
  assert.deepEqual(stranger, {
    user_id: STRANGER,
    roles: ["700000000000000050"],
    nick: "Nick",
    pending: false,
    flags: 16,
    communication_disabled_until: until,
  });
  assert.equal((await demo(discord, "POST", "world", { action: "add_bot", guild_id: GUILD })).status, 200);
  assert.equal((await get(discord, `/guilds/${GUILD}`)).status, 200);
});

Deno.test("POST /_demo/world refuses unknown actions, unknown fields and a body that is not JSON", async () => {
  const { discord } = fixture();
  for (
    const [body, message] of [
      [{ action: "explode" }, /action/],
      [{ action: "set_intent", on: true, of: 1 }, /Unknown field of/],
      [{ action: "set_intent", on: "yes" }, /Field on/],
      [{ action: "leave", guild_id: GUILD, user_id: 12 }, /Field user_id/],
      ["{", /not JSON/],
      [[], /./],
    ] as const
  ) {
    const answer = await demo(discord, "POST", "world", body);
    assert.deepEqual([answer.status, answer.body.code], [400, "invalid_request"]);
    assert.match(answer.body.error, message);
  }
});
