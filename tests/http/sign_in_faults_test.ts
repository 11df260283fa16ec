import assert from "node:assert/strict";
import { MINUTE } from "../../server/clock.ts";
import type { FaultSwitch } from "../../server/demo/discord/mod.ts";
import { GUILD, PEOPLE } from "../support/world.ts";
import { assertPage, atDiscord, CALLBACK, newBrowser, signIn, start, tokenOn } from "./sign_in_support.ts";
import { type ClockedWorld, withWorld } from "./support.ts";

const CLI = "/api/compute/org/cli/login";
const NOT_STARTED = "This sign-in was not started here, or was cancelled. Run godfather auth again.";
const FAILED = "Discord sign-in failed. Run godfather auth again.";
const DOWN = "Discord is not available right now. Try again shortly.";

function assertNothingIssued(world: ClockedWorld): void {
  assert.deepEqual(world.db.all("select * from machine_tokens"), []);
  assert.deepEqual(world.db.all("select * from browser_sessions"), []);
  const exchanged = world.discord.secretsIssued();
  const log = world.logLines.join("\n");
  for (const secret of exchanged) assert.ok(!log.includes(secret), "the log holds a code or a token");
}

const tokenCalls = (world: ClockedWorld) =>
  world.discord.requests.list().filter(({ path }) => path === "/api/v10/oauth2/token").length;

const OUTCOMES = [
  "cancel",
  "invalid_scope",
  "invalid_request",
  "server_error",
  "html_description",
  "no_code",
  "no_state",
  "wrong_state",
];
for (const outcome of OUTCOMES) {
  Deno.test(`a sign-in that Discord ends with ${outcome} gets the page with 400 and asks for no token`, () =>
    withWorld(async (world) => {
      const page = await signIn(world, newBrowser(world), CLI, "member", outcome);
      assertPage(page, 400, NOT_STARTED);
      assert.ok(!/alert|resource owner|access_denied/.test(page.text), "the page repeats Discord's text");
      assert.equal(tokenCalls(world), 0);
      assertNothingIssued(world);
    }));
}

const EXCHANGE: [string, FaultSwitch | null, string | undefined][] = [
  ["a code Discord does not know", null, "wrong_code"],
  ["a code that is too old", null, "expired_code"],
  ["invalid_client", { fault: "D4" }, undefined],
  ["invalid_grant", { fault: "D5" }, undefined],
  ["a scope without identify", { fault: "D7", variant: "no_identify" }, undefined],
  ["no access token", { fault: "D7", variant: "no_token" }, undefined],
  ["a refused access token", { fault: "D9", variant: "bad_token" }, undefined],
];
for (const [what, fault, outcome] of EXCHANGE) {
  Deno.test(`a sign-in whose exchange ends with ${what} gets the page with 502 after one try`, () =>
    withWorld(async (world) => {
      if (fault !== null) world.discord.faults.set(fault);
      const page = await signIn(world, newBrowser(world), CLI, "member", outcome);
      assertPage(page, 502, FAILED);
      assert.equal(tokenCalls(world), 1);
      assertNothingIssued(world);
    }));
}

for (const verifier of ["x", "short", "x".repeat(64)]) {
  Deno.test(`a code cannot be exchanged with another verifier than its challenge's, of ${verifier.length} characters`, () =>
    withWorld(async (world) => {
      const browser = newBrowser(world);
      const back = await atDiscord(world, await start(browser, CLI), "member");
      world.db.run("update sign_ins set verifier = ?", verifier);
      assertPage(await browser.open(back), 502, FAILED);
      assertNothingIssued(world);
    }));
}

Deno.test("a code that somebody else got from Discord is worth nothing in a sign-in of one's own", () =>
  withWorld(async (world) => {
    const officer = await atDiscord(world, await start(newBrowser(world), CLI), "officer");
    const stolen = new URLSearchParams(officer.slice(officer.indexOf("?"))).get("code");
    const attacker = newBrowser(world);
    const own = await atDiscord(world, await start(attacker, CLI), "stranger");
    assertPage(await attacker.open(own.replace(/code=[^&]+/, `code=${stolen}`)), 502, FAILED);
    assertNothingIssued(world);
  }));

