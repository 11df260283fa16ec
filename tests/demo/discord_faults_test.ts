import assert from "node:assert/strict";
import { createFakeDiscord, type FakeDiscord } from "../../server/demo/discord/mod.ts";
import { AGENT, ANNA, BOT_TOKEN, fixture, get, GUILD, ORIGIN, postForm, signIn } from "./discord_fixture.ts";

const PATH = `/guilds/${GUILD}/members/${ANNA}`;

/** Runs `work` against a listening stand-in with the fixture's people. */
async function listening(work: (discord: FakeDiscord, origin: string) => Promise<void>) {
  const { discord } = fixture();
  const listener = await discord.listen();
  try {
    await work(discord, listener.origin);
  } finally {
    await listener.close();
  }
}

const headers = { "User-Agent": AGENT, "Authorization": `Bot ${BOT_TOKEN}` };
const overNetwork = (origin: string, init: RequestInit = {}) => fetch(`${origin}/api/v10${PATH}`, { headers, ...init });

for (
  const [variant, wait, scope, global] of [
    ["short", 0.65, "user", false],
    ["long", 64.57, "user", false],
    ["global", 1.25, "global", true],
    ["shared", 2.5, "shared", false],
  ] as const
) {
  Deno.test(`a route answers 429 with scope ${scope} and all headers when D19 ${variant} is on`, async () => {
    const { discord, time } = fixture();
    discord.faults.set({ fault: "D19", variant, times: 1 });
    const { status, headers, body } = await get(discord, PATH);
    assert.equal(status, 429);
    assert.deepEqual(body, { message: "You are being rate limited.", retry_after: wait, global });
    assert.equal(headers.get("Retry-After"), String(Math.ceil(wait)));
    assert.equal(headers.get("X-RateLimit-Scope"), scope);
    assert.equal(headers.get("X-RateLimit-Global"), global ? "true" : null);
    assert.equal(headers.get("X-RateLimit-Remaining"), "0");
    assert.equal(headers.get("X-RateLimit-Reset-After"), wait.toFixed(3));
    assert.equal(headers.get("X-RateLimit-Reset"), (time.now / 1000 + wait).toFixed(3));
    assert.ok(headers.get("X-RateLimit-Limit") && headers.get("X-RateLimit-Bucket"));
    assert.equal(discord.requests.invalidAnswers(), scope === "shared" ? 0 : 1);
    assert.equal((await get(discord, PATH)).status, 200);
  });
}

Deno.test("a 429 waits as long as ms says (D19)", async () => {
  const { discord } = fixture();
  discord.faults.set({ fault: "D19", variant: "short", ms: 4_900 });
  assert.equal((await get(discord, PATH)).body.retry_after, 4.9);
});

Deno.test("a route answers 429 in HTML without rate-limit headers when D19 html is on", async () => {
  const { discord } = fixture();
  discord.faults.set({ fault: "D19", variant: "html" });
  const { status, headers, body } = await get(discord, PATH);
  assert.equal(status, 429);
  assert.match(body, /^<!DOCTYPE html>/);
  assert.deepEqual([...headers.keys()].filter((name) => name.includes("ratelimit") || name === "retry-after"), []);
});

Deno.test("the limits of the headers are enforced only when D19 buckets is on", async () => {
  const { discord, time } = fixture();
  for (let i = 0; i < 60; i++) assert.equal((await get(discord, PATH)).status, 200);
  discord.faults.set({ fault: "D19", variant: "buckets" });
  time.now += 1_000;
  for (let i = 0; i < 50; i++) assert.equal((await get(discord, PATH)).status, 200);
  time.now += 400;
  const over = await get(discord, PATH);
  assert.deepEqual([over.status, over.body.retry_after], [429, 0.6]);
  assert.equal((await get(discord, `/guilds/${GUILD}/roles`)).status, 200, "another route has its own bucket");
  time.now += 600;
  assert.equal((await get(discord, PATH)).status, 200);
});

for (
  const [variant, status, type, body] of [
    ["500", 500, /json/, /"code":0/],
    ["502", 502, /html/, /<!DOCTYPE html>/],
    ["503", 503, /html/, /<!DOCTYPE html>/],
    ["html-200", 200, /html/, /<!DOCTYPE html>/],
    ["broken-json", 200, /json/, /^\{"id"[^}]*$/],
    ["empty", 200, /json/, /^$/],
    ["404-without-code", 404, /json/, /^\{"message":"Not Found"\}$/],
    ["404-html", 404, /html/, /<!DOCTYPE html>/],
  ] as const
) {
  Deno.test(`a route gives the broken answer when D20 ${variant} is on`, async () => {
    await listening(async (discord, origin) => {
      discord.faults.set({ fault: "D20", variant, times: 1 });
      const response = await overNetwork(origin);
      assert.equal(response.status, status);
      assert.match(response.headers.get("Content-Type")!, type);
      assert.match(await response.text(), body);
      assert.equal((await (await overNetwork(origin)).json()).user.id, ANNA);
    });
  });
}

