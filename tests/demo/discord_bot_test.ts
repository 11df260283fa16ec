import assert from "node:assert/strict";
import { accessToken, AGENT, ANNA, BOT_TOKEN, fixture, get, GUILD, OFFICER_ROLE, ORIGIN } from "./discord_fixture.ts";

const BOT_ROUTES = [
  "/applications/@me",
  "/users/@me",
  "/users/@me/guilds",
  `/users/${ANNA}`,
  `/guilds/${GUILD}`,
  `/guilds/${GUILD}/roles`,
  `/guilds/${GUILD}/roles/member-counts`,
  `/guilds/${GUILD}/roles/${OFFICER_ROLE}`,
  `/guilds/${GUILD}/members?limit=5`,
  `/guilds/${GUILD}/members/search?query=a`,
  `/guilds/${GUILD}/members/${ANNA}`,
];

Deno.test("every bot route answers 401 when the token is wrong, and the answers are counted (D10)", async () => {
  const { discord, time } = fixture();
  for (const path of BOT_ROUTES) {
    const { status, body } = await get(discord, path, `Bot ${BOT_TOKEN}x`);
    assert.deepEqual([status, body], [401, { message: "401: Unauthorized", code: 0 }], path);
  }
  assert.equal(discord.requests.invalidAnswers(), BOT_ROUTES.length);
  time.now += 10 * 60_000;
  assert.equal(discord.requests.invalidAnswers(), 0);
});

Deno.test("a guild route answers 401 when a user's token or a bare bot token asks (D10)", async () => {
  const { discord } = fixture();
  for (const header of [`Bearer ${await accessToken(discord)}`, BOT_TOKEN, `Bearer ${BOT_TOKEN}`]) {
    assert.equal((await get(discord, `/guilds/${GUILD}`, header)).status, 401);
  }
});

Deno.test("the right bot token is refused when the fault D10 is on (D10)", async () => {
  const { discord } = fixture();
  for (const [variant, code] of [["unauthorized", 0], ["40001", 40001], ["50014", 50014]] as const) {
    discord.faults.set({ fault: "D10", variant, times: 1 });
    const { status, body } = await get(discord, `/guilds/${GUILD}`);
    assert.deepEqual([status, body.code], [401, code]);
  }
  discord.faults.set({ fault: "D10" });
  assert.equal((await get(discord, "/users/@me")).status, 401);
});

Deno.test("the network in front bans a caller when 10,000 invalid answers were given (D10)", async () => {
  const { discord, time } = fixture();
  const request = () => new Request(`${ORIGIN}/api/v10/nothing`, { headers: { "User-Agent": "x" } });
  for (let i = 0; i < 10_000; i++) await discord.fetch(request());
  const banned = await get(discord, "/users/@me");
  assert.equal(banned.status, 429);
  assert.match(banned.headers.get("Content-Type")!, /html/);
  time.now += 10 * 60_000;
  assert.equal((await get(discord, "/users/@me")).status, 200);
});

Deno.test("every API route answers 403 with HTML when the User-Agent is not a DiscordBot one (D11)", async () => {
  const { discord } = fixture();
  for (const agent of ["", "curl/8", "DiscordBot", "DiscordBot (https://example.org)", "MyDiscordBot (a, 1)"]) {
    for (const path of [...BOT_ROUTES, "/oauth2/token"]) {
      const headers = { "User-Agent": agent, "Authorization": `Bot ${BOT_TOKEN}` };
      const response = await discord.fetch(new Request(`${ORIGIN}/api/v10${path}`, { headers }));
      assert.equal(response.status, 403);
      assert.match(await response.text(), /^<!DOCTYPE html>/);
    }
  }
});

Deno.test("every bot route tells its rate limit (section 7)", async () => {
  const { discord, time } = fixture();
  for (const path of BOT_ROUTES) {
    const { headers } = await get(discord, path);
    assert.equal(headers.get("X-RateLimit-Limit"), "50", path);
    assert.equal(headers.get("X-RateLimit-Remaining"), "49", path);
    assert.equal(headers.get("X-RateLimit-Reset"), ((time.now + 1000) / 1000).toFixed(3));
    assert.equal(headers.get("X-RateLimit-Reset-After"), "1.000");
    assert.match(headers.get("X-RateLimit-Bucket")!, /^[0-9a-f]{32}$/);
  }
  time.now += 250;
  const second = await get(discord, `/guilds/${GUILD}/members/${ANNA}`);
  assert.equal(second.headers.get("X-RateLimit-Remaining"), "48");
  assert.equal(second.headers.get("X-RateLimit-Reset-After"), "0.750");
  time.now += 750;
  assert.equal((await get(discord, `/guilds/${GUILD}`)).headers.get("X-RateLimit-Remaining"), "49");
});

Deno.test("the API refuses other versions, unknown paths and other methods in Discord's shape", async () => {
  const { discord } = fixture();
  const call = async (path: string, method = "GET") => {
    const headers = { "User-Agent": AGENT, "Authorization": `Bot ${BOT_TOKEN}` };
    const response = await discord.fetch(new Request(ORIGIN + path, { method, headers }));
    return [response.status, (await response.json()).code];
  };
  assert.deepEqual(await call(`/api/guilds/${GUILD}`), [400, 50041]);
  assert.deepEqual(await call(`/api/v6/users/@me`), [400, 50041]);
  assert.deepEqual(await call("/api/v10/nothing"), [404, 0]);
  assert.deepEqual(await call("/guilds/1"), [404, 0]);
  assert.deepEqual(await call(`/api/v10/guilds/${GUILD}`, "DELETE"), [405, 0]);
});
