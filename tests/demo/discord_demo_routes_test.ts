import assert from "node:assert/strict";
import { ANNA, authorizeUrl, CLIENT_ID, demo, DEMO_SECRET, fixture } from "./discord_fixture.ts";

const ROUTES = [["GET", "faults"], ["GET", "requests"], ["GET", "world"], ["POST", "sign-in"], ["GET", "x"]] as const;

Deno.test("demo routes refuse a missing or wrong secret, a foreign Host and forwarded headers", async () => {
  const { discord } = fixture();
  for (const [method, path] of ROUTES) {
    for (
      const [headers, status] of [
        [{ "X-Demo-Secret": "" }, 401],
        [{ "X-Demo-Secret": `${DEMO_SECRET}x` }, 401],
        [{ Host: "evil.example:4000" }, 403],
        [{ Host: "127.0.0.1.evil.example" }, 403],
        [{ "X-Forwarded-For": "127.0.0.1" }, 403],
        [{ "X-Forwarded-Host": "127.0.0.1:4000" }, 403],
        [{ Forwarded: "for=127.0.0.1" }, 403],
      ] as [Record<string, string>, number][]
    ) {
      const answer = await demo(discord, method, path, method === "POST" ? {} : undefined, headers);
      assert.equal(answer.status, status, `${path} ${JSON.stringify(headers)}`);
      assert.equal(typeof answer.body.error, "string");
    }
  }
});

Deno.test("demo routes accept only the listener's own origin when there is one", async () => {
  const { discord } = fixture();
  const listener = await discord.listen();
  const call = async (host: string) => {
    const headers = { "X-Demo-Secret": DEMO_SECRET, Host: host };
    const response = await discord.fetch(new Request(`${listener.origin}/_demo/faults`, { headers }));
    await response.body?.cancel();
    return response.status;
  };
  try {
    const { port } = new URL(listener.origin);
    assert.deepEqual(
      [await call(`127.0.0.1:${port}`), await call(`localhost:${port}`), await call("127.0.0.1:1")],
      [200, 200, 403],
    );
    const real = await fetch(`${listener.origin}/_demo/world`, { headers: { "X-Demo-Secret": DEMO_SECRET } });
    assert.equal((await real.json()).application.id, CLIENT_ID);
  } finally {
    await listener.close();
  }
});

Deno.test("demo routes answer 404 and 405 that name what exists", async () => {
  const { discord } = fixture();
  const unknown = await demo(discord, "GET", "meter");
  assert.deepEqual([unknown.status, unknown.body.code], [404, "route_not_found"]);
  assert.match(unknown.body.error, /\/_demo\/faults/);
  const method = await demo(discord, "PUT", "faults");
  assert.deepEqual([method.status, method.body.code], [405, "method_not_allowed"]);
});

Deno.test("GET /_demo/faults lists known faults with a sentence, their variants, and those on", async () => {
  const { discord } = fixture();
  const { body } = await demo(discord, "GET", "faults");
  assert.deepEqual(body.on, []);
  for (const fault of body.known) {
    assert.match(fault.about, /^[A-Z].*\.$/);
    assert.ok(fault.variants.length > 0);
    for (const variant of fault.variants) assert.match(variant.about, /\.$/);
  }
  const network = body.known.find((fault: { fault: string }) => fault.fault === "D20");
  const slow = network.variants.find((variant: { variant: string }) => variant.variant === "slow");
  assert.equal(slow.ms.default, 60_000);
});

Deno.test("POST /_demo/faults switches on and off, and DELETE clears", async () => {
  const { discord } = fixture();
  const post = async (body: unknown) => (await demo(discord, "POST", "faults", body)).body.on;
  const row = (fault: string, variant: string, times: number | null, ms: number | null, on: string | null = null) => ({
    fault,
    variant,
    times,
    ms,
    on,
  });
  assert.deepEqual(await post({ fault: "D19", times: 3 }), [row("D19", "short", 3, 650)]);
  assert.deepEqual(await post({ fault: "D19", times: 0, ms: 10 }), [row("D19", "short", null, 10)]);
  const slow = row("D20", "slow", null, 5, "GET /users/@me");
  assert.deepEqual(await post({ fault: "D20", variant: "slow", ms: 5, on: "GET /users/@me" }), [
    row("D19", "short", null, 10),
    slow,
  ]);
  await post({ fault: "D20", variant: "cut" });
  assert.equal((await post({ fault: "D19", off: true })).length, 2);
  assert.deepEqual(await post({ fault: "D20", variant: "cut", off: true }), [slow]);
  assert.deepEqual((await demo(discord, "DELETE", "faults")).body, { on: [] });
  assert.deepEqual(discord.faults.list(), []);
});