const SHRUGGED: FaultSwitch[] = [
  { fault: "D8", variant: "unavailable" },
  { fault: "D8", variant: "refused" },
  { fault: "D9", variant: "null_global_name" },
  { fault: "D9", variant: "missing_fields" },
  { fault: "D9", variant: "legacy_name" },
  { fault: "D9", variant: "direction_characters" },
];
for (const fault of SHRUGGED) {
  Deno.test(`a sign-in ends well although Discord does ${fault.fault} ${fault.variant}`, () =>
    withWorld(async (world) => {
      world.discord.faults.set(fault);
      const token = tokenOn(await signIn(world, newBrowser(world), CLI, "member"));
      assert.equal((await world.call("GET", "/api/compute/org/me/pods", { token })).status, 200);
      const log = world.logLines.join("\n");
      for (const secret of world.discord.secretsIssued()) assert.ok(!log.includes(secret), "the log holds a token");
    }));
}

for (const variant of ["500", "502", "503", "html-200", "broken-json", "empty", "cut", "cut-body", "404-html"]) {
  Deno.test(`a sign-in gets a page and no token while Discord answers the exchange with ${variant}`, () =>
    withWorld(async (world) => {
      world.discord.faults.set({ fault: "D20", variant, on: "POST /oauth2/token" });
      const page = await signIn(world, newBrowser(world), CLI, "member");
      assert.ok(page.status === 503 || page.status === 502, `${page.status}`);
      assertPage(page, page.status, page.status === 503 ? DOWN : FAILED);
      assertNothingIssued(world);
    }));
}

Deno.test("a sign-in gets the page with 503, never 'not a member', when Discord cannot tell the membership", () =>
  withWorld(async (world) => {
    for (
      const fault of [{ fault: "D20", variant: "503" }, { fault: "D20", variant: "404-without-code" }, { fault: "D10" }]
    ) {
      for (const flow of ["cli", "officer", "session"]) {
        const browser = newBrowser(world);
        const back = await atDiscord(world, await start(browser, `/api/compute/org/${flow}/login`), "officer");
        world.discord.faults.set({ ...fault, on: "GET /guilds/{guild}/members/{user}" });
        assertPage(await browser.open(back), 503, DOWN);
        world.discord.faults.clear();
      }
    }
    assertNothingIssued(world);
  }));

Deno.test("a sign-in gets the page with 503 when the bot is not in the org's server", () =>
  withWorld(async (world) => {
    world.discord.world.change({ action: "remove_bot", guild_id: GUILD });
    assertPage(await signIn(world, newBrowser(world), CLI, "member"), 503, DOWN);
    assertNothingIssued(world);
  }));

Deno.test("a sign-in works once: its callback opened again gets the page with 400 and no second token", () =>
  withWorld(async (world) => {
    const browser = newBrowser(world);
    const back = await atDiscord(world, await start(browser, CLI), "member");
    const token = tokenOn(await browser.open(back));
    assertPage(await browser.open(back), 400, NOT_STARTED);
    assert.equal(tokenCalls(world), 1);
    assert.equal((await world.call("GET", "/api/compute/org/me/pods", { token })).status, 200);
  }));

Deno.test("a sign-in whose state was wrong is over, also for the right state afterwards", () =>
  withWorld(async (world) => {
    const browser = newBrowser(world);
    const back = await atDiscord(world, await start(browser, CLI), "member");
    assertPage(await browser.open(`${CALLBACK}?state=guess&code=guess`), 400, NOT_STARTED);
    assertPage(await browser.open(back), 400, NOT_STARTED);
    assertNothingIssued(world);
  }));

