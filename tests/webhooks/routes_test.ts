import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { DAY, HOUR } from "../../server/clock.ts";
import { cellOf, type ClockedWorld, withWorld } from "../http/support.ts";
import { eventually, PEOPLE } from "../support/world.ts";
import { type Receiver, withReceiver } from "./support.ts";

const HOOKS = "/api/compute/org/webhooks";
const as = "officer" as const;
const ALLOW = { env: { ORGPODS_WEBHOOKS_ALLOW_PRIVATE: "true" } };
const SIGNED = { name: "alerts", format: "signed", url: "https://hooks.example.org/secret-path-abcd" } as const;

const call = (world: ClockedWorld, method: string, path = "", body?: unknown) =>
  world.call(method, HOOKS + path, { as, ...(body === undefined ? {} : { body }) });

async function add(world: ClockedWorld, more: Record<string, unknown> = {}) {
  const made = await call(world, "POST", "", { ...SIGNED, ...more });
  assert.equal(made.status, 201, made.text);
  return made.json;
}

/** A world with a webhook to a real receiver. */
const withHook = (use: (world: ClockedWorld, receiver: Receiver, id: number, secret: string) => Promise<void>) =>
  withReceiver((receiver) =>
    withWorld(async (world) => {
      const { webhook, secret } = await add(world, { url: `${receiver.origin}/x`, kinds: ["settings.changed"] });
      world.db.run("delete from webhook_deliveries");
      await use(world, receiver, webhook.id, secret);
    }, ALLOW)
  );

async function turn(world: ClockedWorld): Promise<void> {
  world.app.jobs.webhooks.turn();
  await world.app.jobs.webhooks.idle();
}

const ALLOWING = "ORGPODS_WEBHOOKS_ALLOW_PRIVATE=true";

