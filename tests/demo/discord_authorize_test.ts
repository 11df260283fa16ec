import assert from "node:assert/strict";
import type { FakeDiscord } from "../../server/demo/discord/mod.ts";
import { ANNA, authorizeUrl, exchange, fixture, ORIGIN, REDIRECT, SIGN_IN_CODE, signIn } from "./discord_fixture.ts";

async function visit(discord: FakeDiscord, changes: Record<string, string | null> = {}) {
  const response = await discord.fetch(new Request(authorizeUrl(changes)));
  const page = await response.text();
  return {
    response,
    page,
    formToken: /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? "",
    cookie: response.headers.get("Set-Cookie")?.split(";")[0] ?? "",
  };
}

async function send(
  discord: FakeDiscord,
  visited: { formToken: string; cookie: string },
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const response = await discord.fetch(
    new Request(`${ORIGIN}/oauth2/authorize`, {
      method: "POST",
      headers: { Cookie: visited.cookie, ...headers },
      body: new URLSearchParams({
        form_token: visited.formToken,
        user_id: ANNA,
        sign_in_code: SIGN_IN_CODE,
        choice: "authorize",
        ...fields,
      }),
    }),
  );
  return { status: response.status, location: response.headers.get("Location"), page: await response.text() };
}

Deno.test("authorize shows a page without script that names application, scope, host and people when asked (D1)", async () => {
  const { discord, world } = fixture();
  world.addUser({ id: "600000000000000009", username: "mallory", global_name: `"><b>\u202eevil` });
  const { response, page } = await visit(discord);
  assert.equal(response.status, 200);
  assert.match(page, /<h1>orgpods wants/);
  assert.match(page, /<b>identify<\/b>/);
  assert.match(page, /<b>127\.0\.0\.1:9<\/b>/);
  assert.match(page, /Zed the Great \(@anna\): Officer in Robotics</);
  assert.match(page, /\(@stranger\): in no server</);
  assert.match(page, /&quot;&gt;&lt;b&gt;\\u202eevil/);
  assert.doesNotMatch(page, /<script|\son[a-z]+=/);
  const policy = response.headers.get("Content-Security-Policy") ?? "";
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|script-src/);
  // The redirects that follow the form: to the application, and from there to a command on some port of this machine.
  assert.match(policy, /form-action 'self' http:\/\/127\.0\.0\.1:9 http:\/\/127\.0\.0\.1:\* http:\/\/localhost:\*;/);
  assert.equal(response.headers.get("Referrer-Policy"), "same-origin", "no-referrer would make the form's Origin null");
});

Deno.test("authorize shows the page when prompt is none, since nobody is signed in (D1)", async () => {
  const { discord } = fixture();
  const first = await visit(discord, { prompt: "none" });
  assert.equal(first.response.status, 200);
  assert.equal((await send(discord, first, {})).status, 302);
  assert.equal((await visit(discord, { prompt: "none" })).response.status, 200);
});

for (
  const [what, changes] of Object.entries({
    "client_id is wrong": { client_id: "1" },
    "client_id is missing": { client_id: null },
    "redirect_uri has one more slash": { redirect_uri: `${REDIRECT}/` },
    "redirect_uri has another query": { redirect_uri: `${REDIRECT}?a=1` },
    "redirect_uri is missing": { redirect_uri: null },
  })
) {
  Deno.test(`authorize shows its own error page and does not redirect when ${what} (D1)`, async () => {
    const { response, page } = await visit(fixture().discord, changes);
    assert.equal(response.status, 400);
    assert.equal(response.headers.get("Location"), null);
    assert.match(page, /Authorization failed/);
  });
}

Deno.test("authorize takes another redirect_uri when the registered ones were changed (D1)", async () => {
  const { discord } = fixture();
  discord.setRedirectUris(["https://pods.example.org/cb"]);
  assert.equal((await visit(discord)).response.status, 400);
  assert.equal((await visit(discord, { redirect_uri: "https://pods.example.org/cb" })).response.status, 200);
});

for (
  const [changes, error, description] of [
    [{ response_type: "token" }, "unsupported_response_type", /response type/],
    [{ scope: "identify root" }, "invalid_scope", /scope/],
    [{ scope: null }, "invalid_scope", /scope/],
    [{ prompt: "login" }, "invalid_request", /prompt/],
    [{ code_challenge_method: "plain" }, "invalid_request", /^Unsupported "code_challenge_method"$/],
    [{ code_challenge_method: null }, "invalid_request", /^Unsupported "code_challenge_method"$/],
    [{ code_challenge: null }, "invalid_request", /^Invalid "code_challenge"$/],
    [{ code_challenge: "short" }, "invalid_request", /^Invalid "code_challenge"$/],
  ] as const
) {
  Deno.test(`authorize redirects with ${error} when asked with ${JSON.stringify(changes)} (D1, D3)`, async () => {
    const { response } = await visit(fixture().discord, changes);
    assert.equal(response.status, 302);
    const query = new URL(response.headers.get("Location")!).searchParams;
    assert.equal(query.get("error"), error);
    assert.match(query.get("error_description")!, description);
    assert.equal(query.get("state"), "st-1");
    assert.equal(query.get("code"), null);
  });
}

