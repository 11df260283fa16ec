import assert from "node:assert/strict";
import type { FakeAdmin, FakeAdminOptions } from "../support/fake_admin.ts";
import { withAdmin } from "../support/fake_admin.ts";
import { createWorld, eventually, testClock, type World } from "../support/world.ts";
import { type Receiver, withReceiver } from "../webhooks/support.ts";
import { insertEvent } from "../../db/stores/events.ts";
import { insertWebhook } from "../../db/stores/webhooks.ts";
import { raise } from "../../server/events/raise.ts";
import { refusal, run, sentence, type TestWorld } from "./support.ts";

const HOOKS = "/api/compute/org/webhooks";
const HOSTILE = "evil\x1b[2J\u202e\u0007界界界\u{1f468}\u200d\u{1f469}";

/** A world whose webhooks may lead to loopback, with a receiver there. */
async function withHooks(
  options: FakeAdminOptions,
  use: (admin: FakeAdmin, world: TestWorld, receiver: Receiver) => Promise<void>,
): Promise<void> {
  await withReceiver(async (receiver) => {
    const env = { ORGPODS_WEBHOOKS_ALLOW_PRIVATE: "true" };
    const world = await createWorld({ clock: testClock(), env }) as TestWorld;
    try {
      await withAdmin(world, options, (admin) => use(admin, world, receiver));
    } finally {
      await world.close();
    }
  });
}

// deno-lint-ignore no-explicit-any
async function hooksNow(world: World): Promise<any[]> {
  return (await world.call("GET", HOOKS, { as: "officer" })).json.webhooks;
}

async function addSigned(world: World, receiver: Receiver, name = "grading"): Promise<number> {
  const body = { name, format: "signed", url: `${receiver.origin}/in`, kinds: ["pod.started"] };
  return (await world.call("POST", HOOKS, { as: "officer", body })).json.webhook.id;
}

/** Queues a real event for the webhooks, as the pods do. */
function happen(world: TestWorld): void {
  raise(world.db, { orgId: 1, kind: "pod.started", subject: "workshop", runpodId: "abc123xyz" }, world.clock.now());
}

Deno.test("webhooks adds one of each format; the address is never drawn, the secret once", async () => {
  await withHooks({}, async (admin, world, receiver) => {
    const discord = "https://discord.com/api/webhooks/123456789012345678/very-secret-token";
    await run(admin, "webhooks", "There is no webhook; n adds one.");
    await admin.press("a");
    await admin.until("[ Add the webhook ]");
    await admin.press("ctrl-s");
    await admin.until("! Name must be text of 1 to 80 characters");
    await admin.type("announcements");
    await admin.press("tab", "tab");
    await admin.paste("https://example.org/hook");
    await admin.press("tab", "space");
    await admin.until("only those below");
    await admin.press("ctrl-s");
    await admin.until(sentence("! Choose at least one kind, or all events"));
    await admin.press("tab", "space", "tab", "tab", "space", "ctrl-s");
    await admin.until(sentence("! Address must be a Discord webhook: https://discord.com/api/webhooks/<id>/<token>"));
    assert(!admin.text().includes("example.org"));
    for (let at = 0; at < 9 && !/^> Address/m.test(admin.text()); at++) await admin.press("up");
    assert.match(admin.text(), /Name +announcements/);
    await admin.press("ctrl-u");
    await admin.paste(discord);
    assert(!admin.text().includes("very-secret"));
    await admin.press("ctrl-s");
    await admin.until("announcements is added");
    const [first] = await hooksNow(world);
    assert.deepEqual(first.kinds, ["pod.created", "pod.stopped"]);
    assert.equal(first.format, "discord");
    await admin.until("discord.com …oken");

    await admin.press("a");
    await admin.until("[ Add the webhook ]");
    await admin.type("grading");
    await admin.press("tab", "right", "tab");
    await admin.until(sentence("The https address of your program."));
    await admin.paste(`${receiver.origin}/in`);
    await admin.press("ctrl-s");
    const shown = await admin.until(/whsec_\S+/);
    assert.match(shown, sentence("it is not shown again"));
    const secret = /whsec_\S+/.exec(shown)![0];
    await admin.press("esc");
    await admin.until("Webhooks 2");
    assert(!admin.text().includes(secret));
    assert.deepEqual((await hooksNow(world)).map(({ format }) => format).sort(), ["discord", "signed"]);
  });
});

