import assert from "node:assert/strict";
import {
  accessToken,
  AGENT,
  ANNA,
  authorizeUrl,
  BOT_TOKEN,
  CLIENT_ID,
  CLIENT_SECRET,
  demo,
  exchange,
  fixture,
  get,
  GUILD,
  postForm,
  REDIRECT,
  SIGN_IN_CODE,
  signIn,
  VERIFIER,
} from "./discord_fixture.ts";

Deno.test("requests records each call with agent, route, status and a redacted token (D21)", async () => {
  const { discord } = fixture();
  await get(discord, `/guilds/${GUILD}/members/${ANNA}`);
  await get(discord, `/guilds/${GUILD}/members/search?query=ann&limit=7&odd=x`, "Bot short");
  const [first, second] = discord.requests.list();
  assert.deepEqual(first, {
    at: "2026-01-01T00:00:00+00:00",
    method: "GET",
    path: `/api/v10/guilds/${GUILD}/members/${ANNA}`,
    route: "/guilds/{guild_id}/members/{user_id}",
    query: {},
    user_agent: AGENT,
    authorization: "Bot …abcd",
    content_type: null,
    form: null,
    code_ref: null,
    status: 200,
  });
  assert.deepEqual(second!.query, { query: "ann", limit: "7", odd: "(redacted)" });
  assert.deepEqual([second!.status, second!.authorization], [401, "Bot (redacted)"]);
});

Deno.test("requests tells token calls for one code apart from those for another (D21)", async () => {
  const { discord } = fixture();
  const [one, other] = [(await signIn(discord)).get("code")!, (await signIn(discord)).get("code")!];
  for (const code of [one, other, one]) await exchange(discord, code);
  const refs = discord.requests.list().map((request) => request.code_ref);
  assert.equal(refs[0], refs[2]);
  assert.notEqual(refs[0], refs[1]);
});

Deno.test("GET /_demo/requests holds no token, code, verifier, secret or state (D21)", async () => {
  const { discord } = fixture();
  const response = await discord.fetch(new Request(authorizeUrl({ state: "state-value" })));
  const page = await response.text();
  await discord.fetch(
    new Request(authorizeUrl(), {
      method: "POST",
      body: new URLSearchParams({ form_token: /value="([^"]+)"/.exec(page)![1]!, sign_in_code: SIGN_IN_CODE }),
    }),
  );
  const token = await accessToken(discord);
  await get(discord, "/users/@me", `Bearer ${token}`);
  const basic = btoa(`${CLIENT_ID}:${CLIENT_SECRET.replace("é", "e")}`);
  const fields = { token, client_id: CLIENT_ID, client_secret: CLIENT_SECRET };
  await postForm(discord, "/oauth2/token/revoke", fields, { Authorization: `Basic ${basic}` });
  const shown = JSON.stringify((await demo(discord, "GET", "requests")).body);
  const secrets = [...discord.secretsIssued(), BOT_TOKEN, CLIENT_SECRET, VERIFIER, SIGN_IN_CODE, "state-value", basic];
  for (const secret of secrets) assert.ok(!shown.includes(secret), secret);
  assert.ok(discord.secretsIssued().includes(token));
  assert.ok(shown.includes(`Bearer …${token.slice(-4)}`));
  const form = discord.requests.list().find((request) => request.route === "/oauth2/token")!.form!;
  assert.deepEqual([form["grant_type"], form["redirect_uri"]], ["authorization_code", REDIRECT]);
});

Deno.test("DELETE /_demo/requests forgets them, and calls of /_demo are never among them (D21)", async () => {
  const { discord } = fixture();
  await get(discord, "/users/@me");
  assert.equal((await demo(discord, "GET", "requests")).body.requests.length, 1);
  await demo(discord, "DELETE", "requests");
  assert.deepEqual((await demo(discord, "GET", "requests")).body, { requests: [], dropped: 0, invalid_answers: 0 });
});
