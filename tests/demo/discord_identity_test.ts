import assert from "node:assert/strict";
import { accessToken, ANNA, CLIENT_ID, fixture, get, GUILD, OWNER } from "./discord_fixture.ts";

const BAD_TOKEN = { message: "401: Unauthorized", code: 0 };

async function self(variant?: string) {
  const { discord } = fixture();
  const token = await accessToken(discord);
  if (variant) discord.faults.set({ fault: "D9", variant, times: 1 });
  return await get(discord, "/users/@me", `Bearer ${token}`);
}

Deno.test("users/@me gives the identity without email when a token with identify asks (D9)", async () => {
  const { status, body } = await self();
  assert.equal(status, 200);
  assert.equal(body.id, ANNA);
  assert.deepEqual([body.username, body.discriminator, body.global_name], ["anna", "0", "Zed the Great"]);
  assert.equal(body.avatar, "a".repeat(32));
  assert.ok(!("email" in body) && !("verified" in body));
});

Deno.test("users/@me answers 401 when the token is bad (D9)", async () => {
  const { discord } = fixture();
  for (const header of ["Bearer nonsense", "Bearer ", "", "Basic eA=="]) {
    const { status, body } = await get(discord, "/users/@me", header);
    assert.deepEqual([status, body], [401, BAD_TOKEN]);
  }
  assert.deepEqual((await self("bad_token")).body, BAD_TOKEN);
});

Deno.test("users/@me has unusual forms when the fault D9 is on (D9)", async () => {
  assert.equal((await self("null_global_name")).body.global_name, null);
  assert.equal((await self("null_avatar")).body.avatar, null);
  const legacy = (await self("legacy_name")).body;
  assert.match(legacy.username, /^Old Name /);
  assert.match(legacy.discriminator, /^\d{4}$/);
  const odd = (await self("direction_characters")).body.global_name;
  assert.ok(odd.includes("\u202e") && odd.includes("\u0007"));
  const bare = Object.keys((await self("missing_fields")).body).sort();
  assert.deepEqual(bare, ["avatar", "discriminator", "global_name", "id", "username"]);
});

Deno.test("users/@me gives the bot when the bot token asks", async () => {
  const { body } = await get(fixture().discord, "/users/@me");
  assert.deepEqual([body.id, body.bot], [CLIENT_ID, true]);
});

Deno.test("users/@me/guilds lists the caller's guilds with permissions beyond a number", async () => {
  const { discord } = fixture();
  const { body } = await get(discord, "/users/@me/guilds");
  assert.deepEqual(body.map((guild: { id: string }) => guild.id), [GUILD]);
  assert.equal(body[0].owner, false);
  assert.notEqual(String(Number(body[0].permissions)), body[0].permissions);
  const own = await get(discord, "/users/@me/guilds", `Bearer ${await accessToken(discord, OWNER, "guilds")}`);
  assert.deepEqual(own.body.map((guild: { owner: boolean }) => guild.owner), [true, true]);
  const without = await get(discord, "/users/@me/guilds", `Bearer ${await accessToken(discord)}`);
  assert.deepEqual([without.status, without.body.code], [403, 50026]);
});

Deno.test("oauth2/@me tells application, scopes, expiry and user", async () => {
  const { discord } = fixture();
  const { body } = await get(discord, "/oauth2/@me", `Bearer ${await accessToken(discord)}`);
  assert.deepEqual([body.application.id, body.scopes, body.user.id], [CLIENT_ID, ["identify"], ANNA]);
  assert.equal(body.expires, "2026-01-08T00:00:00+00:00");
  assert.equal((await get(discord, "/oauth2/@me")).status, 401);
});

Deno.test("applications/@me tells redirect addresses and whether the intent is on", async () => {
  const { discord, world } = fixture();
  assert.equal((await get(discord, "/applications/@me")).body.flags, 0);
  world.setIntent(true);
  discord.setRedirectUris(["https://pods.example.org/cb"]);
  const { body } = await get(discord, "/applications/@me");
  assert.deepEqual([body.flags, body.redirect_uris], [1 << 15, ["https://pods.example.org/cb"]]);
});

Deno.test("users/{id} knows every account and no other", async () => {
  const { discord } = fixture();
  assert.equal((await get(discord, `/users/${ANNA}`)).body.username, "anna");
  assert.equal((await get(discord, "/users/1")).body.code, 10013);
  assert.equal((await get(discord, "/users/abc")).body.code, 50035);
});