Deno.test("a callback without the cookie, with a made-up one or with another browser's gets the page with 400", () =>
  withWorld(async (world) => {
    const victim = newBrowser(world);
    const attacker = newBrowser(world);
    const attackersCode = await atDiscord(world, await start(attacker, CLI), "officer");
    await start(victim, CLI);
    assertPage(await victim.open(attackersCode), 400, NOT_STARTED);
    assertPage(await newBrowser(world).open(attackersCode), 400, NOT_STARTED);
    const forged = newBrowser(world);
    forged.cookies.set("orgpods_sign_in", "A".repeat(43));
    assertPage(await forged.open(attackersCode), 400, NOT_STARTED);
    forged.cookies.set("orgpods_sign_in", "");
    assertPage(await forged.open(attackersCode), 400, NOT_STARTED);
    assert.equal(tokenCalls(world), 0);
    tokenOn(await attacker.open(attackersCode));
  }));

Deno.test("a sign-in works for ten minutes and not a moment longer", () =>
  withWorld(async (world) => {
    for (const [wait, status] of [[10 * MINUTE - 1, 200], [10 * MINUTE, 400]] as const) {
      const browser = newBrowser(world);
      const authorize = await start(browser, CLI);
      world.clock.advance(wait);
      assert.equal((await browser.open(await atDiscord(world, authorize, "member"))).status, status);
    }
  }));

Deno.test("a callback with a doubled, empty or mangled code or state gets the page with 400", () =>
  withWorld(async (world) => {
    const mangle: ((back: string) => string)[] = [
      (back) => `${back}&state=other`,
      (back) => `${back}&code=other`,
      (back) => back.replace(/code=[^&]+/, "code="),
      (back) => back.replace(/state=[^&]+/, "state="),
      (back) => back.replace(/state=([^&]+)/, "state=$1%00"),
      (back) => back.replace(/state=([^&]+)/, (_whole, state: string) => `state=${state.toUpperCase()}`),
      (back) => `${back}&error=access_denied`,
      (back) => back.replace(/\?.*/, ""),
      (back) => back.replace(/\?.*/, `?${"x".repeat(20_000)}`),
    ];
    for (const change of mangle) {
      const browser = newBrowser(world);
      const back = await atDiscord(world, await start(browser, CLI), "member");
      assertPage(await browser.open(change(back)), 400, NOT_STARTED);
    }
    assert.equal(tokenCalls(world), 0);
    assertNothingIssued(world);
  }));

Deno.test("what a sign-in is for and of which org stays with its start, whatever the address that comes back says", () =>
  withWorld(async (world) => {
    const asks = "&purpose=officer&kind=officer&org=other&org_prefix=other&return=/evil&prefix=other";
    const browser = newBrowser(world);
    const back = await atDiscord(world, await start(browser, `${CLI}?purpose=officer&kind=officer`), "officer");
    const token = tokenOn(await browser.open(back + asks));
    const stored = world.db.all<{ kind: string; org_id: number }>("select kind, org_id from machine_tokens");
    assert.deepEqual(stored.map((row) => ({ ...row })), [{ kind: "cli", org_id: 1 }]);
    assert.equal((await world.call("GET", "/api/compute/org/pods", { token })).status, 401);
    for (const path of ["/api/compute/org/cli/callback", "/api/compute/org/officer/callback"]) {
      assert.equal((await browser.open(path)).status, 404, "there is one callback");
    }
  }));

Deno.test("a sign-in of an org that is removed or switched off in between gets a page with 404", () =>
  withWorld(async (world) => {
    const browser = newBrowser(world);
    const back = await atDiscord(world, await start(browser, CLI), "member");
    await world.call("PATCH", "/api/operator/orgs/org", { as: "operator", body: { is_active: false } });
    assertPage(await browser.open(back), 404, "Organization not found.");
    const gone = newBrowser(world);
    const backToGone = await atDiscord(world, await start(gone, "/api/compute/other/officer/login"), "otherOfficer");
    await world.call("DELETE", "/api/operator/orgs/other", { as: "operator" });
    const page = await gone.open(backToGone);
    assert.ok(page.status === 404 || page.status === 400, page.text);
    assert.equal(tokenCalls(world), 0);
    assert.deepEqual(world.db.all("select * from machine_tokens where discord_id = ?", PEOPLE.otherOfficer), []);
  }));
