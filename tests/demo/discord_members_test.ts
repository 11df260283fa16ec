import assert from "node:assert/strict";
import { IS_GUEST } from "../../server/demo/discord/mod.ts";
import { ANNA, CLIENT_ID, fixture, get, GUILD, OFFICER_ROLE, OTHER_GUILD, OWNER, STRANGER } from "./discord_fixture.ts";

const ids = (body: { user: { id: string } }[]) => body.map((member) => member.user.id);

Deno.test("member tells each kind of absence apart (D12)", async () => {
  const { discord } = fixture();
  for (
    const [path, status, code] of [
      [`/guilds/${GUILD}/members/${STRANGER}`, 404, 10007],
      [`/guilds/${GUILD}/members/600000000000000099`, 404, 10013],
      [`/guilds/500000000000000099/members/${ANNA}`, 404, 10004],
      [`/guilds/${OTHER_GUILD}/members/${OWNER}`, 404, 10004],
      [`/guilds/${GUILD}/members/anna`, 400, 50035],
      [`/guilds/${GUILD}/members/9223372036854775808`, 400, 50035],
      [`/guilds/robotics/members/${ANNA}`, 400, 50035],
    ] as const
  ) {
    const answer = await get(discord, path);
    assert.deepEqual([answer.status, answer.body.code], [status, code], path);
    assert.equal(typeof answer.body.message, "string");
  }
});

Deno.test("member names the bad field in Discord's nested form when an id is no snowflake (D12)", async () => {
  const { body } = await get(fixture().discord, `/guilds/${GUILD}/members/a%20b`);
  assert.deepEqual(body, {
    code: 50035,
    message: "Invalid Form Body",
    errors: { user_id: { _errors: [{ code: "NUMBER_TYPE_COERCE", message: 'Value "a b" is not snowflake.' }] } },
  });
});

Deno.test("guild routes answer 403 50001 in place of 10004 when the fault D12 is on (D12)", async () => {
  const { discord } = fixture();
  discord.faults.set({ fault: "D12" });
  const answer = await get(discord, `/guilds/${OTHER_GUILD}/members/${OWNER}`);
  assert.deepEqual([answer.status, answer.body.code], [403, 50001]);
  assert.equal((await get(discord, `/guilds/${GUILD}/members/${ANNA}`)).status, 200);
});

Deno.test("member lists roles without @everyone and leaves nick out when there never was one (D13)", async () => {
  const { discord, world } = fixture();
  const path = `/guilds/${GUILD}/members/${ANNA}`;
  const { body } = await get(discord, path);
  assert.deepEqual(body.roles, [OFFICER_ROLE]);
  assert.ok(!("nick" in body));
  assert.equal(body.user.id, ANNA);
  world.setNick(GUILD, ANNA, "Captain");
  assert.equal((await get(discord, path)).body.nick, "Captain");
  world.setNick(GUILD, ANNA, null);
  assert.equal((await get(discord, path)).body.nick, null);
  assert.throws(() => world.setRoles(GUILD, ANNA, [GUILD]), /@everyone/);
});

Deno.test("member shows pending, guest, timed out and bot members (D13)", async () => {
  const { discord, world } = fixture();
  const until = "2026-02-01T00:00:00+00:00";
  world.addMember({
    guild_id: GUILD,
    user_id: STRANGER,
    pending: true,
    flags: IS_GUEST,
    communication_disabled_until: until,
  });
  const { body } = await get(discord, `/guilds/${GUILD}/members/${STRANGER}`);
  assert.deepEqual([body.pending, body.flags, body.communication_disabled_until], [true, 16, until]);
  assert.equal(body.joined_at, "2026-01-01T00:00:00+00:00");
  assert.equal((await get(discord, `/guilds/${GUILD}/members/${CLIENT_ID}`)).body.user.bot, true);
});

Deno.test("member list answers 403 50001 when the intent is off, and the search works (D14, D15)", async () => {
  const { discord } = fixture();
  const list = await get(discord, `/guilds/${GUILD}/members?limit=10`);
  assert.deepEqual([list.status, list.body], [403, { message: "Missing Access", code: 50001 }]);
  assert.deepEqual(ids((await get(discord, `/guilds/${GUILD}/members/search?query=ann`)).body), [ANNA]);
});

