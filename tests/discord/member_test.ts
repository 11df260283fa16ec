import assert from "node:assert/strict";
import { ANN, BOB, directoryOf, gate, GUILD, json, memberBody, page, ROLE, scripted, TOKEN, until } from "./support.ts";

Deno.test("member tells name, roles and flags when Discord knows the member", async () => {
  await using server = scripted(() =>
    json(memberBody(
      ANN,
      { nick: "Ann\u202e\u001b[31m", pending: true, flags: 1 << 4 },
      { username: "ann", global_name: "Annie", avatar: "a_0123abcd", bot: true },
    ))
  );
  const { directory } = directoryOf(server);
  assert.deepEqual(await directory.member(GUILD, ANN), {
    kind: "member",
    userId: ANN,
    username: "ann",
    name: "Ann[31m",
    roles: [ROLE],
    pending: true,
    guest: true,
    bot: true,
    avatar: `https://cdn.discordapp.com/avatars/${ANN}/a_0123abcd.png?size=64`,
  });
  const [request] = server.seen;
  assert.equal(request!.path, `/guilds/${GUILD}/members/${ANN}`);
  assert.equal(request!.headers.get("authorization"), `Bot ${TOKEN}`);
  assert.match(request!.headers.get("user-agent")!, /^DiscordBot \(https:\/\/\S+, 1\.2\.3\)$/);
});

Deno.test("member takes fields that may be missing as not set", async () => {
  const bare = { user: { id: ANN, username: "ann" }, roles: [] };
  await using server = scripted(() => json(bare));
  const membership = await directoryOf(server).directory.member(GUILD, ANN);
  assert.deepEqual(membership, {
    kind: "member",
    userId: ANN,
    username: "ann",
    name: "ann",
    roles: [],
    pending: false,
    guest: false,
    bot: false,
    avatar: null,
  });
});

Deno.test("member does not put a hostile avatar into an address", async () => {
  await using server = scripted(() => json(memberBody(ANN, {}, { avatar: '../x"onload=' })));
  const membership = await directoryOf(server).directory.member(GUILD, ANN);
  assert.equal(membership.kind === "member" && membership.avatar, null);
});

Deno.test("member is unknown when the answer is not the member that was asked for", async () => {
  const odd = [
    memberBody(BOB),
    { ...memberBody(), roles: undefined },
    memberBody(ANN, { roles: [7] }),
    memberBody(ANN, { pending: "no" }),
    [],
    null,
  ];
  await using server = scripted((_, count) => json(odd[count]));
  const { directory } = directoryOf(server);
  for (const body of odd) {
    const membership = await directory.member(GUILD, ANN);
    assert.equal(membership.kind === "unknown" && membership.reason, "down", JSON.stringify(body));
  }
});

Deno.test("member is kept for 60 seconds, and no longer when Discord is down", async () => {
  let up = true;
  await using server = scripted(() => up ? json(memberBody()) : page(503));
  const { directory, clock } = directoryOf(server);
  assert.equal(directory.cachedMember(GUILD, ANN), null);
  await directory.member(GUILD, ANN);
  up = false;
  clock.advance(59_999);
  assert.equal((await directory.member(GUILD, ANN)).kind, "member");
  assert.equal(directory.cachedMember(GUILD, ANN)?.kind, "member");
  assert.equal(server.seen.length, 1);
  clock.advance(1);
  assert.equal(directory.cachedMember(GUILD, ANN), null);
  assert.equal((await directory.member(GUILD, ANN)).kind, "unknown");
});

Deno.test("member keeps not_member and never unknown", async () => {
  const answers = [page(503), page(404), json({ code: 10007 }, 404), json(memberBody())];
  await using server = scripted((_, count) => answers[count]!);
  const { directory } = directoryOf(server);
  const kinds = [];
  for (let i = 0; i < 4; i++) kinds.push((await directory.member(GUILD, ANN)).kind);
  assert.deepEqual(kinds, ["unknown", "unknown", "not_member", "not_member"]);
  assert.equal(server.seen.length, 3);
});

Deno.test("member asks once for callers at the same time, and again for another user or server", async () => {
  const held = gate();
  await using server = scripted(async ({ path }) => {
    await held.passed;
    return json(memberBody(path.split("/").at(-1)));
  });
  const { directory } = directoryOf(server);
  const other = "110000000000000002";
  const asked = [[GUILD, ANN], [GUILD, ANN], [GUILD, BOB], [other, ANN]].map(([g, u]) => directory.member(g!, u!));
  await until(() => server.seen.length === 3);
  held.open();
  assert.deepEqual((await Promise.all(asked)).map((m) => m.kind), ["member", "member", "member", "member"]);
  assert.equal(server.seen.length, 3);
});

