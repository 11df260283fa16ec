import assert from "node:assert/strict";
import {
  accessToken,
  AGENT,
  ANNA,
  CLIENT_ID,
  CLIENT_SECRET,
  exchange,
  fixture,
  get,
  ORIGIN,
  postForm,
  REDIRECT,
  signIn,
  STRANGER,
  VERIFIER,
} from "./discord_fixture.ts";

const CREDENTIALS = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET };

async function codeFor(discord: Parameters<typeof signIn>[0], changes: Record<string, string | null> = {}) {
  return (await signIn(discord, "approve", changes)).get("code")!;
}

Deno.test("token answers with all fields when the exchange is right (D7)", async () => {
  const { discord } = fixture();
  const { status, body } = await exchange(discord, await codeFor(discord, { scope: "identify guilds" }));
  assert.equal(status, 200);
  const { access_token, refresh_token, ...rest } = body;
  assert.ok(access_token.length >= 30 && refresh_token.length >= 30 && access_token !== refresh_token);
  assert.deepEqual(rest, { token_type: "Bearer", expires_in: 604800, scope: "identify guilds" });
});

Deno.test("token takes the credentials as HTTP Basic in form encoding (D4)", async () => {
  const { discord } = fixture();
  const encoded = [CLIENT_ID, CLIENT_SECRET].map((text) => new URLSearchParams({ v: text }).toString().slice(2));
  const fields = {
    grant_type: "authorization_code",
    code: await codeFor(discord),
    redirect_uri: REDIRECT,
    code_verifier: VERIFIER,
  };
  const wrong = await postForm(discord, "/v10/oauth2/token", fields, { Authorization: `Basic ${btoa("1:2")}` });
  assert.deepEqual([wrong.status, wrong.body], [401, { error: "invalid_client" }]);
  const right = await postForm(discord, "/v10/oauth2/token", fields, {
    Authorization: `Basic ${btoa(encoded.join(":"))}`,
  });
  assert.equal(right.status, 200);
});

Deno.test("token refuses JSON, as if no grant type was there (D4)", async () => {
  const { discord } = fixture();
  const response = await discord.fetch(
    new Request(`${ORIGIN}/api/oauth2/token`, {
      method: "POST",
      headers: { "User-Agent": AGENT, "Content-Type": "application/json" },
      body: JSON.stringify({ grant_type: "authorization_code", ...CREDENTIALS, code: await codeFor(discord) }),
    }),
  );
  assert.equal(response.status, 400);
  assert.equal((await response.json()).error, "unsupported_grant_type");
});

Deno.test("token answers 405 when the method is not POST (D4)", async () => {
  const { discord } = fixture();
  const answer = await get(discord, "/oauth2/token");
  assert.equal(answer.status, 405);
  assert.equal(answer.headers.get("Allow"), "POST");
});

Deno.test("token answers 401 invalid_client when id or secret is wrong or the fault D4 is on (D4)", async () => {
  const { discord } = fixture();
  const code = await codeFor(discord);
  discord.faults.set({ fault: "D4", times: 1 });
  for (const changes of [{ client_secret: "x" }, { client_id: "1" }, {}, { client_secret: null }]) {
    const answer = await exchange(discord, code, changes);
    assert.deepEqual([answer.status, answer.body.error], [401, "invalid_client"], JSON.stringify(changes));
  }
  assert.equal((await exchange(discord, code)).status, 200, "a refused client leaves the code alone");
});

Deno.test("token says that the verifier is missing when secret and verifier are (D6)", async () => {
  const { discord } = fixture();
  const answer = await exchange(discord, await codeFor(discord), { client_secret: null, code_verifier: null });
  assert.deepEqual([answer.status, answer.body.error_description], [400, 'Missing "code_verifier"']);
});

Deno.test("token refuses a code when it was used, is late, unknown, or for another address (D5)", async () => {
  const { discord, time } = fixture();
  const used = await codeFor(discord);
  await exchange(discord, used);
  const late = await codeFor(discord);
  time.now += 60_000;
  const elsewhere = await codeFor(discord);
  const attempts = [
    await exchange(discord, used),
    await exchange(discord, late),
    await exchange(discord, "unknown"),
    await exchange(discord, elsewhere, { redirect_uri: `${REDIRECT}/` }),
    await exchange(discord, elsewhere),
    await exchange(discord, await codeFor(discord), { redirect_uri: null }),
  ];
  for (const { status, body } of attempts) {
    assert.equal(status, 400);
    assert.deepEqual(body, { error: "invalid_grant", error_description: 'Invalid "code" in request.' });
  }
});

Deno.test("token takes a code one moment before its time is over (D5)", async () => {
  const { discord, time } = fixture();
  const code = await codeFor(discord);
  time.now += 59_999;
  assert.equal((await exchange(discord, code)).status, 200);
});

Deno.test("token refuses a good code when the fault D5 is on (D5)", async () => {
  const { discord } = fixture();
  discord.faults.set({ fault: "D5", times: 1 });
  assert.equal((await exchange(discord, await codeFor(discord))).body.error, "invalid_grant");
});