Deno.test("member list gives one row when no limit is sent, in the order of ids (D14)", async () => {
  const { discord, world } = fixture();
  world.setIntent(true);
  world.addUser({ id: "99", username: "veteran" });
  world.addMember({ guild_id: GUILD, user_id: "99" });
  assert.deepEqual(ids((await get(discord, `/guilds/${GUILD}/members`)).body), ["99"]);
  assert.deepEqual(ids((await get(discord, `/guilds/${GUILD}/members?limit=9`)).body), ["99", CLIENT_ID, OWNER, ANNA]);
  const after = await get(discord, `/guilds/${GUILD}/members?limit=9&after=${OWNER}`);
  assert.deepEqual(ids(after.body), [ANNA]);
});

for (const [what, route] of [["list", "members?"], ["search", "members/search?query=a&"]] as const) {
  Deno.test(`member ${what} answers 400 50035 when the limit is out of range (D14, D15)`, async () => {
    const { discord, world } = fixture();
    world.setIntent(true);
    for (const limit of ["0", "1001", "-1", "ten", "1.5", ""]) {
      const { status, body } = await get(discord, `/guilds/${GUILD}/${route}limit=${limit}`);
      assert.deepEqual([status, body.code], [400, 50035], limit);
      assert.ok(body.errors.limit._errors[0].code);
    }
    assert.equal((await get(discord, `/guilds/${GUILD}/${route}limit=1000`)).status, 200);
  });
}

Deno.test("member list refuses an after that is no snowflake (D14)", async () => {
  const { discord, world } = fixture();
  world.setIntent(true);
  assert.equal((await get(discord, `/guilds/${GUILD}/members?after=x`)).body.code, 50035);
});

Deno.test("member list needs paging for 2000 members, and ends with an empty page (D14)", async () => {
  const { discord, world } = fixture();
  world.setIntent(true);
  for (let i = 0; i < 1_997; i++) {
    const id = String(800_000_000_000_000_000n + BigInt(i));
    world.addUser({ id, username: `user${i}` });
    world.addMember({ guild_id: GUILD, user_id: id });
  }
  const seen = new Set<string>();
  const sizes: number[] = [];
  let after = "0";
  do {
    const page = ids((await get(discord, `/guilds/${GUILD}/members?limit=1000&after=${after}`)).body);
    sizes.push(page.length);
    for (const id of page) seen.add(id);
    after = page.at(-1) ?? after;
  } while (sizes.at(-1) === 1000);
  assert.deepEqual(sizes, [1000, 1000, 0]);
  assert.equal(seen.size, 2000);
});

Deno.test("member search takes a prefix of username or nick, whatever the case (D15)", async () => {
  const { discord, world } = fixture();
  world.addMember({ guild_id: GUILD, user_id: STRANGER, nick: "Annabel" });
  const search = async (query: string) =>
    ids((await get(discord, `/guilds/${GUILD}/members/search?limit=10&query=${query}`)).body);
  assert.deepEqual(await search("AN"), [ANNA, STRANGER]);
  assert.deepEqual(await search("nna"), []);
  assert.deepEqual(await search("strang"), [STRANGER]);
  assert.deepEqual(await search("zed"), []);
  assert.deepEqual(ids((await get(discord, `/guilds/${GUILD}/members/search?query=an`)).body), [ANNA]);
});

Deno.test("member search looks at the global name when the fault D15 is on (D15)", async () => {
  const { discord } = fixture();
  discord.faults.set({ fault: "D15" });
  assert.deepEqual(ids((await get(discord, `/guilds/${GUILD}/members/search?query=zed`)).body), [ANNA]);
});

Deno.test("member search answers 400 50035 when the query is missing (D15)", async () => {
  const { discord } = fixture();
  for (const query of ["", "?query="]) {
    assert.equal((await get(discord, `/guilds/${GUILD}/members/search${query}`)).body.code, 50035);
  }
});