Deno.test("a webhook is added, listed, shown, changed and removed, and its address is never shown again", () =>
  withWorld(async (world) => {
    const made = await call(world, "POST", "", { ...SIGNED, kinds: ["pod.started", "pod.started"] });
    assert.equal(made.status, 201);
    assert.equal(made.headers.get("cache-control"), "no-store");
    const { webhook, secret } = made.json;
    assert.match(secret, /^whsec_[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(webhook, {
      id: webhook.id,
      name: "alerts",
      format: "signed",
      url_hint: "hooks.example.org …abcd",
      kinds: ["pod.started"],
      is_enabled: true,
      disabled_at: null,
      disabled_why: null,
      waiting: 0,
      dropped_24h: 0,
      last_sent_at: null,
      last_error: null,
      last_error_at: null,
      created_by: PEOPLE.officer,
      created_at: "2026-11-30T12:00:00+00:00",
    });
    assert.deepEqual((await call(world, "GET")).json, { webhooks: [webhook] });
    assert.deepEqual((await call(world, "GET", `/${webhook.id}`)).json, { webhook });
    const changed = await call(world, "PUT", `/${webhook.id}`, {
      name: "new",
      kinds: [],
      url: "https://other.example.org/secret-wxyz",
    });
    assert.deepEqual(
      [changed.json.webhook.name, changed.json.webhook.kinds, changed.json.webhook.url_hint, changed.json.secret],
      ["new", [], "other.example.org …wxyz", null],
    );
    for (const text of [made.text, changed.text, (await call(world, "GET")).text]) assert.ok(!text.includes("secret-"));
    const stored = JSON.stringify([
      world.db.all("select * from webhooks"),
      world.db.all("select * from audit_log"),
      world.db.all("select * from events"),
    ]) + world.logLines.join();
    assert.ok(!stored.includes("secret-") && !stored.includes("whsec_"));
    assert.deepEqual((await call(world, "DELETE", `/${webhook.id}`)).json, { removed: webhook.id });
    assert.equal(cellOf(await call(world, "GET", `/${webhook.id}`)), "404 webhook_not_found");
    assert.equal(cellOf(await call(world, "DELETE", `/${webhook.id}`)), "404 webhook_not_found");
  }));

Deno.test("webhooks of another org are not found", () =>
  withWorld(async (world) => {
    const { webhook } = await add(world);
    const other = (method: string, path: string, body?: unknown) =>
      world.call(method, `/api/compute/other/webhooks${path}`, {
        as: "otherOfficer",
        ...(body === undefined ? {} : { body }),
      });
    assert.deepEqual((await other("GET", "")).json, { webhooks: [] });
    for (
      const answer of [
        await other("GET", `/${webhook.id}`),
        await other("PUT", `/${webhook.id}`, { name: "x" }),
        await other("DELETE", `/${webhook.id}`),
        await other("POST", `/${webhook.id}/test`),
        await other("GET", `/${webhook.id}/deliveries`),
      ]
    ) assert.equal(cellOf(answer), "404 webhook_not_found");
  }));

Deno.test("what a webhook may be is refused with a sentence that names the field and not the address", () =>
  withWorld(async (world) => {
    const { webhook } = await add(world);
    const cases: [Record<string, unknown>, string][] = [
      [{ name: " " }, "name must be text of 1 to 80 characters"],
      [{ name: "x".repeat(81) }, "name must be text of 1 to 80 characters"],
      [{ format: "slack" }, "format must be discord or signed"],
      [
        { url: "http://hooks.example.org/secret-path" },
        `url must be an https address; plain http is for loopback, with ${ALLOWING}`,
      ],
      [
        { url: "https://10.0.0.1/secret-path" },
        `url must not lead to a private, local or reserved address without ${ALLOWING}`,
      ],
      [
        { format: "discord" },
        "url must be a Discord webhook: https://discord.com/api/webhooks/<id>/<token>",
      ],
      [
        { url: `https://hooks.example.org/secret-path${"x".repeat(2_000)}` },
        "url must be text of at most 2000 characters",
      ],
      [{ secret: "mine" }, "Unknown field: secret"],
    ];
    for (const [more, sentence] of cases) {
      const answer = await call(world, "POST", "", { ...SIGNED, ...more });
      assert.deepEqual([answer.status, answer.json.error], [400, sentence]);
      assert.ok(!answer.text.includes("secret-path"));
    }
    const kinds = await call(world, "POST", "", { ...SIGNED, kinds: ["pod.exploded"] });
    assert.match(kinds.json.error, /^kinds must be a list of event kinds: pod.created, /);
    assert.equal(
      (await call(world, "PUT", `/${webhook.id}`, {})).json.error,
      "Send at least one of name, url, kinds, is_enabled, rotate_secret",
    );
    assert.equal((await call(world, "GET")).json.webhooks.length, 1);
  }));

Deno.test("an org has at most twenty webhooks", () =>
  withWorld(async (world) => {
    for (let n = 0; n < 20; n++) await add(world);
    const more = await call(world, "POST", "", SIGNED);
    assert.deepEqual([cellOf(more), more.json.error], [
      "409 conflict",
      "An organization has at most 20 webhooks; remove one first",
    ]);
    assert.equal(world.db.get<{ n: number }>("select count(*) as n from webhooks")!.n, 20);
  }));

Deno.test("a new secret takes the old one's place at once, and a Discord webhook has none", () =>
  withHook(async (world, receiver, id, old) => {
    const { secret } = (await call(world, "PUT", `/${id}`, { rotate_secret: true })).json;
    assert.notEqual(secret, old);
    receiver.received.length = 0;
    await call(world, "POST", `/${id}/test`);
    const [one] = receiver.received;
    const signed = `${one!.headers.get("x-orgpods-timestamp")}.${one!.body}`;
    assert.equal(one!.headers.get("x-orgpods-signature"), createHmac("sha256", secret).update(signed).digest("hex"));
    const discord = await add(world, {
      format: "discord",
      url: "https://discord.com/api/webhooks/123456789012345678/abcd",
    });
    assert.equal(discord.secret, null);
    const refused = await call(world, "PUT", `/${discord.webhook.id}`, { rotate_secret: true });
    assert.equal(refused.json.error, "rotate_secret is for webhooks of the format signed");
  }));

Deno.test("a test is sent at once, says what came of it, and counts neither as an event nor as a refusal", () =>
  withHook(async (world, receiver, id) => {
    const good = (await call(world, "POST", `/${id}/test`)).json.delivery;
    assert.deepEqual([good.state, good.kind, good.event_id, good.last_status], ["sent", "test", null, 204]);
    const body = JSON.parse(receiver.received[0]!.body);
    assert.deepEqual([body.id, body.kind, body.actor, body.org], [null, "test", "officer", "org"]);
    assert.equal(receiver.received[0]!.headers.get("x-orgpods-delivery"), good.delivery_id);
    receiver.answer(() => new Response(null, { status: 410 }));
    const bad = (await call(world, "POST", `/${id}/test`)).json.delivery;
    assert.deepEqual([bad.state, bad.last_status, bad.last_error], [
      "failed",
      410,
      "The receiver answered that the webhook is gone (410)",
    ]);
    assert.equal(world.db.get<{ refusals: number }>("select refusals from webhooks")!.refusals, 0);
    await turn(world);
    assert.equal(receiver.received.length, 2, "a failed test is not tried again");
    const resent = await call(world, "POST", `/${id}/deliveries/${bad.id}/resend`);
    assert.deepEqual([cellOf(resent), resent.json.error], [
      "409 conflict",
      "A test is not sent again; send a new one",
    ]);
  }));

Deno.test("at most thirty tests of a webhook are sent in an hour", () =>
  withHook(async (world, receiver, id) => {
    for (let n = 0; n < 30; n++) assert.equal((await call(world, "POST", `/${id}/test`)).status, 200);
    const more = await call(world, "POST", `/${id}/test`);
    assert.deepEqual([cellOf(more), more.headers.get("retry-after")], ["429 rate_limited", "60"]);
    assert.equal(receiver.received.length, 30);
    world.clock.advance(HOUR);
    assert.equal((await call(world, "POST", `/${id}/test`)).status, 200);
  }));

Deno.test("a test to an address that is not allowed any more fails with the reason", () =>
  withReceiver((receiver) =>
    withWorld(async (world) => {
      const { webhook } = await add(world);
      // As if it had been saved while the operator allowed it.
      const { createSecretBox } = await import("../../server/identity/secret_box.ts");
      const sealed = createSecretBox(world.config.secretKeys).seal(
        { orgId: 1, kind: "webhook", name: String(webhook.id) },
        `${receiver.origin}/x`,
      );
      world.db.run("update webhooks set url_ciphertext = ?", sealed);
      const { delivery } = (await call(world, "POST", `/${webhook.id}/test`)).json;
      assert.deepEqual([delivery.state, delivery.last_error], [
        "failed",
        `The host leads to a private, local or reserved address, which is refused without ${ALLOWING}`,
      ]);
      assert.equal(receiver.received.length, 0);
    })
  ));

Deno.test("a refused webhook is shown as off with the reason, and is switched on again by an officer", () =>
  withHook(async (world, receiver, id) => {
    receiver.answer(() => new Response(null, { status: 410 }));
    await world.call("PUT", "/api/compute/org/settings", { as, body: { pod_image: "a" } });
    for (let n = 0; n < 5; n++) {
      await turn(world);
      world.clock.advance(HOUR);
    }
    const off = (await call(world, "GET", `/${id}`)).json.webhook;
    assert.deepEqual([off.is_enabled, off.disabled_why, off.waiting, off.dropped_24h], [
      false,
      "The receiver answered that the webhook is gone (410), 5 times in a row",
      0,
      1,
    ]);
    const audit = (await world.call("GET", "/api/compute/org/audit", { as })).json.audit[0];
    assert.deepEqual([audit.actor_name, audit.outcome, audit.details.webhook_id], [
      "the webhook delivery",
      "switched_off",
      id,
    ]);
    const { deliveries } = (await call(world, "GET", `/${id}/deliveries`)).json;
    const resend = `/${id}/deliveries/${deliveries[0].id}/resend`;
    assert.equal((await call(world, "POST", resend)).json.error, "The webhook is switched off; switch it on first");
    const on = (await call(world, "PUT", `/${id}`, { is_enabled: true })).json.webhook;
    assert.deepEqual([on.is_enabled, on.disabled_at, on.disabled_why], [true, null, null]);
    receiver.answer(() => new Response(null, { status: 200 }));
    receiver.received.length = 0;
    const queued = (await call(world, "POST", resend)).json.delivery;
    assert.deepEqual([queued.state, queued.attempts, queued.delivery_id], ["waiting", 0, deliveries[0].delivery_id]);
    assert.equal((await call(world, "POST", resend)).json.error, "The delivery is waiting to be sent already");
    await turn(world);
    assert.equal(receiver.received[0]!.headers.get("x-orgpods-delivery"), deliveries[0].delivery_id);
    const sent = (await call(world, "GET", `/${id}/deliveries`)).json.deliveries.at(-1);
    assert.deepEqual([sent.state, sent.last_error], ["sent", null]);
    const again = await call(world, "POST", `/${id}/deliveries/999999/resend`);
    assert.equal(cellOf(again), "404 delivery_not_found");
  }));

Deno.test("switching a webhook off drops what waits for it", () =>
  withHook(async (world, receiver, id) => {
    await world.call("PUT", "/api/compute/org/settings", { as, body: { pod_image: "a" } });
    assert.equal((await call(world, "GET", `/${id}`)).json.webhook.waiting, 1);
    const off = (await call(world, "PUT", `/${id}`, { is_enabled: false })).json.webhook;
    assert.deepEqual([off.is_enabled, off.disabled_at, off.waiting, off.dropped_24h], [false, null, 0, 1]);
    world.clock.advance(DAY);
    assert.equal((await call(world, "GET", `/${id}`)).json.webhook.dropped_24h, 0);
    await turn(world);
    assert.equal(receiver.received.length, 0);
  }));

Deno.test("deliveries page backwards without gaps or doubles", () =>
  withHook(async (world, _receiver, id) => {
    for (let n = 0; n < 7; n++) {
      await world.call("PUT", "/api/compute/org/settings", { as, body: { pod_image: `i${n}` } });
    }
    const all = (await call(world, "GET", `/${id}/deliveries`)).json.deliveries;
    assert.equal(all.length, 7);
    const first = (await call(world, "GET", `/${id}/deliveries?limit=3`)).json.deliveries;
    const rest = (await call(world, "GET", `/${id}/deliveries?limit=500&before_id=${first.at(-1).id}`)).json.deliveries;
    assert.deepEqual([...first, ...rest], all);
    const bad = await call(world, "GET", `/${id}/deliveries?limit=501`);
    assert.equal(bad.json.error, "limit must be a whole number from 1 to 500");
  }));

Deno.test("each change of a webhook leaves one audit row and one event, by name and without secrets", () =>
  withHook(async (world, _receiver, id) => {
    const changes: [string, string, unknown, string | null][] = [
      ["PUT", `/${id}`, { name: "new" }, "changed"],
      ["PUT", `/${id}`, { is_enabled: false }, "switched off"],
      ["PUT", `/${id}`, { is_enabled: true }, "switched on"],
      ["POST", `/${id}/test`, undefined, null],
      ["DELETE", `/${id}`, undefined, "removed"],
    ];
    for (const [method, path, body, did] of changes) {
      const count = () => world.db.get<{ n: number }>("select count(*) as n from audit_log")!.n;
      const [rows, events] = [count(), (await world.call("GET", "/api/compute/org/events", { as })).json.events];
      assert.equal((await call(world, method, path, body)).status, 200);
      assert.equal(count(), rows + 1, `${method} ${path}`);
      const after = (await world.call("GET", "/api/compute/org/events", { as })).json.events;
      assert.equal(after.length, events.length + (did === null ? 0 : 1), `${method} ${path}`);
      if (did === null) continue;
      assert.deepEqual([after[0].kind, after[0].actor, after[0].details], [
        "settings.changed",
        "officer",
        { changed: ["webhooks"], webhook: "new", did },
      ]);
    }
  }));

Deno.test("the running server sends by itself, and forgets old events, old deliveries and cut-off tests", () =>
  withHook(async (world, receiver, id) => {
    const now = world.clock.now();
    const event = (age: number) =>
      world.db.get<{ id: number }>(
        "insert into events (org_id, kind, created_at) values (1, 'pod.started', ?) returning id",
        now - age,
      )!.id;
    const delivery = (eventId: number | null, state: string, age: number) =>
      world.db.get<{ id: number }>(
        "insert into webhook_deliveries (webhook_id, event_id, state, created_at, next_at, settled_at) " +
          "values (?, ?, ?, ?, 0, ?) returning id",
        id,
        eventId,
        state,
        now - age,
        state === "waiting" ? null : now - age,
      )!.id;
    const [oldEvent, youngEvent] = [event(366 * DAY), event(364 * DAY)];
    const old = delivery(youngEvent, "sent", 31 * DAY);
    const young = delivery(youngEvent, "failed", 29 * DAY);
    const cutOff = delivery(null, "waiting", HOUR);
    await world.call("PUT", "/api/compute/org/settings", { as, body: { pod_image: "a" } });
    world.app.run();
    await eventually(() => receiver.received.length === 1, "the event is sent");
    await eventually(() => world.db.get("select 1 from events where id = ?", oldEvent) === undefined, "pruned");
    const left = new Set(
      world.db.all<{ id: number }>("select id from webhook_deliveries where webhook_id = ?", id).map((row) => row.id),
    );
    assert.deepEqual([old, young].map((one) => left.has(one)), [false, true]);
    assert.ok(world.db.get("select 1 from events where id = ?", youngEvent));
    const test = (await call(world, "GET", `/${id}/deliveries`)).json.deliveries.find((one: { id: number }) =>
      one.id === cutOff
    );
    assert.deepEqual([test.state, test.last_error], ["failed", "The server stopped before the answer came"]);
  }));