Deno.test("webhooks tests one: what the receiver got, and the reason when it failed", async () => {
  await withHooks({ columns: 100 }, async (admin, world, receiver) => {
    await addSigned(world, receiver);
    await run(admin, "webhooks", /^> grading +● on +never/m);
    await admin.press("t");
    await admin.until("The test was sent to grading (status 204)");
    assert.equal(receiver.received.length, 1);
    assert.equal(JSON.parse(receiver.received[0]!.body).kind, "test");
    await admin.until(/^> grading +● on +now/m);
    receiver.answer(() => new Response("no", { status: 500 }));
    await admin.press("t");
    await admin.until("! The test of grading failed:");
    await admin.until(/Last error +13:00: .*500/);
    assert.match((await hooksNow(world))[0].last_error, /500/);
  });
});

Deno.test("webhooks changes name, events and secret, switches off and on, and deletes after a question", async () => {
  await withHooks({ columns: 100 }, async (admin, world, receiver) => {
    const id = await addSigned(world, receiver);
    await run(admin, "webhooks", /^> grading/m);
    await admin.press("e");
    await admin.until("New address");
    await admin.press("ctrl-u");
    await admin.type("marks");
    await admin.press("tab", "tab", "tab", "space", "tab", "space", "ctrl-s");
    await admin.until("The webhook marks is changed");
    await admin.until(/Events +pod\.created$/m);
    await admin.press("t");
    await admin.until("The test was sent to marks");
    await admin.press("N");
    await admin.until(sentence("The old secret ends at once"));
    await admin.press("y");
    await admin.until(/whsec_\S+/);
    await admin.press("esc", "x");
    await admin.until(sentence("those of the meantime are not sent later"));
    await admin.press("n");
    assert.equal((await hooksNow(world))[0].is_enabled, true);
    await admin.press("x", "y");
    await admin.until("○ off");
    assert.equal((await hooksNow(world))[0].is_enabled, false);
    assert(!admin.offered().includes("x off"));
    await admin.press("s");
    await admin.until("● on");
    assert.equal((await hooksNow(world))[0].is_enabled, true);
    await admin.press("D", "n");
    assert.equal((await hooksNow(world)).length, 1);
    await admin.press("D");
    await admin.until(sentence("the list of what was sent to it goes, too"));
    await admin.press("y");
    await admin.until("The webhook marks is deleted");
    await admin.until("There is no webhook; n adds one.");
    assert.deepEqual(await hooksNow(world), []);
    assert.equal((await world.call("GET", `${HOOKS}/${id}`, { as: "officer" })).status, 404);
  });
});

Deno.test("a key that opens a form is pressed twice, and opens it once", async () => {
  await withHooks({ columns: 100 }, async (admin, world, receiver) => {
    await addSigned(world, receiver);
    await run(admin, "webhooks", /^> grading/m);
    await admin.type("ee");
    await admin.until("New address");
    await admin.press("esc");
    await admin.untilGone("New address");
    await admin.until(/^> grading/m);
  });
});

