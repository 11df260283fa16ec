import assert from "node:assert/strict";
import { AppError, type ErrorCode } from "../../server/errors.ts";
import { ANN, BOB, directoryOf, gate, GUILD, json, memberBody, page, ROLE, scripted, until } from "./support.ts";

/** Checks code, sentence and that the hint for officers holds a text. */
function refused(code: ErrorCode, sentence: string, hint = "") {
  return (error: unknown) => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, code);
    assert.equal(error.message, sentence);
    assert.ok(error.details.hint?.includes(hint), `${error.details.hint} lacks ${hint}`);
    return true;
  };
}

const UNAVAILABLE = "Discord is not available; try again shortly";
const SEARCH_FAILED = "Discord did not answer the member search. Enter Discord ids.";
const NOT_SET_UP = "Discord is not set up, so members cannot be looked up. Enter Discord ids.";
const INTENT = "Discord refused the member list. Turn on Server Members Intent for the bot in the Discord Developer " +
  "Portal (Bot > Privileged Gateway Intents), or search by name.";

const error = (status: number, code: number) => json({ message: "no", code }, status);

Deno.test("search asks for 100 hits and gives rows", async () => {
  await using server = scripted(() => json([memberBody(ANN, { nick: "Ann" }), memberBody(BOB, {}, { bot: true })]));
  const { directory } = directoryOf(server);
  const rows = await directory.search(GUILD, " an & limit=1 ");
  assert.deepEqual(rows.map(({ id, name, bot, roles }) => ({ id, name, bot, roles })), [
    { id: ANN, name: "Ann", bot: false, roles: [ROLE] },
    { id: BOB, name: "user002", bot: true, roles: [ROLE] },
  ]);
  assert.equal(server.seen[0]!.path, `/guilds/${GUILD}/members/search`);
  assert.deepEqual([...server.seen[0]!.query], [["query", "an & limit=1"], ["limit", "100"]]);
});

Deno.test("search is kept for 30 seconds for each query, and a caller cannot change what is kept", async () => {
  await using server = scripted(() => json([memberBody()]));
  const { directory, clock } = directoryOf(server);
  (await directory.search(GUILD, "an")).length = 0;
  clock.advance(29_999);
  assert.equal((await directory.search(GUILD, "an")).length, 1);
  assert.equal(server.seen.length, 1);
  await directory.search(GUILD, "bo");
  clock.advance(1);
  await directory.search(GUILD, "an");
  assert.equal(server.seen.length, 3);
});

Deno.test("search cuts a long query and asks nothing for an empty one", async () => {
  await using server = scripted(() => json([]));
  const { directory } = directoryOf(server);
  assert.deepEqual(await directory.search(GUILD, "  "), []);
  assert.equal(server.seen.length, 0);
  await directory.search(GUILD, "😀".repeat(150));
  assert.equal(server.seen[0]!.query.get("query"), "😀".repeat(100));
});

Deno.test("search fails with the contract's sentence and a hint for officers", async () => {
  const answers = [page(503), error(403, 50001), error(404, 10004), json({ not: "a list" }), json([{}])];
  const hints = ["answered 503", "no access", "not in the server", "unexpected form", "unexpected form"];
  await using server = scripted((_, count) => answers[count]!);
  const { directory } = directoryOf(server);
  for (const hint of hints) {
    await assert.rejects(directory.search(GUILD, "an"), refused("discord_search_failed", SEARCH_FAILED, hint));
  }
});

Deno.test("search names a query that Discord does not accept", async () => {
  await using server = scripted(() => error(400, 50035));
  await assert.rejects(directoryOf(server).directory.search(GUILD, "x\u0007"), {
    code: "invalid_request",
    message: "Discord does not accept this search: x\\u0007",
  });
});

Deno.test("search gives up for the caller in a hurry and is kept for the next", async () => {
  const held = gate();
  await using server = scripted(async () => {
    await held.passed;
    return json([memberBody()]);
  });
  const { directory } = directoryOf(server);
  const hurried = directory.search(GUILD, "an", { timeoutMs: 5 });
  await assert.rejects(hurried, refused("discord_search_failed", SEARCH_FAILED, "within 5 ms"));
  await until(() => server.seen.length === 1);
  held.open();
  assert.equal((await directory.search(GUILD, "an")).length, 1);
  assert.equal(server.seen.length, 1);
});

/** A server with this many members, which pages like Discord: ordered by id, `after` exclusive. */
function guildOf(size: number) {
  const ids = Array.from({ length: size }, (_, i) => String(99999999999999990n + BigInt(i)));
  return scripted(({ query }) => {
    const after = BigInt(query.get("after") ?? "0");
    const rows = ids.filter((id) => BigInt(id) > after).slice(0, Number(query.get("limit") ?? "1"));
    return json(rows.map((id) => memberBody(id)));
  });
}