Deno.test("the connection is cut without an answer when D20 cut is on", async () => {
  await listening(async (discord, origin) => {
    // More than one, since a client may try again on a connection that was open already.
    discord.faults.set({ fault: "D20", variant: "cut" });
    await assert.rejects(overNetwork(origin), TypeError);
    assert.equal(discord.requests.list().at(-1)!.status, null);
    discord.faults.clear();
    const response = await overNetwork(origin);
    assert.equal(response.status, 200);
    await response.body?.cancel();
  });
  const { discord } = fixture();
  discord.faults.set({ fault: "D20", variant: "cut" });
  await assert.rejects(get(discord, PATH), TypeError);
});

Deno.test("the connection is cut in the body when D20 cut-body is on", async () => {
  await listening(async (discord, origin) => {
    discord.faults.set({ fault: "D20", variant: "cut-body", times: 1 });
    await assert.rejects(overNetwork(origin).then((response) => response.text()));
    assert.equal(discord.requests.list().length, 1);
  });
});

Deno.test("the right answer comes late when D20 slow is on", async () => {
  await listening(async (discord, origin) => {
    discord.faults.set({ fault: "D20", variant: "slow", ms: 1, times: 1 });
    assert.equal((await (await overNetwork(origin)).json()).user.id, ANNA);
    discord.faults.set({ fault: "D20", variant: "slow", times: 1 });
    assert.equal(discord.faults.list()[0]!.ms, 60_000);
    await assert.rejects(overNetwork(origin, { signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
  });
});

Deno.test("closing does not wait for a slow answer, and then connections are refused (D20)", async () => {
  const { discord } = fixture();
  const listener = await discord.listen();
  discord.faults.set({ fault: "D20", variant: "slow", ms: 600_000 });
  const pending = assert.rejects(overNetwork(listener.origin), TypeError);
  while (discord.requests.list().length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  await listener.close();
  await pending;
  await assert.rejects(overNetwork(listener.origin), TypeError);
});

Deno.test("a fault strikes only the route that is named, times as often as asked", async () => {
  const { discord } = fixture();
  discord.faults.set({ fault: "D20", variant: "503", on: "GET /guilds/*/members/*", times: 2 });
  const statuses: number[] = [];
  for (const path of [`/guilds/${GUILD}`, `/guilds/${GUILD}/members/search?query=a`, "/users/@me", PATH, PATH, PATH]) {
    statuses.push((await get(discord, path)).status);
  }
  assert.deepEqual(statuses, [200, 200, 200, 503, 503, 200]);
});

Deno.test("a fault may name one guild, any method, or a route's own form", async () => {
  const { discord } = fixture();
  for (const on of [`GET /guilds/${GUILD}`, "* /guilds/*", "/guilds/{guild_id}"]) {
    discord.faults.set({ fault: "D20", on, times: 1 });
    assert.equal((await get(discord, `/guilds/${GUILD}`)).status, 500, on);
  }
  discord.faults.set({ fault: "D20", on: "GET /guilds/1" });
  assert.equal((await get(discord, `/guilds/${GUILD}`)).status, 200);
});

Deno.test("a fault without a route strikes OAuth calls too, and leaves the authorize page alone", async () => {
  const { discord } = fixture();
  discord.faults.set({ fault: "D20", variant: "503" });
  const query = await signIn(discord);
  assert.equal((await postForm(discord, "/oauth2/token", { code: query.get("code")! })).status, 503);
  const page = await discord.fetch(new Request(`${ORIGIN}/oauth2/authorize`));
  assert.equal(page.status, 400);
  discord.faults.set({ fault: "D20", variant: "502", on: "GET /oauth2/authorize" });
  assert.equal((await discord.fetch(new Request(`${ORIGIN}/oauth2/authorize`))).status, 502);
});

Deno.test("createFakeDiscord refuses a client id that is no snowflake", () => {
  const options = { clientSecret: "", botToken: "", redirectUris: [], demoSecret: "", signInCode: "" };
  assert.throws(() => createFakeDiscord({ ...options, clientId: "app", clock: { now: () => 0 } }), /snowflake/);
});
