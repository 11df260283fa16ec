/** The client against the strict stand-in for Discord: what the scripted servers of the other tests could get wrong. */
import assert from "node:assert/strict";
import { createFakeDiscord, type FakeDiscord, IS_GUEST } from "../../server/demo/discord/mod.ts";
import { createDirectory } from "../../server/discord/directory.ts";
import { createOAuth, OAuthError } from "../../server/discord/oauth.ts";
import { ANN, BOB, GUILD, recordingLog, ROLE, testClock, TOKEN } from "./support.ts";

const CLIENT = "440000000000000001";
const SECRET = "client-secret-of-the-stand-in";
const DEMO = "demo-secret-of-the-stand-in";
const OWNER = "220000000000000009";
const STRANGER = "220000000000000003";
const REDIRECT = "http://127.0.0.1:8787/api/compute/cli/callback";

async function stage() {
  const clock = testClock();
  const fake: FakeDiscord = createFakeDiscord({
    clientId: CLIENT,
    clientSecret: SECRET,
    botToken: TOKEN,
    redirectUris: [REDIRECT],
    demoSecret: DEMO,
    signInCode: "1234",
    clock,
  });
  const { world } = fake;
  world.addUser({ id: OWNER, username: "owner" });
  world.addUser({ id: ANN, username: "ann", global_name: "Annie" });
  world.addUser({ id: BOB, username: "bob" });
  world.addUser({ id: STRANGER, username: "stranger" });
  world.addGuild({ id: GUILD, name: "The Lab", owner_id: OWNER });
  world.addRole({ guild_id: GUILD, id: ROLE, name: "Officers", position: 3, color: 0xabcdef });
  world.addMember({ guild_id: GUILD, user_id: ANN, roles: [ROLE], nick: "Ann of the Lab" });
  world.addMember({ guild_id: GUILD, user_id: BOB, pending: true, flags: IS_GUEST });
  const listener = await fake.listen();
  const log = recordingLog();
  const parts = { apiUrl: `${listener.origin}/api/v10`, version: "1.2.3", clock, log };
  const directory = createDirectory({ ...parts, botToken: TOKEN });
  const client = (clientSecret = SECRET) =>
    createOAuth({ ...parts, siteUrl: listener.origin, clientId: CLIENT, clientSecret });

  /** Goes through a sign-in as a browser would; `outcome` is what Discord sends back. */
  async function signIn(outcome = "approve", oauth = client()) {
    const { url, state, verifier } = await oauth.start(REDIRECT);
    const answer = await fetch(`${listener.origin}/_demo/sign-in`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-demo-secret": DEMO },
      body: JSON.stringify({ authorize_url: url, user_id: ANN, outcome }),
    });
    const { location } = await answer.json();
    const callback = new URL(location).searchParams;
    const secrets = [state, verifier, SECRET, TOKEN];
    const result = await oauth.finish({ callback, state, verifier, redirectUri: REDIRECT })
      .catch((error: unknown) => error instanceof OAuthError ? error : Promise.reject(error));
    const said = `${Deno.inspect(result, { depth: 10 })} ${log.lines.join("\n")}`;
    for (const secret of [...secrets, ...fake.secretsIssued()]) assert.ok(!said.includes(secret));
    return result;
  }

  /** Templates of the API routes that were asked, oldest first. */
  const asked = () => fake.requests.list().map(({ method, path }) => `${method} ${path.replace("/api/v10", "")}`);
  return { fake, world, clock, directory, signIn, asked, client, log, [Symbol.asyncDispose]: () => listener.close() };
}

Deno.test("directory tells members, strangers and unknown users apart at the stand-in", async () => {
  await using s = await stage();
  const ann = await s.directory.member(GUILD, ANN);
  assert.ok(ann.kind === "member");
  assert.deepEqual([ann.name, ann.username, ann.roles, ann.pending, ann.guest], [
    "Ann of the Lab",
    "ann",
    [ROLE],
    false,
    false,
  ]);
  const bob = await s.directory.member(GUILD, BOB);
  assert.ok(bob.kind === "member" && bob.pending && bob.guest && bob.name === "bob");
  assert.deepEqual(await s.directory.member(GUILD, STRANGER), { kind: "not_member" });
  assert.deepEqual(await s.directory.member(GUILD, "220000000000000777"), { kind: "not_member" });
});