Deno.test("webhooks lists what was sent, with details, and sends one again", async () => {
  await withHooks({ columns: 100 }, async (admin, world, receiver) => {
    const id = await addSigned(world, receiver);
    receiver.answer(() => new Response(null, { status: 400 }));
    happen(world);
    await run(admin, "webhooks", /^> grading/m);
    await admin.press("enter");
    await admin.until("Deliveries to grading 1");
    await admin.until(/^> .*pod\.started/m);
    const stateNow = async () =>
      (await world.call("GET", `${HOOKS}/${id}/deliveries`, { as: "officer" })).json.deliveries[0];
    world.app.jobs.webhooks.turn();
    await eventually(async () => (await stateNow()).state !== "waiting", "it was tried");
    await admin.press("ctrl-r");
    await admin.until("! failed");
    await admin.press("enter");
    const details = await admin.until(/Status +400/);
    assert.match(details, /Delivery id +\S+/);
    await admin.press("esc");
    receiver.answer(() => new Response(null, { status: 204 }));
    await admin.press("r");
    await admin.until("pod.started is being sent again");
    await eventually(async () => (await stateNow()).state === "sent", "it was sent");
    await admin.press("ctrl-r");
    await admin.until(/^> .*pod\.started +sent/m);
    assert.equal(receiver.received.length, 2);
    await admin.press("esc", "t");
    await admin.until("The test was sent");
    await admin.press("enter");
    await admin.until("Deliveries to grading 2");
    await admin.until(/^> .*test +sent/m);
    assert(!admin.offered().includes("r send again"));
  });
});

Deno.test("webhooks says the server's sentence: one that is gone, tests past the limit, more than twenty", async () => {
  let answer: Response | null = null;
  const intercept = (request: Request) => request.method === "POST" ? answer?.clone() ?? null : null;
  await withHooks({ intercept }, async (admin, world, receiver) => {
    const id = await addSigned(world, receiver);
    await run(admin, "webhooks", /^> grading/m);
    answer = refusal(409, "An organization has at most 20 webhooks; remove one first", "conflict");
    await admin.press("a");
    await admin.until("[ Add the webhook ]");
    await admin.type("one more");
    await admin.press("tab", "right", "tab");
    await admin.paste("https://example.org/in");
    await admin.press("ctrl-s");
    await admin.until(sentence("! An organization has at most 20 webhooks; remove one first"));
    assert.match(admin.text(), /one more/);
    await admin.press("esc", "y");
    answer = refusal(503, "The server is busy", "internal_error");
    await admin.press("t");
    await admin.until("! The server is busy");
    answer = null;
    await world.call("DELETE", `${HOOKS}/${id}`, { as: "officer" });
    await admin.press("e");
    await admin.until("New address");
    await admin.press("ctrl-s");
    await admin.until("! Webhook not found");
    await admin.press("esc", "ctrl-r");
    await admin.until("There is no webhook; n adds one.");
  });
});

Deno.test("webhooks shows odd names and errors harmless, and one that refusals switched off, in any window", async () => {
  await withHooks({ columns: 200, rows: 50 }, async (admin, world) => {
    for (let at = 0; at < 20; at++) {
      const by = { orgId: 1, format: "signed", urlHint: HOSTILE, kinds: [], by: HOSTILE } as const;
      const id = insertWebhook(world.db, { ...by, name: `${HOSTILE}${at}` }, world.clock.now());
      world.db.run(
        "update webhooks set last_error = ?, last_error_at = ?, disabled_at = ?, disabled_why = ? where id = ?",
        HOSTILE,
        world.clock.now(),
        world.clock.now(),
        `10 refusals in a row ${HOSTILE}`,
        id,
      );
    }
    insertEvent(world.db, { orgId: 1, kind: "pod.started" }, world.clock.now());
    await run(admin, "webhooks", "Webhooks 20");
    await admin.until("! off by refusals");
    await admin.until(/Switched off +13:00: 10 refusals/);
    for (const [columns, rows] of [[40, 12], [1, 1], [61, 17], [200, 50]] as const) await admin.resize(columns, rows);
    await admin.press("G", "enter");
    await admin.until("Nothing was sent to it yet.");
    await admin.resize(40, 12);
    await run(admin, "settings", "Compute");
    await admin.press("/");
    await admin.type("Webhooks");
    await admin.press("enter");
    await admin.until(/20, ! 20 switched/);
  });
});