Deno.test("token refuses a verifier when it is missing, wrong, short, or unasked for (D6)", async () => {
  const { discord } = fixture();
  const without = { code_challenge: null, code_challenge_method: null };
  for (
    const [description, authorize, token] of [
      ['Missing "code_verifier"', {}, { code_verifier: null }],
      ['Invalid "code_verifier"', {}, { code_verifier: "w".repeat(43) }],
      ['Invalid "code_verifier"', {}, { code_verifier: VERIFIER.slice(1) }],
      ['Invalid "code_verifier"', without, {}],
    ] as const
  ) {
    const answer = await exchange(discord, await codeFor(discord, authorize), token);
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.body, { error: "invalid_request", error_description: description });
  }
  assert.equal((await exchange(discord, await codeFor(discord, without), { code_verifier: null })).status, 200);
});

Deno.test("token refuses a verifier shorter than 43 even when the challenge fits it (D6)", async () => {
  const { discord } = fixture();
  const { createHash } = await import("node:crypto");
  const code_challenge = createHash("sha256").update("short").digest("base64url");
  const answer = await exchange(discord, await codeFor(discord, { code_challenge }), { code_verifier: "short" });
  assert.equal(answer.body.error_description, 'Invalid "code_verifier"');
});

Deno.test("token lacks what the fault D7 says (D7)", async () => {
  const { discord } = fixture();
  discord.faults.set({ fault: "D7", times: 1 });
  const { body } = await exchange(discord, await codeFor(discord));
  assert.doesNotMatch(body.scope, /identify/);
  assert.deepEqual((await get(discord, "/users/@me", `Bearer ${body.access_token}`)).body.code, 50026);
  for (const [variant, field] of [["no_scope", "scope"], ["no_token", "access_token"]] as const) {
    discord.faults.set({ fault: "D7", variant, times: 1 });
    assert.ok(!(field in (await exchange(discord, await codeFor(discord))).body));
  }
});

Deno.test("token gives a new pair when a refresh token is used, once (D7)", async () => {
  const { discord } = fixture();
  const { body } = await exchange(discord, await codeFor(discord));
  const fields = { grant_type: "refresh_token", refresh_token: body.refresh_token, ...CREDENTIALS };
  const fresh = await postForm(discord, "/oauth2/token", fields);
  assert.equal((await get(discord, "/users/@me", `Bearer ${fresh.body.access_token}`)).status, 200);
  assert.equal((await postForm(discord, "/oauth2/token", fields)).body.error, "invalid_grant");
});

Deno.test("revoke ends every token of that person and no other's (D8)", async () => {
  const { discord } = fixture();
  const [first, second] = [await accessToken(discord), await accessToken(discord)];
  const other = await accessToken(discord, STRANGER);
  const answer = await postForm(discord, "/oauth2/token/revoke", { token: first, ...CREDENTIALS });
  assert.equal(answer.status, 200);
  const status = async (token: string) => (await get(discord, "/users/@me", `Bearer ${token}`)).status;
  assert.deepEqual([await status(first), await status(second), await status(other)], [401, 401, 200]);
});

Deno.test("revoke refuses JSON, a wrong secret and a missing token (D8)", async () => {
  const { discord } = fixture();
  const token = await accessToken(discord);
  const asJson = await discord.fetch(
    new Request(`${ORIGIN}/api/oauth2/token/revoke`, {
      method: "POST",
      headers: { "User-Agent": AGENT, "Content-Type": "application/json" },
      body: JSON.stringify({ token, ...CREDENTIALS }),
    }),
  );
  assert.equal(asJson.status, 400);
  await asJson.body?.cancel();
  const wrong = { token, client_id: CLIENT_ID, client_secret: "x" };
  assert.equal((await postForm(discord, "/oauth2/token/revoke", wrong)).status, 401);
  assert.equal((await postForm(discord, "/oauth2/token/revoke", CREDENTIALS)).status, 400);
  assert.equal((await get(discord, "/users/@me", `Bearer ${token}`)).status, 200);
});

Deno.test("revoke fails and leaves the token good when the fault D8 is on (D8)", async () => {
  const { discord } = fixture();
  const token = await accessToken(discord);
  for (const [variant, status] of [["unavailable", 503], ["refused", 400]] as const) {
    discord.faults.set({ fault: "D8", variant, times: 1 });
    assert.equal((await postForm(discord, "/oauth2/token/revoke", { token, ...CREDENTIALS })).status, status);
  }
  assert.equal((await get(discord, "/users/@me", `Bearer ${token}`)).body.id, ANNA);
});

Deno.test("an access token is refused when its seven days are over (D7)", async () => {
  const { discord, time } = fixture();
  const token = await accessToken(discord);
  time.now += 604_800_000;
  assert.equal((await get(discord, "/users/@me", `Bearer ${token}`)).status, 401);
});
