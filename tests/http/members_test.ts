import assert from "node:assert/strict";
import { createApp } from "../../server/app.ts";
import { silentLog } from "../../server/log.ts";
import { BASE_URL, GUILD, OFFICER_ROLE, PEOPLE } from "../support/world.ts";
import { cellOf, type ClockedWorld, withWorld } from "./support.ts";

const MEMBERS = "/api/compute/org/members";
const get = (world: ClockedWorld, query = "") => world.call("GET", MEMBERS + query, { as: "officer" });
const names = (rows: { name: string }[]) => rows.map((row) => row.name);

function addPeople(world: ClockedWorld): void {
  const there = world.discord.world;
  const people = [["zoe", "Zoe"], ["anna", "anna"], ["ben", "Ben"], ["robot", null]] as const;
  people.forEach(([username, nick], index) => {
    const id = `30000000000000000${index}`;
    there.addUser({ id, username, ...(username === "robot" ? { bot: true } : {}) });
    there.addMember({ guild_id: GUILD, user_id: id, ...(nick === null ? {} : { nick }) });
  });
}

/** Lets the answers from adding the org get old, then has the officer recognised. */
async function forgetRoles(world: ClockedWorld): Promise<void> {
  world.clock.advance(301_000);
  assert.equal((await world.call("GET", "/api/compute/org/settings", { as: "officer" })).status, 200);
}

Deno.test("the member picker lists the whole server without bots, sorted by name whatever its case", () =>
  withWorld(async (world) => {
    addPeople(world);
    const { status, json } = await get(world);
    assert.equal(status, 200);
    assert.deepEqual(names(json.members), [
      "anna",
      "Ben",
      "blocked",
      "exOfficer",
      "member",
      "officer",
      "pending",
      "Zoe",
    ]);
    assert.equal(json.total, 8);
    assert.deepEqual(json.members[5], {
      id: PEOPLE.officer,
      name: "officer",
      username: "officer",
      avatar: null,
      roles: [OFFICER_ROLE],
      bot: false,
    });
  }));

Deno.test("the member picker searches by the start of a name, filters by role and cuts by limit, leniently", () =>
  withWorld(async (world) => {
    addPeople(world);
    assert.deepEqual(names((await get(world, "?q=%20AN%20")).json.members), ["anna"]);
    assert.deepEqual((await get(world, "?q=nobody")).json, { members: [], total: 0 });
    assert.deepEqual(names((await get(world, `?role=${OFFICER_ROLE}`)).json.members), ["officer"]);
    assert.equal((await get(world, "?role=officers")).json.total, 8, "a role that is no number is ignored");
    const cut = (await get(world, "?limit=2")).json;
    assert.deepEqual([names(cut.members), cut.total], [["anna", "Ben"], 8]);
    for (const limit of ["0", "-1", "x", "1.5", "", "501", "99999999999999999999"]) {
      const { status, json } = await get(world, `?limit=${limit}`);
      assert.deepEqual([status, json.members.length], [200, 8], `limit=${limit}`);
    }
    const long = await get(world, `?q=${"anna".padEnd(400, "x")}`);
    assert.equal(long.status, 200);
    const asked = world.discord.requests.list().filter(({ path }) => path.includes("search"));
    assert.ok(!JSON.stringify(asked).includes("x".repeat(97)), "more than 100 characters went to Discord");
  }));

Deno.test("the member picker names up to fifty ids and leaves unknown and malformed ones out", () =>
  withWorld(async (world) => {
    const ids = [PEOPLE.officer, PEOPLE.stranger, "12345", "abc", "", "9".repeat(26), PEOPLE.member, PEOPLE.member];
    const { status, json } = await get(world, `?ids=${ids.join(",")}`);
    assert.equal(status, 200);
    assert.deepEqual(json, {
      members: [{ id: PEOPLE.officer, name: "officer" }, { id: PEOPLE.member, name: "member" }],
    });
    assert.deepEqual((await get(world, "?ids=")).json, { members: [] });
    world.discord.requests.clear();
    const many = Array.from({ length: 80 }, (_, i) => String(400000000000000000n + BigInt(i)));
    assert.deepEqual((await get(world, `?ids=${many.join(",")}`)).json, { members: [] });
    assert.equal(world.discord.requests.list().length, 50);
  }));