Deno.test("authorize redirects with code and state when the person authorizes (D1)", async () => {
  const { discord } = fixture();
  const sent = await send(discord, await visit(discord), {});
  assert.equal(sent.status, 302);
  const url = new URL(sent.location!);
  assert.equal(url.origin + url.pathname, REDIRECT);
  assert.equal(url.searchParams.get("state"), "st-1");
  assert.equal((await exchange(discord, url.searchParams.get("code")!)).status, 200);
});

Deno.test("authorize redirects with access_denied in form encoding when the person cancels (D2)", async () => {
  const { discord } = fixture();
  const sent = await send(discord, await visit(discord), { choice: "cancel", sign_in_code: "", user_id: "" });
  assert.equal(
    sent.location,
    `${REDIRECT}?error=access_denied&error_description=` +
      "The+resource+owner+or+authorization+server+denied+the+request&state=st-1",
  );
});

Deno.test("authorize shows the page again with a sentence when the sign-in code is wrong", async () => {
  const { discord } = fixture();
  const visited = await visit(discord);
  const again = await send(discord, visited, { sign_in_code: "wrong" });
  assert.equal(again.status, 403);
  assert.match(again.page, /sign-in code is wrong/);
  assert.match(again.page, new RegExp(`value="${ANNA}" selected`));
  const formToken = /name="form_token" value="([^"]+)"/.exec(again.page)![1]!;
  assert.notEqual(formToken, visited.formToken);
  assert.equal((await send(discord, { formToken, cookie: visited.cookie }, {})).status, 302);
});

Deno.test("authorize looks at no more codes when many wrong ones came, until ten minutes later", async () => {
  const { discord, time } = fixture();
  for (let i = 0; i < 20; i++) await send(discord, await visit(discord), { sign_in_code: `guess ${i}` });
  assert.equal((await send(discord, await visit(discord), {})).status, 429);
  time.now += 10 * 60_000;
  assert.equal((await send(discord, await visit(discord), {})).status, 302);
});

Deno.test("authorize refuses a form when its token was used, is old, unknown, or another browser's", async () => {
  const { discord, time } = fixture();
  const visited = await visit(discord);
  assert.equal((await send(discord, { ...visited, cookie: (await visit(discord)).cookie }, {})).status, 403);
  assert.equal((await send(discord, { ...visited, cookie: "" }, {})).status, 403);
  assert.equal((await send(discord, { ...visited, formToken: "x" }, {})).status, 403);
  assert.equal((await send(discord, visited, {})).status, 302);
  assert.equal((await send(discord, visited, {})).status, 403);
  const old = await visit(discord);
  time.now += 10 * 60_000;
  assert.equal((await send(discord, old, {})).status, 403);
});

Deno.test("authorize refuses a form when the browser says that another site sent it", async () => {
  const { discord } = fixture();
  const visited = await visit(discord);
  assert.equal((await send(discord, visited, {}, { Origin: "http://evil.example" })).status, 403);
  assert.equal((await send(discord, visited, {}, { Origin: "null" })).status, 403);
  assert.equal((await send(discord, visited, {}, { Origin: ORIGIN })).status, 302);
});

Deno.test("authorize refuses a choice of nobody, of the bot, and no choice at all", async () => {
  const { discord, world } = fixture();
  assert.equal((await send(discord, await visit(discord), { user_id: "1" })).status, 400);
  assert.equal((await send(discord, await visit(discord), { user_id: world.botId })).status, 400);
  assert.equal((await send(discord, await visit(discord), { choice: "" })).status, 400);
});

Deno.test("authorize refuses a foreign Host and forwarded headers", async () => {
  const { discord } = fixture();
  const headers = [{ Host: "evil.example" }, { "X-Forwarded-For": "1.2.3.4" }] as Record<string, string>[];
  for (const one of headers) {
    const response = await discord.fetch(new Request(authorizeUrl(), { headers: one }));
    assert.equal(response.status, 403);
    await response.body?.cancel();
  }
});

Deno.test("authorize page brings back what the fault D2 says when the person authorizes (D2)", async () => {
  const { discord } = fixture();
  discord.faults.set({ fault: "D2", variant: "no_code", times: 1 });
  assert.equal((await send(discord, await visit(discord), {})).location, `${REDIRECT}?state=st-1`);
  assert.match((await send(discord, await visit(discord), {})).location!, /code=/);
});

Deno.test("sign-in gives each scripted outcome of the authorize page (D2)", async () => {
  const { discord } = fixture();
  for (const error of ["invalid_scope", "invalid_request", "server_error"]) {
    const query = await signIn(discord, error);
    assert.deepEqual([query.get("error"), query.get("state"), query.get("code")], [error, "st-1", null]);
  }
  assert.match((await signIn(discord, "html_description")).get("error_description")!, /<script>/);
  assert.equal((await signIn(discord, "cancel")).get("error"), "access_denied");
  assert.deepEqual([...(await signIn(discord, "no_code")).keys()], ["state"]);
  assert.deepEqual([...(await signIn(discord, "no_state")).keys()], ["code"]);
  const wrong = await signIn(discord, "wrong_state");
  assert.notEqual(wrong.get("state"), "st-1");
  assert.equal((await exchange(discord, wrong.get("code")!)).status, 200);
  for (const outcome of ["wrong_code", "expired_code"]) {
    const answer = await exchange(discord, (await signIn(discord, outcome)).get("code")!);
    assert.equal(answer.body.error, "invalid_grant", outcome);
  }
});
