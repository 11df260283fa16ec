import assert from "node:assert/strict";
import { DAY } from "../../server/clock.ts";
import { BASE_URL, PEOPLE, type Person } from "../support/world.ts";
import { atDiscord, type Browser, newBrowser, OWN, signIn, start } from "./sign_in_support.ts";
import { cellOf, type ClockedWorld, withWorld } from "./support.ts";

const SESSION = "/api/compute/org/session/login";
const SETTINGS = "/api/compute/org/settings";
const LOGOUT = "/api/compute/org/session/logout";

/** A browser with a session of the person. */
async function signedIn(world: ClockedWorld, person: Person): Promise<Browser> {
  const browser = newBrowser(world);
  const ended = await signIn(world, browser, SESSION, person);
  assert.equal(ended.status, 302, ended.text);
  return browser;
}

/** The attributes of the cookie that an answer sets, in lower case, by name. */
function attributesOf(line: string): Record<string, string | true> {
  const [, ...parts] = line.split(";").map((part) => part.trim());
  return Object.fromEntries(parts.map((part) => {
    const [name = "", value] = part.split("=");
    return [name.toLowerCase(), value ?? true];
  }));
}

Deno.test("a session sign-in sets a cookie and goes back to where it came from, for members and officers alike", () =>
  withWorld(async (world) => {
    for (const person of ["member", "officer"] as const) {
      const browser = newBrowser(world);
      const ended = await signIn(world, browser, `${SESSION}?return=%2Forg%3Fa%3Db%26c%3Dd`, person);
      assert.deepEqual([ended.status, ended.headers.get("location"), ended.text], [302, "/org?a=b&c=d", ""]);
      assert.equal(ended.headers.get("cache-control"), "no-store");
      const cookie = browser.cookies.get("orgpods_session")!;
      assert.match(cookie, /^[A-Za-z0-9_-]{43}$/);
      const me = await browser.open("/api/compute/org/me");
      assert.deepEqual([me.json.discord_id, me.json.is_officer], [PEOPLE[person], person === "officer"]);
      assert.equal((await browser.open("/api/compute/org/me/pods")).status, 200);
      assert.equal(cellOf(await browser.open(SETTINGS)), person === "officer" ? "200" : "403 not_an_officer");
      assert.ok(!JSON.stringify(world.db.all("select * from browser_sessions")).includes(cookie), "stored bare");
      assert.ok(!world.logLines.join().includes(cookie));
    }
    const rows = world.db.all<{ actor_id: string; outcome: string }>(
      "select actor_id, outcome from audit_log where action = 'compute session opened' order by id",
    );
    assert.deepEqual(rows.map((row) => ({ ...row })), [
      { actor_id: PEOPLE.member, outcome: "ok" },
      { actor_id: PEOPLE.officer, outcome: "ok" },
    ]);
  }));

const NOT_OURS = [
  "https://evil.example/",
  "//evil.example/",
  "///evil.example/",
  "/\\evil.example/",
  "\\/evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  " //evil.example",
  "/%0d%0aset-cookie:a=b\r\nset-cookie: a=b",
  "javascript:alert(1)",
  "data:text/html,x",
  "http:/evil.example",
  "evil.example",
  "",
  "@evil.example",
  "/ünicode",
  "/a\u0000b",
  "/a\\b",
  `/${"x".repeat(501)}`,
];

Deno.test("a return address that is not a path of this server becomes the start page", () =>
  withWorld(async (world) => {
    for (const address of NOT_OURS) {
      const browser = newBrowser(world);
      const ended = await signIn(world, browser, `${SESSION}?return=${encodeURIComponent(address)}`, "member");
      assert.equal(ended.headers.get("location"), "/", JSON.stringify(address));
      assert.deepEqual([...browser.cookies.keys()].sort(), ["orgpods_session", "orgpods_sign_in"]);
    }
  }));

Deno.test("whatever return address is taken leads to this server when a browser resolves it", () =>
  withWorld(async (world) => {
    for (
      const address of [
        "/",
        "/.//evil.example",
        "/..//evil.example",
        "/%2f%2fevil.example",
        "/@evil.example",
        "/a//b?c#d",
      ]
    ) {
      const ended = await signIn(
        world,
        newBrowser(world),
        `${SESSION}?return=${encodeURIComponent(address)}`,
        "member",
      );
      const resolved = new URL(ended.headers.get("location")!, BASE_URL + "/api/compute/cli/callback");
      assert.equal(resolved.origin, BASE_URL, address);
    }
    const doubled = await signIn(world, newBrowser(world), `${SESSION}?return=/ok&return=//evil.example`, "member");
    assert.equal(doubled.headers.get("location"), "/ok");
    const browser = newBrowser(world);
    const back = await atDiscord(world, await start(browser, SESSION), "member");
    assert.equal((await browser.open(`${back}&return=/elsewhere`)).headers.get("location"), "/");
  }));