Deno.test("POST /_demo/faults refuses what it does not know and names what it does", async () => {
  const { discord } = fixture();
  for (
    const [body, message] of [
      [{ fault: "D99" }, /Unknown fault D99\. Known are D2, D4/],
      [{ fault: "constructor" }, /Unknown fault/],
      [{ fault: "D20", variant: "toString" }, /Unknown variant .* Known are 500, 502/],
      [{ fault: "D20", on: "GET /guild/*" }, /No route fits .*GET \/guilds\/\{guild_id\}/],
      [{ fault: "D20", on: "POST /users/@me" }, /No route fits/],
      [{ fault: "D7", on: "GET /users/@me" }, /takes no "on"/],
      [{ fault: "D20", variant: "502", ms: 5 }, /takes no ms/],
      [{ fault: "D20", off: true, times: 2 }, /only fault and variant/],
      [{ fault: "D20", times: -1 }, /times/],
      [{ fault: "D20", tims: 1 }, /Unknown field tims/],
      [{}, /fault/],
    ] as const
  ) {
    const answer = await demo(discord, "POST", "faults", body);
    assert.deepEqual([answer.status, answer.body.code], [400, "invalid_request"], JSON.stringify(body));
    assert.match(answer.body.error, message);
  }
  assert.deepEqual(discord.faults.list(), []);
});

Deno.test("POST /_demo/sign-in refuses a foreign page, nobody, the bot and an unknown outcome", async () => {
  const { discord, world } = fixture();
  const authorize_url = authorizeUrl();
  for (
    const [body, message] of [
      [{ authorize_url: "nonsense", user_id: ANNA }, /not the authorize page/],
      [{ authorize_url: "http://127.0.0.1:4000/api/v10/users/@me", user_id: ANNA }, /not the authorize page/],
      [{ authorize_url: authorizeUrl({ client_id: "1" }), user_id: ANNA }, /client_id is wrong/],
      [{ authorize_url: authorizeUrl({ redirect_uri: "http://evil.example/" }), user_id: ANNA }, /redirect_uri/],
      [{ authorize_url }, /user_id/],
      [{ authorize_url, user_id: world.botId }, /user_id/],
      [{ authorize_url, user_id: "1", outcome: "no_state" }, /user_id/],
      [{ authorize_url, user_id: ANNA, outcome: "explode" }, /outcome/],
      [{ authorize_url, user_id: ANNA, code: "x" }, /Unknown field code/],
    ] as const
  ) {
    const answer = await demo(discord, "POST", "sign-in", body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match(answer.body.error, message);
  }
  const listener = await discord.listen();
  try {
    const headers = { Host: new URL(listener.origin).host };
    const answer = await demo(discord, "POST", "sign-in", { authorize_url, user_id: ANNA }, headers);
    assert.match(answer.body.error, /not the authorize page/);
  } finally {
    await listener.close();
  }
});

Deno.test("POST /_demo/sign-in gives the redirect that the browser would get", async () => {
  const { discord } = fixture();
  const cancelled = await demo(discord, "POST", "sign-in", { authorize_url: authorizeUrl(), outcome: "cancel" });
  assert.match(cancelled.body.location, /error=access_denied/);
  const plain = authorizeUrl({ code_challenge_method: "plain" });
  const refused = await demo(discord, "POST", "sign-in", { authorize_url: plain, user_id: ANNA });
  assert.match(refused.body.location, /Unsupported\+%22code_challenge_method%22/);
  discord.faults.set({ fault: "D2", variant: "no_state", times: 1 });
  const forced = await demo(discord, "POST", "sign-in", { authorize_url: authorizeUrl(), user_id: ANNA });
  assert.doesNotMatch(forced.body.location, /state=/);
});

Deno.test("the listener refuses a body that is too long, and cuts nothing else", async () => {
  const { discord } = fixture();
  const listener = await discord.listen();
  try {
    const response = await fetch(`${listener.origin}/_demo/world`, { method: "POST", body: "x".repeat(70_000) });
    assert.equal(response.status, 413);
    await response.body?.cancel();
    const good = await fetch(`${listener.origin}/oauth2/authorize`);
    assert.equal(good.status, 400);
    await good.body?.cancel();
  } finally {
    await listener.close();
  }
});
