import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { BASE_URL, CLIENT_ID, PEOPLE, SIGN_IN_CODE } from "../support/world.ts";
import {
  assertPage,
  assertPageHeaders,
  atDiscord,
  CALLBACK,
  newBrowser,
  signIn,
  start,
  tokenOn,
} from "./sign_in_support.ts";
import { cellOf, withWorld } from "./support.ts";

const CLI = "/api/compute/org/cli/login";
const OFFICER = "/api/compute/org/officer/login";
const SESSION = "/api/compute/org/session/login";

Deno.test("a member's CLI sign-in ends with a page that shows a token, and the token works at once", () =>
  withWorld(async (world) => {
    const browser = newBrowser(world);
    const page = await signIn(world, browser, CLI, "member");
    assertPage(page, 200, "<h1>Signed in to Test Society.</h1>");
    assertPage(
      page,
      200,
      "<p>Copy this token, run godfather auth and paste it when asked. It is shown once and works for 90 days.</p>",
    );
    const pods = await world.call("GET", "/api/compute/org/me/pods", { token: tokenOn(page) });
    assert.deepEqual(pods.json, { pods: [], stale: false, as_of: null, warnings: [] });
    const row = world.db.get<Record<string, unknown>>("select * from audit_log order by id desc limit 1")!;
    assert.deepEqual(
      [row.action, row.source, row.org_prefix, row.actor_kind, row.actor_id, row.actor_name, row.address, row.outcome],
      ["compute cli token issued", "http", "org", "member", PEOPLE.member, "member", browser.address, "ok"],
    );
    const stored = world.db.get<Record<string, unknown>>("select * from machine_tokens order by id desc limit 1")!;
    assert.deepEqual([stored.kind, stored.name, stored.scopes, stored.created_by], [
      "cli",
      "godfather cli",
      '["compute:connect"]',
      PEOPLE.member,
    ]);
  }));

Deno.test("an officer's sign-in ends with an officer token that officer routes take and member routes do not", () =>
  withWorld(async (world) => {
    const page = await signIn(world, newBrowser(world), OFFICER, "officer");
    assertPage(page, 200, "Copy this officer token");
    const token = tokenOn(page);
    assert.equal((await world.call("GET", "/api/compute/org/pods", { token })).status, 200);
    assert.equal(cellOf(await world.call("GET", "/api/compute/org/me/pods", { token })), "401 token_invalid");
    assert.match(page.text, /works until 2027-02-28\./);
  }));

Deno.test("the authorize address carries consent, PKCE S256, the exact redirect and a state of its own each time", () =>
  withWorld(async (world) => {
    const seen = new Set<string>();
    for (const path of [CLI, OFFICER, SESSION, CLI]) {
      const browser = newBrowser(world);
      const authorize = await start(browser, path);
      const query = Object.fromEntries(authorize.searchParams);
      assert.equal(authorize.origin + authorize.pathname, `${world.config.discordUrl}/oauth2/authorize`);
      assert.deepEqual({ ...query, state: "", code_challenge: "" }, {
        client_id: CLIENT_ID,
        response_type: "code",
        scope: "identify",
        redirect_uri: BASE_URL + CALLBACK,
        prompt: "consent",
        code_challenge_method: "S256",
        state: "",
        code_challenge: "",
      });
      assert.match(query.state!, /^[A-Za-z0-9_-]{32,}$/);
      const { verifier } = world.db.get<{ verifier: string }>(
        "select verifier from sign_ins order by rowid desc limit 1",
      )!;
      assert.equal(query.code_challenge, createHash("sha256").update(verifier).digest("base64url"));
      assert.ok(verifier.length >= 43);
      seen.add(query.state!).add(query.code_challenge!);
      assert.ok(
        !JSON.stringify(world.db.all("select * from sign_ins")).includes(query.state!),
        "the state is stored bare",
      );
    }
    assert.equal(seen.size, 8, "a state or a challenge was used twice");
  }));