Deno.test("over http the cookies are HttpOnly, SameSite=Lax, for the whole path and of limited life", () =>
  withWorld(async (world) => {
    const browser = newBrowser(world);
    const started = await browser.open(SESSION);
    const [first = ""] = started.headers.getSetCookie();
    assert.match(first, /^orgpods_sign_in=/);
    assert.deepEqual(attributesOf(first), { "max-age": "600", path: "/", httponly: true, samesite: "Lax" });
    const ended = await browser.open(await atDiscord(world, new URL(started.headers.get("location")!), "member"));
    const line = ended.headers.getSetCookie().find((one) => one.startsWith("orgpods_session="))!;
    assert.deepEqual(attributesOf(line), { "max-age": "604800", path: "/", httponly: true, samesite: "Lax" });
  }));

Deno.test("over https the cookies are bound to the host: __Host-, Secure, no domain", () =>
  withWorld(async (world) => {
    world.discord.setRedirectUris(["https://pods.example.org/api/compute/cli/callback"]);
    const browser = newBrowser(world);
    const started = await browser.open(SESSION);
    const [first = ""] = started.headers.getSetCookie();
    assert.match(first, /^__Host-orgpods_sign_in=/);
    const bound = { path: "/", httponly: true, secure: true, samesite: "Lax" };
    assert.deepEqual(attributesOf(first), { "max-age": "600", ...bound });
    const ended = await browser.open(await atDiscord(world, new URL(started.headers.get("location")!), "member"));
    const line = ended.headers.getSetCookie().find((one) => one.startsWith("__Host-orgpods_session="))!;
    assert.deepEqual(attributesOf(line), { "max-age": "604800", ...bound });
    assert.equal((await browser.open("/api/compute/org/me/pods")).status, 200);
    const tossed = newBrowser(world);
    tossed.cookies.set("orgpods_sign_in", browser.cookies.get("__Host-orgpods_sign_in")!);
    const back = await atDiscord(world, await start(browser, SESSION), "member");
    assert.equal((await tossed.open(back)).status, 400, "a cookie without the prefix could be another host's");
    const out = await browser.open(LOGOUT, { method: "POST", headers: OWN });
    assert.equal(out.status, 200, out.text);
    assert.match(out.headers.getSetCookie()[0]!, /^__Host-orgpods_session=; Max-Age=0; .*Secure/);
  }, { env: { ACCOUNTS_BASE_URL: "https://pods.example.org" } }));

Deno.test("a session ends after seven days, and a made-up one is another refusal than an old one", () =>
  withWorld(async (world) => {
    const browser = await signedIn(world, "officer");
    world.clock.advance(7 * DAY - 1);
    assert.equal((await browser.open(SETTINGS)).status, 200);
    world.clock.advance(1);
    const old = await browser.open(SETTINGS);
    assert.deepEqual([old.status, old.json], [401, { error: "Session token has expired!", code: "session_expired" }]);
    assert.equal(cellOf(await browser.open("/api/compute/org/me/pods")), "401 session_expired");
    browser.cookies.set("orgpods_session", "A".repeat(43));
    const made = await browser.open(SETTINGS);
    assert.deepEqual([made.status, made.json], [401, { error: "Session token is invalid!", code: "session_invalid" }]);
    browser.cookies.delete("orgpods_session");
    assert.equal((await browser.open(SETTINGS)).json.error, "Authentication required!");
    assert.equal((await browser.open("/api/compute/org/me/pods")).json.error, "Discord authentication required");
  }));

Deno.test("a session is only as good as what Discord says of the person now", () =>
  withWorld(async (world) => {
    const member = await signedIn(world, "member");
    const officer = await signedIn(world, "officer");
    world.discord.world.change({ action: "leave", guild_id: "900000000000000001", user_id: PEOPLE.member });
    world.discord.world.setRoles("900000000000000001", PEOPLE.officer, []);
    world.clock.advance(61_000);
    const left = await member.open("/api/compute/org/me/pods");
    assert.deepEqual([left.status, left.json], [403, {
      error: "You must be a member of this organization to access this resource",
      code: "not_a_member",
    }]);
    assert.equal(cellOf(await officer.open(SETTINGS)), "403 not_an_officer");
    assert.equal((await officer.open("/api/compute/org/me/pods")).status, 200);
    assert.equal(cellOf(await officer.open("/api/compute/other/me/pods")), "403 not_a_member");
  }));

