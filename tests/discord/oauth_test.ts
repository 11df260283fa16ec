import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createOAuth, type OAuth, OAuthError } from "../../server/discord/oauth.ts";
import { ANN, gate, json, page, recordingLog, scripted, type Seen, testClock, until } from "./support.ts";

const CLIENT = "440000000000000001";
const REDIRECT = "http://127.0.0.1:8787/api/compute/cli/callback";
/** Everything that must never be seen in a log or an error. */
const SECRETS = {
  client: "client-secret-XXXXXXXXXXXXXXXX",
  code: "code-XXXXXXXXXXXXXXXXXXXXXX",
  access: "access-XXXXXXXXXXXXXXXXXXXX",
  refresh: "refresh-XXXXXXXXXXXXXXXXXXX",
};

const TOKEN = {
  access_token: SECRETS.access,
  token_type: "Bearer",
  expires_in: 604800,
  refresh_token: SECRETS.refresh,
  scope: "identify",
};
const USER = { id: ANN, username: "ann", global_name: "Annie", avatar: null, discriminator: "0" };

type Part = "token" | "user" | "revoke";
type Answers = Partial<Record<Part, (seen: Seen) => Response | Promise<Response>>>;

const partOf = (path: string): Part =>
  path === "/oauth2/token" ? "token" : path === "/oauth2/token/revoke" ? "revoke" : "user";

function stage(answers: Answers = {}) {
  const usual = { token: () => json(TOKEN), user: () => json(USER), revoke: () => json({}) };
  const server = scripted((seen) => (answers[partOf(seen.path)] ?? usual[partOf(seen.path)])(seen));
  const log = recordingLog();
  const oauth = createOAuth({
    apiUrl: server.apiUrl,
    siteUrl: server.origin,
    clientId: CLIENT,
    clientSecret: SECRETS.client,
    version: "1.2.3",
    clock: testClock(),
    log,
  });
  const calls = () => server.seen.map(({ method, path }) => `${method} ${path}`);
  return { server, oauth, log, calls, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

async function signIn(oauth: OAuth, callback: Record<string, string> = { code: SECRETS.code }) {
  const { state, verifier } = await oauth.start(REDIRECT);
  return await oauth.finish({
    callback: new URLSearchParams({ state, ...callback }),
    state,
    verifier,
    redirectUri: REDIRECT,
  });
}

/** The error of a sign-in, after checking that neither it nor the log holds a secret. */
async function failure(s: ReturnType<typeof stage>, callback?: Record<string, string>): Promise<OAuthError> {
  const { state, verifier } = await s.oauth.start(REDIRECT);
  const parameters = new URLSearchParams(callback ?? { state, code: SECRETS.code });
  if (callback?.state === "right") parameters.set("state", state);
  const error = await s.oauth.finish({ callback: parameters, state, verifier, redirectUri: REDIRECT })
    .then(() => null, (error: unknown) => error);
  assert.ok(error instanceof OAuthError, String(error));
  const said = `${error.message} ${error.stack} ${Deno.inspect(error, { depth: 10 })} ${s.log.lines.join("\n")}`;
  for (const secret of [...Object.values(SECRETS), verifier, state]) assert.ok(!said.includes(secret), said);
  return error;
}

Deno.test("start makes an address with state and an S256 challenge, new each time", async () => {
  await using s = stage();
  const { url, state, verifier } = await s.oauth.start(REDIRECT);
  const address = new URL(url);
  assert.equal(address.origin + address.pathname, `${s.server.origin}/oauth2/authorize`);
  assert.deepEqual(Object.fromEntries(address.searchParams), {
    response_type: "code",
    client_id: CLIENT,
    scope: "identify",
    redirect_uri: REDIRECT,
    state,
    prompt: "consent",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  assert.match(state, /^[A-Za-z0-9_-]{32,}$/);
  assert.match(verifier, /^[A-Za-z0-9._~-]{43,128}$/);
  const second = await s.oauth.start(REDIRECT);
  assert.notEqual(second.state, state);
  assert.notEqual(second.verifier, verifier);
  assert.equal(s.server.seen.length, 0);
});

Deno.test("finish exchanges the code once, reads who it is and revokes the tokens", async () => {
  await using s = stage();
  const { state, verifier } = await s.oauth.start(REDIRECT);
  const callback = new URLSearchParams({ code: SECRETS.code, state });
  const identity = await s.oauth.finish({ callback, state, verifier, redirectUri: REDIRECT });
  assert.deepEqual(identity, { id: ANN, username: "ann", globalName: "Annie" });
  assert.deepEqual(s.calls(), ["POST /oauth2/token", "GET /users/@me", "POST /oauth2/token/revoke"]);
  const [token, user, revoke] = s.server.seen;
  assert.match(token!.headers.get("content-type")!, /^application\/x-www-form-urlencoded/);
  assert.equal(token!.headers.get("authorization"), null);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(token!.body)), {
    grant_type: "authorization_code",
    code: SECRETS.code,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
    client_id: CLIENT,
    client_secret: SECRETS.client,
  });
  assert.equal(user!.headers.get("authorization"), `Bearer ${SECRETS.access}`);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(revoke!.body)), {
    token: SECRETS.access,
    token_type_hint: "access_token",
    client_id: CLIENT,
    client_secret: SECRETS.client,
  });
  for (const { headers } of s.server.seen) assert.match(headers.get("user-agent")!, /^DiscordBot \(.+, 1\.2\.3\)$/);
  assert.deepEqual(s.log.lines, []);
});

