import assert from "node:assert/strict";
import { ANNA, CLIENT_ID, fixture, get, GUILD, OFFICER_ROLE, OWNER } from "./discord_fixture.ts";

const MANAGED = "700000000000000009";
const ADMIN = "700000000000000008";

Deno.test("roles hold @everyone under the guild's id, by position, with permissions beyond a number (D16)", async () => {
  const { discord, world } = fixture();
  world.addRole({ guild_id: GUILD, id: MANAGED, name: "orgpods", managed: true, position: 9 });
  const { body } = await get(discord, `/guilds/${GUILD}/roles`);
  assert.deepEqual(body.map((role: { id: string }) => role.id), [MANAGED, OFFICER_ROLE, GUILD]);
  assert.deepEqual([body[0].managed, body[1].managed, body[2].name], [true, false, "@everyone"]);
  const permissions = BigInt(body[2].permissions);
  assert.ok(permissions > 2n ** 53n);
  assert.notEqual(BigInt(Number(permissions)), permissions, "a number would round it");
  assert.equal(body[0].permissions, "0");
});

Deno.test("a deleted role is gone from roles, members and counts (D16)", async () => {
  const { discord, world } = fixture();
  assert.deepEqual((await get(discord, `/guilds/${GUILD}/roles/member-counts`)).body, { [OFFICER_ROLE]: 1 });
  assert.equal((await get(discord, `/guilds/${GUILD}/roles/${OFFICER_ROLE}`)).body.name, "Officer");
  world.deleteRole(GUILD, OFFICER_ROLE);
  assert.deepEqual((await get(discord, `/guilds/${GUILD}/members/${ANNA}`)).body.roles, []);
  const gone = await get(discord, `/guilds/${GUILD}/roles/${OFFICER_ROLE}`);
  assert.deepEqual([gone.status, gone.body.code], [404, 10011]);
  assert.deepEqual((await get(discord, `/guilds/${GUILD}/roles/member-counts`)).body, {});
  assert.throws(() => world.deleteRole(GUILD, GUILD), /@everyone/);
});

Deno.test("guild tells owner, roles and counts; owner and administrators need not be officers (D17)", async () => {
  const { discord, world } = fixture();
  const { body } = await get(discord, `/guilds/${GUILD}`);
  assert.deepEqual([body.name, body.owner_id, body.roles.length], ["Robotics", OWNER, 2]);
  assert.ok(!("approximate_member_count" in body));
  const counted = await get(discord, `/guilds/${GUILD}?with_counts=true`);
  assert.equal(counted.body.approximate_member_count, 3);
  assert.deepEqual((await get(discord, `/guilds/${GUILD}/members/${OWNER}`)).body.roles, []);

  world.addRole({ guild_id: GUILD, id: ADMIN, name: "Admin", permissions: "8" });
  world.setRoles(GUILD, CLIENT_ID, [ADMIN]);
  const [own] = (await get(discord, "/users/@me/guilds")).body;
  assert.equal(own.permissions, ((1n << 55n) - 1n).toString());
});