const FOREIGN: Record<string, Record<string, string>> = {
  "no Origin": {},
  "no Origin from another site": { "sec-fetch-site": "cross-site" },
  "another Origin": { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
  "another port": { origin: "http://127.0.0.1:1", "sec-fetch-site": "same-site" },
  "a host that begins alike": { origin: `${BASE_URL}.evil.example` },
  "the Origin null": { origin: "null", "sec-fetch-site": "cross-site" },
  "an empty Origin": { origin: "" },
  "our Origin from another site": { origin: BASE_URL, "sec-fetch-site": "cross-site" },
  "our Origin from a sister site": { origin: BASE_URL, "sec-fetch-site": "same-site" },
  "our Origin typed by hand": { origin: BASE_URL, "sec-fetch-site": "none" },
  "our name in the user part": { origin: `http://127.0.0.1:18000@evil.example` },
};

Deno.test("a session writes only from the server's own pages", () =>
  withWorld(async (world) => {
    const browser = await signedIn(world, "officer");
    const cookie = `orgpods_session=${browser.cookies.get("orgpods_session")}`;
    const writes: [string, string, unknown][] = [
      ["PUT", SETTINGS, { pod_image: "stolen" }],
      ["POST", "/api/compute/org/pods", { use_cpu_only: true }],
      ["DELETE", "/api/compute/org/tokens/1", undefined],
      ["POST", "/api/compute/org/me/pods/x/connect", {}],
      ["POST", LOGOUT, undefined],
    ];
    for (const [what, headers] of Object.entries(FOREIGN)) {
      for (const [method, path, body] of writes) {
        const answer = await world.call(method, path, { headers: { cookie, ...headers }, body });
        assert.equal(cellOf(answer), "403 cross_site_refused", `${method} ${path}, ${what}`);
      }
    }
    assert.equal((await world.call("GET", SETTINGS, { as: "operator" })).json.settings.pod_image, null);
    for (const own of [OWN, { origin: BASE_URL }]) {
      const answer = await world.call("PUT", SETTINGS, { headers: { cookie, ...own }, body: { pod_image: "own" } });
      assert.equal(answer.status, 200, answer.text);
    }
    const read = await world.call("GET", SETTINGS, { headers: { cookie, ...FOREIGN["another Origin"] } });
    assert.equal(read.status, 200, "reading changes nothing, and its answer cannot be read from elsewhere");
    assert.equal(read.headers.get("access-control-allow-origin"), null);
    const token = await world.token("officer", "officer");
    const byToken = await world.call("PUT", SETTINGS, {
      token,
      headers: FOREIGN["another Origin"]!,
      body: { pod_image: "x" },
    });
    assert.equal(byToken.status, 200, "a token is never sent by a browser on its own");
  }));

Deno.test("a session downloads only from the server's own pages or a typed address", () =>
  withWorld(async (world) => {
    const browser = await signedIn(world, "officer");
    const cookie = `orgpods_session=${browser.cookies.get("orgpods_session")}`;
    const download = "/api/compute/org/pods/none/files/download?path=/a";
    const ask = async (method: string, headers: Record<string, string>) => {
      const request = new Request(`${BASE_URL}${download}`, { method, headers: { cookie, ...headers } });
      const answer = await world.app.fetch(request, { isOperator: false, account: "", address: "192.0.2.1" });
      await answer.body?.cancel();
      return answer.status;
    };
    for (const method of ["GET", "HEAD"]) {
      for (const site of ["cross-site", "same-site", "new-site"]) {
        assert.equal(await ask(method, { "sec-fetch-site": site }), 403, `${method} ${site}`);
      }
      for (const headers of [{}, { "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }]) {
        assert.equal(await ask(method, headers), 404, `${method} ${JSON.stringify(headers)}`);
      }
    }
    const refused = await world.call("GET", download, { headers: { cookie, "sec-fetch-site": "cross-site" } });
    assert.equal(cellOf(refused), "403 cross_site_refused");
    const token = await world.token("officer", "officer");
    const byToken = await world.call("GET", download, { token, headers: { "sec-fetch-site": "cross-site" } });
    assert.equal(cellOf(byToken), "404 pod_not_found");
  }));

Deno.test("signing out ends the session at the server and takes the cookie away", () =>
  withWorld(async (world) => {
    const browser = await signedIn(world, "member");
    const other = await signedIn(world, "member");
    const kept = browser.cookies.get("orgpods_session")!;
    const out = await browser.open(LOGOUT, { method: "POST", headers: OWN });
    assert.deepEqual([out.status, out.json], [200, { signed_out: true }]);
    assert.equal(browser.cookies.has("orgpods_session"), false);
    browser.cookies.set("orgpods_session", kept);
    assert.equal(cellOf(await browser.open("/api/compute/org/me/pods")), "401 session_invalid");
    assert.equal((await other.open("/api/compute/org/me/pods")).status, 200, "another browser stays signed in");
  }));

Deno.test("old sessions are removed from the database a week after they ended", () =>
  withWorld(async (world) => {
    await signedIn(world, "member");
    world.clock.advance(14 * DAY + 1);
    await signedIn(world, "officer");
    const left = world.db.all<{ discord_id: string }>("select discord_id from browser_sessions");
    assert.deepEqual(left.map((row) => row.discord_id), [PEOPLE.officer]);
  }));

Deno.test("who left the server can still sign out", () =>
  withWorld(async (world) => {
    const browser = await signedIn(world, "member");
    world.discord.world.change({ action: "leave", guild_id: "900000000000000001", user_id: PEOPLE.member });
    world.clock.advance(61_000);
    const out = await browser.open(LOGOUT, { method: "POST", headers: OWN });
    assert.equal(out.status, 200, out.text);
  }));
