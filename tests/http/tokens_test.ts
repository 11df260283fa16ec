import assert from "node:assert/strict";
import { DAY, MINUTE } from "../../server/clock.ts";
import { GUILD, PEOPLE } from "../support/world.ts";
import { cellOf, freshAddress, freshToken, letThemLeave, openSession, ownPage, withWorld } from "./support.ts";

const TOKENS = "/api/compute/org/tokens";
const PODS = "/api/compute/org/me/pods";

Deno.test("the operator issues a token that works at once and is shown once", () =>
  withWorld(async (world) => {
    const made = await world.call("POST", TOKENS, {
      as: "operator",
      body: { kind: "cli", discord_id: PEOPLE.member, name: " laptop ", days: 1 },
    });
    assert.equal(made.status, 201);
    const { token, ...rest } = made.json;
    assert.match(token, /^plat_[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(rest, {
      id: rest.id,
      kind: "cli",
      discord_id: PEOPLE.member,
      expires_at: "2026-12-01T12:00:00+00:00",
      revoked: 0,
    });
    assert.equal((await world.call("GET", PODS, { token })).status, 200);

    const list = await world.call("GET", TOKENS, { as: "officer" });
    assert.ok(!list.text.includes(token) && !list.text.includes("hash"), "a token or its hash is shown again");
    const row = list.json.tokens.find((one: { id: number }) => one.id === rest.id);
    assert.equal(row.display, token.slice(0, 11));
    assert.deepEqual([row.name, row.kind, row.discord_id, row.created_by], [
      "laptop",
      "cli",
      PEOPLE.member,
      "local:test",
    ]);
    assert.ok(row.last_used_at !== null);
    const stored = JSON.stringify(world.db.all("select * from machine_tokens"));
    assert.ok(!stored.includes(token), "the database holds a token");
  }));

Deno.test("a token works until the moment it expires and not at it", () =>
  withWorld(async (world) => {
    const token = await freshToken(world, "member", "cli");
    world.clock.advance(90 * DAY - 1);
    assert.equal((await world.call("GET", PODS, { token })).status, 200);
    world.clock.advance(1);
    const late = await world.call("GET", PODS, { token });
    assert.deepEqual([late.status, late.json], [401, {
      error: "The CLI token is invalid or expired. Run godfather auth again.",
      code: "token_invalid",
    }]);
    assert.deepEqual(
      (await world.call("GET", TOKENS, { as: "operator" })).json.tokens,
      [],
      "expired ones are not listed",
    );
  }));

Deno.test("a new token revokes the person's older one of that kind and org, and no other", () =>
  withWorld(async (world) => {
    world.discord.world.addMember({ guild_id: "900000000000000002", user_id: PEOPLE.officer });
    const officerCli = await freshToken(world, "officer", "cli");
    const officerToken = await freshToken(world, "officer", "officer");
    const elsewhere = await freshToken(world, "officer", "cli", "other");
    const memberCli = await freshToken(world, "member", "cli");
    const next = await world.call("POST", TOKENS, {
      as: "operator",
      body: { kind: "cli", discord_id: PEOPLE.officer },
    });
    assert.equal(next.json.revoked, 1);
    assert.equal(cellOf(await world.call("GET", PODS, { token: officerCli })), "401 token_invalid");
    assert.equal((await world.call("GET", PODS, { token: next.json.token })).status, 200);
    assert.equal((await world.call("GET", "/api/compute/org/settings", { token: officerToken })).status, 200);
    assert.equal((await world.call("GET", "/api/compute/other/me/pods", { token: elsewhere })).status, 200);
    assert.equal((await world.call("GET", PODS, { token: memberCli })).status, 200);
  }));

Deno.test("an officer route says of a member's working token of this org what it is, and nothing of any other", () =>
  withWorld(async (world) => {
    const hintFor = async (token: string) => {
      const { status, json } = await world.call("GET", "/api/compute/org/pods", { token, address: "198.51.100.7" });
      assert.deepEqual([status, json.code, json.error], [401, "token_invalid", "Token is invalid!"]);
      return json.hint;
    };
    const token = await freshToken(world, "member", "cli");
    assert.equal(
      await hintFor(token),
      "This is a member's token; officers get one for this at http://127.0.0.1:18000/api/compute/org/officer/login",
    );
    assert.equal(await hintFor(await freshToken(world, "member", "cli", "other")), undefined);
    assert.equal(await hintFor(`plat_${"x".repeat(43)}`), undefined);
    await freshToken(world, "member", "cli");
    assert.equal(await hintFor(token), undefined, "revoked");
  }));

Deno.test("an officer revokes a token of the own org once, and none of another org", () =>
  withWorld(async (world) => {
    const token = await freshToken(world, "member", "cli");
    const list = (await world.call("GET", TOKENS, { as: "officer" })).json.tokens;
    const { id } = list.find((one: { kind: string }) => one.kind === "cli");
    const foreign = await world.call("DELETE", `/api/compute/other/tokens/${id}`, { as: "otherOfficer" });
    assert.equal(cellOf(foreign), "404 token_not_found");
    assert.equal((await world.call("GET", PODS, { token })).status, 200);
    const revoked = await world.call("DELETE", `${TOKENS}/${id}`, { as: "officer" });
    assert.deepEqual([revoked.status, revoked.json], [200, { revoked: id, removals: [] }]);
    assert.equal(cellOf(await world.call("GET", PODS, { token })), "401 token_invalid");
    assert.equal(cellOf(await world.call("DELETE", `${TOKENS}/${id}`, { as: "officer" })), "404 token_not_found");
    const row = world.db.get<{ actor_id: string; details: string }>(
      "select actor_id, details from audit_log where action = 'DELETE /api/compute/:org/tokens/:token'",
    );
    assert.equal(row!.actor_id, PEOPLE.officer);
    assert.deepEqual(JSON.parse(row!.details), { token: token.slice(0, 11), kind: "cli", owner: PEOPLE.member });
  }));

Deno.test("a member gives the own CLI token back, also after leaving and while Discord is down, and it is audited", () =>
  withWorld(async (world) => {
    await letThemLeave(world);
    world.discord.faults.set({ fault: "D20", variant: "503" });
    for (const person of ["member", "removed"] as const) {
      const token = await freshToken(world, person, "cli");
      const answer = await world.call("DELETE", "/api/compute/org/me/token", { token, address: "203.0.113.9" });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(cellOf(await world.call("DELETE", "/api/compute/org/me/token", { token })), "401 token_invalid");
      const row = world.db.get<Record<string, unknown>>("select * from audit_log order by id desc limit 1 offset 0")!;
      assert.deepEqual([row.action, row.actor_kind, row.actor_id, row.address], [
        "DELETE /api/compute/:org/me/token",
        "member",
        PEOPLE[person],
        "203.0.113.9",
      ]);
    }
  }));

Deno.test("last_used_at is written at most once a minute", () =>
  withWorld(async (world) => {
    const token = await freshToken(world, "member", "cli");
    const used = () =>
      world.db.get<{ at: number | null }>("select last_used_at as at from machine_tokens where kind = 'cli'")!.at;
    assert.equal(used(), null);
    const first = world.clock.now();
    await world.call("GET", PODS, { token });
    world.clock.advance(MINUTE - 1);
    await world.call("GET", PODS, { token });
    assert.equal(used(), first);
    world.clock.advance(1);
    await world.call("GET", PODS, { token });
    assert.equal(used(), first + MINUTE);
  }));

Deno.test("a token is looked at exactly: no other case, no spaces, no second scheme, no other scope", () =>
  withWorld(async (world) => {
    const token = await freshToken(world, "officer", "officer");
    const wrong = [
      `bearer ${token}`,
      `Bearer  ${token}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.toUpperCase()}`,
      `Bearer ${token}, Bearer ${token}`,
      `Token ${token}`,
      token,
      "Bearer",
      "Basic b2xpdmlhOm9saXZpYQ==",
    ];
    for (const authorization of wrong) {
      const answer = await world.call("GET", "/api/compute/org/pods", {
        headers: { authorization },
        address: freshAddress(),
      });
      assert.equal(cellOf(answer), "401 token_invalid", authorization.replace(token, "…"));
    }
    world.db.run("update machine_tokens set scopes = '[\"compute:connect\"]' where kind = 'officer'");
    assert.equal(cellOf(await world.call("GET", "/api/compute/org/pods", { token })), "401 token_invalid");
  }));

Deno.test("an officer's credential is the one that is shown: a bad token beside a good cookie is refused", () =>
  withWorld(async (world) => {
    const headers = ownPage(openSession(world, "officer"));
    assert.equal((await world.call("GET", "/api/compute/org/settings", { headers })).status, 200);
    const both = await world.call("GET", "/api/compute/org/settings", { headers, token: "nonsense" });
    assert.equal(cellOf(both), "401 token_invalid");
  }));

Deno.test("/me tells who is asking by each kind of credential", () =>
  withWorld(async (world) => {
    world.discord.world.change({ action: "set_nick", guild_id: GUILD, user_id: PEOPLE.member, nick: "Mo\u202eM" });
    const me = async (options: Parameters<typeof world.call>[2]) =>
      (await world.call("GET", "/api/compute/org/me", options)).json;
    const orgs = [{ prefix: "org", name: "Test Society" }];
    const common = { org: "org", org_name: "Test Society", orgs, is_superadmin: false };
    const member = await me({ as: "member" });
    assert.deepEqual(member, {
      ...common,
      kind: "member",
      discord_id: PEOPLE.member,
      name: member.name,
      is_officer: false,
    });
    assert.ok(!member.name.includes("\u202e"), "a direction character is shown");
    assert.deepEqual(await me({ as: "officer" }), {
      ...common,
      kind: "member",
      discord_id: PEOPLE.officer,
      name: "officer",
      is_officer: true,
    });
    assert.equal((await me({ as: "officer", kind: "officer" })).kind, "officer");
    assert.equal((await me({ headers: { cookie: openSession(world, "officer") } })).is_officer, true);
    assert.deepEqual(await me({ as: "superadmin", kind: "officer" }), {
      ...common,
      kind: "officer",
      discord_id: PEOPLE.superadmin,
      name: PEOPLE.superadmin,
      is_officer: true,
      is_superadmin: true,
    });
    assert.deepEqual(await me({ as: "operator" }), {
      ...common,
      orgs: [{ prefix: "org", name: "Test Society" }, { prefix: "other", name: "Other Society" }],
      kind: "operator",
      discord_id: null,
      name: "test",
      is_officer: true,
    });
  }));