Deno.test("member gives up for the caller in a hurry and goes on for the others", async () => {
  const held = gate();
  await using server = scripted(async () => {
    await held.passed;
    return json(memberBody());
  });
  const { directory } = directoryOf(server);
  const patient = directory.member(GUILD, ANN);
  assert.deepEqual(await directory.member(GUILD, ANN, { timeoutMs: 10 }), {
    kind: "unknown",
    reason: "down",
    hint: "Discord did not answer within 10 ms.",
  });
  held.open();
  assert.equal((await patient).kind, "member");
  assert.equal(directory.cachedMember(GUILD, ANN)?.kind, "member");
  assert.equal(server.seen.length, 1);
});

Deno.test("member answers without asking Discord when an id cannot be one", async () => {
  await using server = scripted(() => json(memberBody()));
  const { directory } = directoryOf(server);
  for (const id of ["12345", "1".repeat(21), "99999999999999999999", "../../users/@me", ""]) {
    assert.deepEqual(await directory.member(GUILD, id), { kind: "not_member" }, id);
  }
  assert.deepEqual(await directory.member("my-server", ANN), {
    kind: "unknown",
    reason: "misconfigured",
    hint: "The server id is not a Discord id: my-server.",
  });
  assert.equal(server.seen.length, 0);
});

Deno.test("member is not set up without a bot token", async () => {
  await using server = scripted(() => json(memberBody()));
  const membership = await directoryOf(server, null).directory.member(GUILD, ANN);
  assert.equal(membership.kind === "unknown" && membership.reason, "not_set_up");
  assert.equal(server.seen.length, 0);
});

Deno.test("member names a bot token that no header can carry, without quoting it", async () => {
  await using server = scripted(() => json(memberBody()));
  const { directory, log } = directoryOf(server, `${TOKEN}\nX-Evil: 1`);
  const membership = await directory.member(GUILD, ANN);
  assert.equal(membership.kind === "unknown" && membership.reason, "misconfigured");
  assert.ok(!JSON.stringify([membership, log.lines]).includes(TOKEN));
  assert.equal(server.seen.length, 0);
});

Deno.test("member stops all calls after a 401 until the server is forgotten", async () => {
  let refuse = true;
  await using server = scripted(() =>
    refuse ? json({ message: "401: Unauthorized", code: 0 }, 401) : json(memberBody())
  );
  const { directory, log } = directoryOf(server);
  for (const user of [ANN, ANN, BOB]) {
    const membership = await directory.member(GUILD, user);
    assert.equal(membership.kind === "unknown" && membership.reason, "misconfigured");
  }
  await assert.rejects(directory.roles(GUILD), { code: "discord_unavailable" });
  await assert.rejects(directory.self(), { code: "discord_unavailable" });
  assert.equal(server.seen.length, 1);
  assert.equal(log.lines.length, 1);
  assert.ok(!log.lines.join().includes(TOKEN));
  directory.forget(GUILD, ANN);
  assert.equal((await directory.member(GUILD, ANN)).kind, "unknown");
  assert.equal(server.seen.length, 1);
  refuse = false;
  directory.forget(GUILD);
  assert.equal((await directory.member(GUILD, ANN)).kind, "member");
});

Deno.test("member says how long Discord asked to wait when it is too long", async () => {
  await using server = scripted(() => json({ message: "slow", retry_after: 61.5, global: true }, 429));
  const { directory, clock } = directoryOf(server);
  for (const user of [ANN, BOB]) {
    const membership = await directory.member(GUILD, user);
    assert.equal(membership.kind === "unknown" && membership.hint, "Discord asked the bot to wait 62 s (rate limit).");
  }
  assert.equal(server.seen.length, 1);
  clock.advance(61_500);
  await directory.member(GUILD, ANN);
  assert.equal(server.seen.length, 2);
});

Deno.test("forget drops one user or a whole server, and nothing else", async () => {
  await using server = scripted(({ path }) => json(memberBody(path.split("/").at(-1))));
  const { directory } = directoryOf(server);
  const other = "1100000000000000010";
  for (const [guild, user] of [[GUILD, ANN], [GUILD, BOB], [other, ANN]]) await directory.member(guild!, user!);
  const kept = () =>
    [[GUILD, ANN], [GUILD, BOB], [other, ANN]].map(([g, u]) => directory.cachedMember(g!, u!) !== null);
  directory.forget(GUILD, ANN);
  assert.deepEqual(kept(), [false, true, true]);
  directory.forget(GUILD);
  assert.deepEqual(kept(), [false, false, true]);
});

Deno.test("forget keeps an answer out that was under way", async () => {
  const held = gate();
  await using server = scripted(async (_, count) => {
    if (count > 0) return json({ code: 10007 }, 404);
    await held.passed;
    return json(memberBody());
  });
  const { directory } = directoryOf(server);
  const before = directory.member(GUILD, ANN);
  await until(() => server.seen.length === 1);
  directory.forget(GUILD, ANN);
  assert.equal((await directory.member(GUILD, ANN)).kind, "not_member");
  held.open();
  await before;
  assert.equal(directory.cachedMember(GUILD, ANN)?.kind, "not_member");
});