Deno.test("finish cleans the names and takes a missing global name as none", async () => {
  await using s = stage({ user: () => json({ id: ANN, username: "an\u001bn", global_name: "\u202e" }) });
  assert.deepEqual(await signIn(s.oauth), { id: ANN, username: "ann", globalName: null });
});

Deno.test("finish tells a cancelled sign-in from a callback that is not ours, without calling Discord", async () => {
  const html = "<script>alert(1)</script>";
  const cases: [string, Record<string, string>][] = [
    ["cancelled", { state: "right", error: "access_denied", error_description: html }],
    ["bad_callback", { state: "right", error: "invalid_scope", error_description: SECRETS.code }],
    ["bad_callback", { state: "right", error: SECRETS.code }],
    ["bad_callback", { state: "wrong", error: "access_denied" }],
    ["bad_callback", { error: "access_denied" }],
    ["bad_callback", { state: "right" }],
    ["bad_callback", { state: "right", code: "" }],
    ["bad_callback", { state: "wrong", code: SECRETS.code }],
    ["bad_callback", { state: "", code: SECRETS.code }],
    ["bad_callback", { code: SECRETS.code }],
    ["bad_callback", { state: "right", code: SECRETS.code, iss: "https://evil.example" }],
    ["bad_callback", {}],
  ];
  await using s = stage();
  for (const [reason, callback] of cases) {
    const error = await failure(s, callback);
    assert.equal(error.reason, reason, JSON.stringify(callback));
    assert.ok(!error.message.includes("script") && !s.log.lines.join().includes("script"));
  }
  assert.deepEqual(s.calls(), []);
});

Deno.test("finish refuses a callback that names state or code twice", async () => {
  await using s = stage();
  const { state, verifier } = await s.oauth.start(REDIRECT);
  for (const more of [["state", state], ["code", "other"]]) {
    const callback = new URLSearchParams([["state", state], ["code", SECRETS.code], more as [string, string]]);
    await assert.rejects(s.oauth.finish({ callback, state, verifier, redirectUri: REDIRECT }), {
      reason: "bad_callback",
    });
  }
  assert.deepEqual(s.calls(), []);
});

Deno.test("finish fails the exchange once, with nothing secret, when Discord refuses or gives too little", async () => {
  const quoting = (error: string) => ({ error, error_description: `${SECRETS.code} ${SECRETS.client}` });
  const answers: Record<string, () => Response> = {
    "used code": () => json(quoting("invalid_grant"), 400),
    "wrong verifier": () => json(quoting("invalid_request"), 400),
    "wrong secret": () => json(quoting("invalid_client"), 401),
    "wrong secret with a challenge": () => json({}, 401, { "www-authenticate": 'Basic realm="x"' }),
    "an error word that quotes": () => json({ error: SECRETS.code }, 400),
    "no token": () => json({ ...TOKEN, access_token: undefined }),
    "another kind of token": () => json({ ...TOKEN, token_type: SECRETS.access }),
    "broken JSON": () =>
      new Response(`{"access_token":"${SECRETS.access}`, { headers: { "content-type": "application/json" } }),
  };
  for (const [why, token] of Object.entries(answers)) {
    await using s = stage({ token });
    assert.equal((await failure(s)).reason, "exchange_failed", why);
    assert.deepEqual(s.calls(), ["POST /oauth2/token"], why);
    assert.equal(s.log.lines.length, 1, why);
    assert.equal(s.log.lines[0]!.includes("CLIENT_ID or CLIENT_SECRET"), why.startsWith("wrong secret"), why);
  }
});