Deno.test("list reads pages until one is short", async () => {
  for (const [size, pages] of [[0, 1], [999, 1], [1_000, 2], [1_500, 2]]) {
    await using server = guildOf(size!);
    const rows = await directoryOf(server).directory.list(GUILD);
    assert.equal(rows.length, size);
    assert.equal(new Set(rows.map((row) => row.id)).size, size);
    assert.equal(server.seen.length, pages);
    assert.deepEqual(server.seen.map(({ query }) => query.get("limit")), Array(pages).fill("1000"));
  }
});

Deno.test("list ends at 10,000 members and is kept for 120 seconds", async () => {
  await using server = guildOf(10_500);
  const { directory, clock } = directoryOf(server);
  assert.equal((await directory.list(GUILD)).length, 10_000);
  assert.equal(server.seen.length, 10);
  clock.advance(119_999);
  await directory.list(GUILD);
  assert.equal(server.seen.length, 10);
  clock.advance(1);
  await directory.list(GUILD);
  assert.equal(server.seen.length, 20);
});

Deno.test("list tells a missing intent from other failures", async () => {
  const answers = [error(403, 50001), error(404, 10004), page(403), page(500)];
  await using server = scripted((_, count) => answers[count]!);
  const { directory } = directoryOf(server);
  await assert.rejects(directory.list(GUILD), refused("discord_intent_missing", INTENT, "Server Members Intent"));
  for (const hint of ["not in the server", "answered 403", "answered 500"]) {
    await assert.rejects(directory.list(GUILD), refused("discord_search_failed", SEARCH_FAILED, hint));
  }
});

Deno.test("roles come highest first with colours, and are kept for 300 seconds", async () => {
  const base = { permissions: "9007199254740993", hoist: false, mentionable: false, flags: 0 };
  await using server = scripted(() =>
    json([
      { ...base, id: GUILD, name: "@everyone", color: 0, position: 0, managed: false },
      { ...base, id: "330000000000000003", name: "Bots", color: 255, position: 1, managed: true },
      { ...base, id: "330000000000000002", name: "Lab\u202e", color: 0xabcdef, position: 1, managed: false },
      { ...base, id: ROLE, name: "Officers", color: 1, colors: { primary_color: 0x0a0b0c }, position: 7 },
    ])
  );
  const { directory, clock } = directoryOf(server);
  assert.deepEqual(await directory.roles(GUILD), [
    { id: ROLE, name: "Officers", color: "#0a0b0c", position: 7, managed: false },
    { id: "330000000000000002", name: "Lab", color: "#abcdef", position: 1, managed: false },
    { id: "330000000000000003", name: "Bots", color: "#0000ff", position: 1, managed: true },
    { id: GUILD, name: "@everyone", color: "#000000", position: 0, managed: false },
  ]);
  clock.advance(299_999);
  await directory.roles(GUILD);
  assert.equal(server.seen.length, 1);
  clock.advance(1);
  await directory.roles(GUILD);
  assert.equal(server.seen.length, 2);
});

Deno.test("guild and self tell who they are", async () => {
  await using server = scripted(({ path }) =>
    path === "/users/@me"
      ? json({ id: BOB, username: "org bot", bot: true })
      : json({ id: GUILD, name: "The \u001bLab", owner_id: ANN })
  );
  const { directory } = directoryOf(server);
  assert.deepEqual(await directory.guild(GUILD), { id: GUILD, name: "The Lab" });
  assert.deepEqual(await directory.self(), { id: BOB, username: "org bot" });
  assert.deepEqual(server.seen.map(({ path }) => path), [`/guilds/${GUILD}`, "/users/@me"]);
});

Deno.test("roles, guild and self are unavailable with a hint when Discord does not tell", async () => {
  await using server = scripted(() => error(404, 10004));
  const { directory } = directoryOf(server);
  const unavailable = refused("discord_unavailable", UNAVAILABLE, "not in the server");
  await assert.rejects(directory.roles(GUILD), unavailable);
  await assert.rejects(directory.guild(GUILD), unavailable);
  await assert.rejects(directory.self(), unavailable);
});

Deno.test("lookups are not set up without a bot token, and refuse a malformed server id without asking", async () => {
  await using server = scripted(() => json([]));
  const none = directoryOf(server, null).directory;
  const notSetUp = refused("discord_not_set_up", NOT_SET_UP, "BOT_TOKEN");
  const lookups = [none.search(GUILD, "an"), none.list(GUILD), none.roles(GUILD), none.guild("x"), none.self()];
  for (const lookup of lookups) await assert.rejects(lookup, notSetUp);
  const { directory } = directoryOf(server);
  const bad = "The server id is not a Discord id: ../@me";
  await assert.rejects(directory.list("../@me"), refused("discord_search_failed", SEARCH_FAILED, bad));
  await assert.rejects(directory.guild("../@me"), refused("discord_unavailable", UNAVAILABLE, bad));
  assert.equal(server.seen.length, 0);
});