Deno.test("directory sees a member leave the stand-in after 60 seconds", async () => {
  await using s = await stage();
  await s.directory.member(GUILD, ANN);
  s.world.removeMember(GUILD, ANN);
  s.clock.advance(59_000);
  assert.equal((await s.directory.member(GUILD, ANN)).kind, "member");
  s.clock.advance(1_000);
  assert.equal((await s.directory.member(GUILD, ANN)).kind, "not_member");
});

Deno.test("directory is misconfigured when the bot is not in the stand-in's guild", async () => {
  for (const fault of [false, true]) {
    await using s = await stage();
    s.world.removeBot(GUILD);
    if (fault) s.fake.faults.set({ fault: "D12" });
    const membership = await s.directory.member(GUILD, ANN);
    assert.equal(membership.kind === "unknown" && membership.reason, "misconfigured");
    await assert.rejects(s.directory.guild(GUILD), { code: "discord_unavailable" });
  }
});

Deno.test("directory makes one call with a bot token that the stand-in refuses", async () => {
  for (const variant of ["unauthorized", "40001", "50014"]) {
    await using s = await stage();
    s.fake.faults.set({ fault: "D10", variant });
    for (const user of [ANN, BOB, STRANGER]) {
      const membership = await s.directory.member(GUILD, user);
      assert.equal(membership.kind === "unknown" && membership.reason, "misconfigured");
    }
    assert.equal(s.fake.requests.invalidAnswers(), 1);
  }
});

Deno.test("directory is down, and asks again later, for each fault of the stand-in", async () => {
  const broken = [
    "500",
    "503",
    "html-200",
    "broken-json",
    "empty",
    "cut",
    "cut-body",
    "404-without-code",
    "404-html",
    "502",
  ];
  const faults = [...broken.map((variant) => ({ fault: "D20", variant })), { fault: "D19", variant: "html" }];
  await using s = await stage();
  for (const fault of faults) {
    s.fake.faults.set(fault);
    const membership = await s.directory.member(GUILD, ANN);
    assert.equal(membership.kind === "unknown" && membership.reason, "down", JSON.stringify(fault));
    s.fake.faults.clear();
    assert.equal((await s.directory.member(GUILD, ANN)).kind, "member", JSON.stringify(fault));
    s.directory.forget(GUILD, ANN);
  }
});

Deno.test("directory sits out a short rate limit of the stand-in and a 502", async () => {
  await using s = await stage();
  for (
    const fault of [{ fault: "D19", variant: "short", ms: 20 }, { fault: "D19", variant: "global", ms: 20 }, {
      fault: "D20",
      variant: "502",
    }]
  ) {
    s.fake.faults.set({ ...fault, times: 1 });
    assert.equal((await s.directory.member(GUILD, ANN)).kind, "member", JSON.stringify(fault));
    s.directory.forget(GUILD, ANN);
  }
});

Deno.test("directory leaves the stand-in alone during a long rate limit", async () => {
  await using s = await stage();
  s.fake.faults.set({ fault: "D19", variant: "long", ms: 60_000, times: 1 });
  for (let i = 0; i < 3; i++) {
    const membership = await s.directory.member(GUILD, ANN);
    assert.equal(membership.kind === "unknown" && membership.reason, "down");
  }
  assert.equal(s.asked().length, 1);
  s.clock.advance(60_000);
  assert.equal((await s.directory.member(GUILD, ANN)).kind, "member");
});

Deno.test("directory searches without the intent and lists with it", async () => {
  await using s = await stage();
  assert.deepEqual((await s.directory.search(GUILD, "AN")).map((row) => row.name), ["Ann of the Lab"]);
  await assert.rejects(s.directory.list(GUILD), { code: "discord_intent_missing" });
  s.world.setIntent(true);
  for (let i = 0; i < 1_996; i++) {
    const id = String(550000000000000000n + BigInt(i));
    s.world.addUser({ id, username: `user${i}` });
    s.world.addMember({ guild_id: GUILD, user_id: id });
  }
  const rows = await s.directory.list(GUILD);
  assert.equal(new Set(rows.map((row) => row.id)).size, 2_000);
  assert.deepEqual(rows.filter((row) => row.bot).map((row) => row.id), [CLIENT]);
  assert.equal(s.asked().filter((call) => call === `GET /guilds/${GUILD}/members`).length, 4);
});