Deno.test("a start keeps no token of Discord: it exchanges the code once and revokes what it got", () =>
  withWorld(async (world) => {
    tokenOn(await signIn(world, newBrowser(world), CLI, "member"));
    const calls = world.discord.requests.list().map(({ method, path }) => `${method} ${path}`)
      .filter((call) => call.includes("oauth2/token"));
    assert.deepEqual(calls, ["POST /api/v10/oauth2/token", "POST /api/v10/oauth2/token/revoke"]);
    const database = JSON.stringify(["sign_ins", "machine_tokens", "browser_sessions", "audit_log"]
      .map((table) => world.db.all(`select * from ${table}`)));
    const secrets = world.discord.secretsIssued();
    assert.ok(secrets.length >= 3);
    for (const secret of secrets) {
      assert.ok(!database.includes(secret), "the database holds a secret of Discord");
      assert.ok(!world.logLines.join().includes(secret), "the log holds a secret of Discord");
    }
  }));

Deno.test("the form of Discord's page signs a person in as the browser sees it", () =>
  withWorld(async (world) => {
    const browser = newBrowser(world);
    const authorize = await start(browser, CLI);
    const page = await world.discord.fetch(new Request(authorize));
    const cookie = page.headers.get("set-cookie")!.split(";")[0]!;
    const [, formToken] = /name="form_token" value="([^"]+)"/.exec(await page.text())!;
    const sent = await world.discord.fetch(
      new Request(new URL("/oauth2/authorize", authorize), {
        method: "POST",
        headers: { cookie, origin: authorize.origin },
        body: new URLSearchParams({
          form_token: formToken!,
          user_id: PEOPLE.member,
          sign_in_code: SIGN_IN_CODE,
          choice: "authorize",
        }),
      }),
    );
    assert.equal(sent.status, 302);
    const back = new URL(sent.headers.get("location")!);
    assert.equal(back.origin, BASE_URL);
    tokenOn(await browser.open(back.pathname + back.search));
  }));

Deno.test("a new CLI sign-in revokes the person's older CLI token, not the officer token", () =>
  withWorld(async (world) => {
    const pods = (token: string) => world.call("GET", "/api/compute/org/me/pods", { token });
    const officerToken = tokenOn(await signIn(world, newBrowser(world), OFFICER, "officer"));
    const first = tokenOn(await signIn(world, newBrowser(world), CLI, "officer"));
    assert.equal((await pods(first)).status, 200);
    const second = tokenOn(await signIn(world, newBrowser(world), CLI, "officer"));
    assert.equal(cellOf(await pods(first)), "401 token_invalid");
    assert.equal((await pods(second)).status, 200);
    assert.equal((await world.call("GET", "/api/compute/org/pods", { token: officerToken })).status, 200);
    const failed = await signIn(world, newBrowser(world), CLI, "officer", "cancel");
    assert.equal(failed.status, 400);
    assert.equal((await pods(second)).status, 200, "a cancelled sign-in revokes nothing");
  }));

for (
  const [person, path, sentence] of [
    ["stranger", CLI, "You need to be in the Test Society Discord server to use its pods."],
    ["pending", CLI, "You need to be in the Test Society Discord server to use its pods."],
    ["superadmin", CLI, "You need to be in the Test Society Discord server to use its pods."],
    ["stranger", SESSION, "You need to be in the Test Society Discord server to use its pods."],
    ["member", OFFICER, "You need to be an officer of Test Society to get this token."],
    ["otherOfficer", OFFICER, "You need to be an officer of Test Society to get this token."],
    ["stranger", OFFICER, "You need to be an officer of Test Society to get this token."],
  ] as const
) {
  Deno.test(`${path} gives ${person} a page with 403 and nothing else`, () =>
    withWorld(async (world) => {
      const browser = newBrowser(world);
      const page = await signIn(world, browser, path, person);
      assertPage(page, 403, sentence);
      assert.ok(!page.text.includes("plat_"));
      assert.equal(browser.cookies.has("orgpods_session"), false);
      assert.deepEqual(world.db.all("select * from machine_tokens"), []);
      assert.deepEqual(world.db.all("select * from browser_sessions"), []);
      const rows = world.db.all<{ action: string; actor_id: string; address: string; status: number; outcome: string }>(
        "select action, actor_id, address, status, outcome from audit_log where source = 'http'",
      );
      const refused = { action: "compute officer token refused", actor_id: PEOPLE[person], address: browser.address };
      const wanted = path === OFFICER ? [{ ...refused, status: 403, outcome: "not_an_officer" }] : [];
      assert.deepEqual(rows.map((row) => ({ ...row })), wanted);
    }));
}