Deno.test("with the intent off the list is 503 with what to switch on, and the search still works", () =>
  withWorld(async (world) => {
    world.discord.world.setIntent(false);
    const list = await get(world);
    assert.equal(cellOf(list), "503 discord_intent_missing");
    assert.match(
      list.json.error,
      /^Discord refused the member list\. Turn on Server Members Intent .* or search by name\.$/,
    );
    assert.ok(typeof list.json.hint === "string");
    assert.deepEqual(names((await get(world, "?q=memb")).json.members), ["member"]);
    assert.deepEqual((await get(world, `?ids=${PEOPLE.member}`)).json.members.length, 1);
  }));

for (const [what, variant] of [["down", "503"], ["cut off", "cut"], ["a page of HTML", "html-200"]] as const) {
  Deno.test(`lookups of members are 503 with a sentence, never an empty list, while Discord is ${what}`, () =>
    withWorld(async (world) => {
      await forgetRoles(world);
      world.discord.faults.set({ fault: "D20", variant });
      const search = await get(world, "?q=a");
      assert.equal(cellOf(search), "503 discord_search_failed");
      assert.equal(search.json.error, "Discord did not answer the member search. Enter Discord ids.");
      assert.equal(cellOf(await get(world)), "503 discord_search_failed");
      assert.equal(cellOf(await get(world, `?ids=${PEOPLE.member}`)), "503 discord_unavailable");
      assert.equal(cellOf(await world.call("GET", `${MEMBERS}/roles`, { as: "officer" })), "503 discord_unavailable");
      world.discord.faults.clear();
      assert.equal((await get(world, "?q=a")).status, 200, "a failure is not kept");
    }));
}

Deno.test("a rate limit of Discord is waited out when it is short and told as 503 when it is long", () =>
  withWorld(async (world) => {
    assert.equal((await world.call("GET", "/api/compute/org/settings", { as: "officer" })).status, 200);
    world.discord.faults.set({ fault: "D19", variant: "short", ms: 5, times: 1 });
    assert.deepEqual(names((await get(world, "?q=memb")).json.members), ["member"]);
    world.discord.faults.set({ fault: "D19", variant: "long", times: 1 });
    const long = await get(world, "?q=off");
    assert.equal(cellOf(long), "503 discord_search_failed");
    assert.match(long.json.hint, /rate limit/);
  }));

Deno.test("without a bot token lookups say that Discord is not set up", () =>
  withWorld(async (world) => {
    const app = createApp({
      config: { ...world.config, botToken: null },
      version: "0.0.0-test",
      db: world.db,
      clock: world.clock,
      log: silentLog,
      fetch: () => Promise.reject(new TypeError("nothing is to be asked")),
    });
    const peer = { isOperator: true, account: "test", address: "" };
    for (const path of [MEMBERS, `${MEMBERS}?q=a`, `${MEMBERS}?ids=${PEOPLE.member}`, `${MEMBERS}/roles`]) {
      const answer = await app.fetch(new Request(BASE_URL + path), peer);
      assert.equal(answer.status, 503, path);
      assert.deepEqual(await answer.json(), {
        error: "Discord is not set up, so members cannot be looked up. Enter Discord ids.",
        code: "discord_not_set_up",
        hint: "BOT_TOKEN is not set.",
      });
    }
    const member = await app.fetch(
      new Request(`${BASE_URL}/api/compute/org/me/pods`, {
        headers: { authorization: `Bearer ${await world.token("member", "cli")}` },
      }),
      { ...peer, isOperator: false },
    );
    assert.equal(member.status, 503);
    assert.equal((await member.json()).code, "discord_unavailable");
    await app.close();
  }));

Deno.test("the role picker leaves @everyone and managed roles out, highest first", () =>
  withWorld(async (world) => {
    const there = world.discord.world;
    there.addRole({ guild_id: GUILD, id: "900000000000000011", name: "Board", position: 9, color: 0x00ff7f });
    there.addRole({ guild_id: GUILD, id: "900000000000000012", name: "Bot", position: 8, managed: true });
    await forgetRoles(world);
    const answer = await world.call("GET", `${MEMBERS}/roles`, { as: "officer" });
    assert.deepEqual(answer.json, {
      roles: [
        { id: "900000000000000011", name: "Board", color: "#00ff7f" },
        { id: OFFICER_ROLE, name: "Officers", color: "#000000" },
      ],
    });
  }));