Deno.test("directory reads roles, guild and the bot itself at the stand-in", async () => {
  await using s = await stage();
  assert.deepEqual((await s.directory.roles(GUILD)).map(({ id, color }) => [id, color]), [
    [ROLE, "#abcdef"],
    [GUILD, "#000000"],
  ]);
  assert.deepEqual(await s.directory.guild(GUILD), { id: GUILD, name: "The Lab" });
  assert.equal((await s.directory.self()).id, CLIENT);
});

Deno.test("oauth signs in at the stand-in with one token call and leaves no good token behind", async () => {
  await using s = await stage();
  assert.deepEqual(await s.signIn(), { id: ANN, username: "ann", globalName: "Annie" });
  const calls = s.asked().filter((call) => !call.includes("_demo"));
  assert.deepEqual(calls, ["POST /oauth2/token", "GET /users/@me", "POST /oauth2/token/revoke"]);
  for (const secret of s.fake.secretsIssued()) {
    const answer = await s.fake.fetch(
      new Request("http://127.0.0.1/api/v10/users/@me", {
        headers: { authorization: `Bearer ${secret}`, "user-agent": "DiscordBot (https://example.org, 1)" },
      }),
    );
    assert.equal(answer.status, 401);
    await answer.body?.cancel();
  }
});

Deno.test("oauth gives each bad outcome of the stand-in its reason", async () => {
  const outcomes = {
    cancel: "cancelled",
    html_description: "cancelled",
    invalid_scope: "bad_callback",
    invalid_request: "bad_callback",
    server_error: "bad_callback",
    no_code: "bad_callback",
    no_state: "bad_callback",
    wrong_state: "bad_callback",
    wrong_code: "exchange_failed",
    expired_code: "exchange_failed",
  };
  await using s = await stage();
  for (const [outcome, reason] of Object.entries(outcomes)) {
    const result = await s.signIn(outcome);
    assert.ok(result instanceof OAuthError, outcome);
    assert.equal(result.reason, reason, outcome);
  }
  const refused = await s.signIn("approve", s.client("another-secret"));
  assert.ok(refused instanceof OAuthError && refused.reason === "exchange_failed");
});

Deno.test("oauth gives each fault of the stand-in its reason", async () => {
  const faults: [string, string, string][] = [
    ["D4", "invalid_client", "exchange_failed"],
    ["D5", "invalid_grant", "exchange_failed"],
    ["D7", "no_identify", "exchange_failed"],
    ["D7", "no_scope", "exchange_failed"],
    ["D7", "no_token", "exchange_failed"],
    ["D9", "bad_token", "exchange_failed"],
    ["D20", "500", "unavailable"],
    ["D20", "html-200", "unavailable"],
    ["D20", "cut", "unavailable"],
    ["D20", "cut-body", "unavailable"],
  ];
  await using s = await stage();
  for (const [fault, variant, reason] of faults) {
    s.fake.faults.set({ fault, variant, times: 1 });
    const result = await s.signIn();
    assert.ok(result instanceof OAuthError, variant);
    assert.equal(result.reason, reason, variant);
    s.fake.faults.clear();
  }
});

Deno.test("oauth sends a code once when the stand-in cuts a connection that was in use before", async () => {
  for (const variant of ["cut", "cut-body"]) {
    await using s = await stage();
    await s.directory.self();
    await s.signIn();
    s.fake.requests.clear();
    s.fake.faults.set({ fault: "D20", variant });
    const result = await s.signIn();
    assert.ok(result instanceof OAuthError && result.reason === "unavailable");
    assert.deepEqual(s.asked().filter((call) => !call.includes("_demo")), ["POST /oauth2/token"]);
  }
});

Deno.test("oauth reads every form of identity of the stand-in, and signs in when the revoke fails", async () => {
  await using s = await stage();
  for (const variant of ["null_global_name", "null_avatar", "missing_fields", "legacy_name", "direction_characters"]) {
    s.fake.faults.set({ fault: "D9", variant, times: 1 });
    const result = await s.signIn();
    assert.ok(!(result instanceof OAuthError), variant);
    assert.equal(result.id, ANN);
    assert.doesNotMatch(result.globalName ?? "", /[\p{Cc}\p{Cf}]/u);
  }
  for (const variant of ["unavailable", "refused"]) {
    s.fake.faults.set({ fault: "D8", variant, times: 1 });
    assert.ok(!(await s.signIn() instanceof OAuthError), variant);
    assert.match(s.log.lines.at(-1)!, /could not be revoked/);
  }
});