Deno.test("a superadmin gets an officer token of an org whose server they are not in", () =>
  withWorld(async (world) => {
    const token = tokenOn(await signIn(world, newBrowser(world), OFFICER, "superadmin"));
    assert.equal((await world.call("GET", "/api/compute/org/pods", { token })).status, 200);
  }));

Deno.test("a person who just joined or got the role is let in at once, whatever was known of them before", () =>
  withWorld(async (world) => {
    const before = await signIn(world, newBrowser(world), CLI, "stranger");
    assert.equal(before.status, 403);
    world.discord.world.addMember({ guild_id: "900000000000000001", user_id: PEOPLE.stranger });
    tokenOn(await signIn(world, newBrowser(world), CLI, "stranger"));
    world.discord.world.setRoles("900000000000000001", PEOPLE.stranger, ["900000000000000010"]);
    tokenOn(await signIn(world, newBrowser(world), OFFICER, "stranger"));
  }));

Deno.test("the name of an org is text on every page, whatever markup it holds", () =>
  withWorld(async (world) => {
    const name = `<b>"R&D"</b><script>alert('1')</script>`;
    const escaped = "&lt;b&gt;&quot;R&amp;D&quot;&lt;/b&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;";
    await world.call("PATCH", "/api/operator/orgs/org", { as: "operator", body: { name } });
    const pages = [
      await world.call("GET", "/org"),
      await signIn(world, newBrowser(world), CLI, "member"),
      await signIn(world, newBrowser(world), CLI, "stranger"),
      await signIn(world, newBrowser(world), OFFICER, "member"),
    ];
    for (const page of pages) {
      assertPageHeaders(page);
      assert.ok(page.text.includes(escaped), page.text);
      assert.ok(!page.text.includes("<b>"), page.text);
    }
  }));

Deno.test("every page allows its own style by the hash of what it holds, and nothing else", () =>
  withWorld(async (world) => {
    for (const path of ["/", "/org", "/nosuch", "/api/compute/nosuch/cli/login", CALLBACK]) {
      const page = await world.call("GET", path);
      assertPageHeaders(page);
      const [, style = ""] = /<style>([\s\S]*)<\/style>/.exec(page.text) ?? [];
      const hash = createHash("sha256").update(style).digest("base64");
      assert.ok(page.headers.get("content-security-policy")!.includes(`style-src 'sha256-${hash}'`), path);
    }
  }));

Deno.test("without a base URL the sign-in pages say that sign-in is not set up", () =>
  withWorld(async (world) => {
    const sentence = "This server has no ACCOUNTS_BASE_URL, so Discord sign-in is not set up.";
    for (const path of [CLI, OFFICER, SESSION, `${CALLBACK}?state=a&code=b`]) {
      assertPage(await world.call("GET", path), 503, sentence);
    }
    const page = await world.call("GET", "/org");
    assert.ok(page.text.includes(`--api-url ${BASE_URL} --org org`), "the address the request came to stands in");
  }, { env: { ACCOUNTS_BASE_URL: "" } }));

Deno.test("two tabs of one browser: only the newest sign-in ends well, and the other says what to do", () =>
  withWorld(async (world) => {
    const browser = newBrowser(world);
    const older = await start(browser, CLI);
    const newer = await start(browser, CLI);
    tokenOn(await browser.open(await atDiscord(world, newer, "member")));
    const page = await browser.open(await atDiscord(world, older, "member"));
    assertPage(page, 400, "This sign-in was not started here, or was cancelled. Run godfather auth again.");
  }));