Deno.test("finish is unavailable, without a second exchange, when Discord does not answer it", async () => {
  const answers: (() => Response)[] = [
    () => page(502),
    () => json({ message: "slow", retry_after: 0.01 }, 429),
    () => json({ error: "server_error" }, 503),
    () => page(200),
    () => page(403),
    () => new Response(null, { status: 302, headers: { location: "/elsewhere" } }),
  ];
  for (const token of answers) {
    await using s = stage({ token });
    assert.equal((await failure(s)).reason, "unavailable");
    assert.deepEqual(s.calls(), ["POST /oauth2/token"]);
  }
});

Deno.test("finish is unavailable when Discord cannot be reached", async () => {
  const s = stage();
  await s.server[Symbol.asyncDispose]();
  assert.equal((await failure(s)).reason, "unavailable");
});

Deno.test("finish refuses tokens without the scope identify, and revokes them", async () => {
  for (const scope of ["guilds", "identify.nothing", "", undefined]) {
    await using s = stage({ token: () => json({ ...TOKEN, scope }) });
    assert.equal((await failure(s)).reason, "exchange_failed");
    assert.deepEqual(s.calls(), ["POST /oauth2/token", "POST /oauth2/token/revoke"]);
  }
  await using s = stage({ token: () => json({ ...TOKEN, scope: "guilds identify" }) });
  assert.equal((await signIn(s.oauth)).id, ANN);
});

Deno.test("finish revokes the tokens when Discord does not say who it is", async () => {
  const answers: [string, () => Response][] = [
    ["exchange_failed", () => json({ message: "401: Unauthorized", code: 0 }, 401)],
    ["exchange_failed", () => json({ message: "Missing scope", code: 50026 }, 403)],
    ["unavailable", () => page(503)],
    ["unavailable", () => json({ ...USER, id: "me" })],
    ["unavailable", () => json({ ...USER, username: SECRETS.access, id: 7 })],
  ];
  for (const [reason, user] of answers) {
    await using s = stage({ user });
    assert.equal((await failure(s)).reason, reason);
    assert.deepEqual(s.calls(), ["POST /oauth2/token", "GET /users/@me", "POST /oauth2/token/revoke"]);
  }
});

Deno.test("finish asks once more who it is after a short rate limit", async () => {
  let asked = 0;
  await using s = stage({ user: () => asked++ === 0 ? json({ message: "slow", retry_after: 0.01 }, 429) : json(USER) });
  assert.equal((await signIn(s.oauth)).id, ANN);
  assert.equal(asked, 2);
});

Deno.test("finish signs in and logs, without a token, when the revoke fails", async () => {
  const answers: (() => Response)[] = [
    () => page(500),
    () => json({ error: SECRETS.access, error_description: SECRETS.access }, 400),
    () => json({ error: "invalid_client" }, 401),
  ];
  for (const revoke of answers) {
    await using s = stage({ revoke });
    assert.equal((await signIn(s.oauth)).id, ANN);
    assert.equal(s.log.lines.length, 1);
    assert.match(s.log.lines[0]!, /could not be revoked/);
    for (const secret of Object.values(SECRETS)) assert.ok(!s.log.lines[0]!.includes(secret));
  }
});

Deno.test("finish waits for the revoke, so that no token outlives the sign-in", async () => {
  const held = gate();
  await using s = stage({
    revoke: async () => {
      await held.passed;
      return json({});
    },
  });
  let done = false;
  const identity = signIn(s.oauth).then((who) => {
    done = true;
    return who;
  });
  await until(() => s.server.seen.length === 3);
  assert.equal(done, false);
  held.open();
  assert.equal((await identity).id, ANN);
});
