/** When a delivery is made: order, waits, limits, crashes and closing. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { updateWebhook } from "../../db/stores/webhooks.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../server/clock.ts";
import { raise } from "../../server/events/raise.ts";
import { MAX_TRIES } from "../../server/webhooks/backoff.ts";
import { createPost, type Post, Stopped } from "../../server/webhooks/post.ts";
import { eventually } from "../support/world.ts";
import { HANG, statesOf, status, withKit, withReceiver } from "./support.ts";

Deno.test("a delivery of the format signed carries the event and a signature that its secret explains", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      const { id, secret } = kit.add(`${receiver.origin}/hook?x=1`);
      kit.raise("pod.started", { details: { did: "restarted" } });
      await kit.turn();
      const [one] = receiver.received;
      assert.ok(one !== undefined);
      assert.deepEqual(JSON.parse(one.body), {
        id: 2,
        kind: "pod.started",
        created_at: "2026-11-30T12:00:00+00:00",
        org: "org",
        pod_id: "k7x2m9",
        subject: "lab-1",
        actor: "Ada",
        details: { did: "restarted" },
      });
      const header = (name: string) => one.headers.get(name);
      assert.equal(one.path, "/hook?x=1");
      assert.equal(header("content-type"), "application/json");
      assert.equal(header("user-agent"), "orgpods/0.0.0-test");
      assert.equal(header("x-orgpods-event"), "pod.started");
      assert.match(header("x-orgpods-delivery")!, /^\d+-[0-9a-z]+$/);
      assert.equal(header("x-orgpods-timestamp"), String(kit.clock.now() / 1_000));
      assert.match(secret!, /^whsec_[A-Za-z0-9_-]{43}$/);
      const signed = `${header("x-orgpods-timestamp")}.${one.body}`;
      assert.equal(header("x-orgpods-signature"), createHmac("sha256", secret!).update(signed).digest("hex"));
      const [row] = kit.deliveries(id);
      assert.deepEqual([row!.state, row!.attempts, row!.last_status, row!.settled_at], [
        "sent",
        1,
        204,
        kit.clock.now(),
      ]);
      assert.equal(kit.hook(id).last_sent_at, kit.clock.now());
      await kit.turn();
      assert.equal(receiver.received.length, 1, "it is sent once");
    })
  ));

Deno.test("an event and its deliveries are kept with the change, or none of it is", () =>
  withKit(async (kit) => {
    const { id } = kit.add("https://hooks.example.org/x");
    assert.throws(() =>
      kit.db.tx(() => {
        kit.raise();
        assert.equal(kit.deliveries(id).length, 1);
        throw new Error("the change fails");
      }), /the change fails/);
    assert.deepEqual(kit.deliveries(id), []);
    assert.equal(kit.db.get("select 1 from events where kind = 'pod.started'"), undefined);
    await Promise.resolve();
  }));

Deno.test("an event with a key goes out once, however often it is raised", () =>
  withKit(async (kit) => {
    const { id } = kit.add("https://hooks.example.org/x");
    const event = { orgId: kit.org.id, kind: "budget.warning", onceKey: "2026-11" } as const;
    assert.deepEqual([raise(kit.db, event, 1), raise(kit.db, event, 2)], [true, false]);
    assert.equal(kit.deliveries(id).length, 1);
    await Promise.resolve();
  }));

Deno.test("a webhook gets the kinds it names, all when it names none, and nothing while it is off", () =>
  withKit(async (kit) => {
    const some = kit.add("https://hooks.example.org/x", { kinds: ["pod.stopped", "budget.warning"] }).id;
    const all = kit.add("https://hooks.example.org/y").id;
    const off = kit.add("https://hooks.example.org/z").id;
    updateWebhook(kit.db, off, { is_enabled: 0 });
    const refused = kit.add("https://hooks.example.org/z").id;
    updateWebhook(kit.db, refused, { disabled_at: 1, disabled_why: "x" });
    for (const kind of ["pod.started", "pod.stopped", "budget.warning"] as const) kit.raise(kind);
    assert.deepEqual([some, all, off, refused].map((id) => kit.deliveries(id).length), [2, 3, 0, 0]);
    await Promise.resolve();
  }));

Deno.test("a failed delivery is tried again after growing waits, with one delivery id, and given up after a day", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      const { id } = kit.add(receiver.origin);
      receiver.answer(status(500));
      kit.raise();
      const begun = kit.clock.now();
      await kit.turn();
      const [first] = kit.deliveries(id);
      assert.deepEqual(
        [first!.state, first!.attempts, first!.last_status, first!.last_error, first!.next_at - begun],
        ["waiting", 1, 500, "The receiver answered 500", 10 * SECOND],
      );
      kit.clock.advance(9 * SECOND);
      await kit.turn();
      assert.equal(receiver.received.length, 1, "not before its time");
      kit.clock.advance(SECOND);
      await kit.turn();
      assert.equal(receiver.received.length, 2);
      while (kit.deliveries(id)[0]!.state === "waiting") {
        kit.clock.advance(MINUTE);
        await kit.turn();
      }
      const [last] = kit.deliveries(id);
      assert.deepEqual([last!.state, last!.attempts, last!.last_error], [
        "failed",
        MAX_TRIES,
        "The receiver answered 500",
      ]);
      assert.ok(Math.abs(kit.clock.now() - begun - DAY) < 2 * HOUR, `${(kit.clock.now() - begun) / HOUR} h`);
      const of = (name: string) => new Set(receiver.received.map((one) => one.headers.get(name)));
      assert.equal(of("x-orgpods-delivery").size, 1);
      assert.equal(of("x-orgpods-timestamp").size, MAX_TRIES, "the signature is of the try");
      assert.equal(kit.hook(id).last_error, "The receiver answered 500");
      assert.equal(kit.hook(id).disabled_at, null, "answers of 500 are no refusals");
    })
  ));

Deno.test("the next delivery of a webhook waits for the one before, and order is kept", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      const { id } = kit.add(receiver.origin);
      receiver.answer(status(503));
      for (const subject of ["a", "b", "c"]) kit.raise("pod.started", { subject });
      await kit.turn();
      const subjects = () => receiver.received.map((one) => JSON.parse(one.body).subject).join("");
      assert.equal(subjects(), "a");
      receiver.answer(status(200));
      kit.clock.advance(10 * SECOND);
      await kit.turn();
      assert.equal(subjects(), "aabc");
      assert.deepEqual(statesOf(kit, id), ["sent", "sent", "sent"]);
    })
  ));

Deno.test("a message that a receiver never takes holds up the later ones only for its first five tries", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      const { id } = kit.add(receiver.origin);
      const calls: string[] = [];
      receiver.answer(({ body }) => {
        const { subject } = JSON.parse(body);
        calls.push(subject);
        return new Response(null, { status: subject === "bad" ? 500 : 200 });
      });
      for (const subject of ["bad", "b", "c"]) kit.raise("pod.started", { subject });
      const begun = kit.clock.now();
      let before = 0;
      while (statesOf(kit, id)[1] === "waiting") {
        before = calls.length;
        await kit.turn();
        kit.clock.advance(5 * SECOND);
      }
      assert.deepEqual(calls, ["bad", "bad", "bad", "bad", "bad", "b", "c"]);
      assert.deepEqual(calls.slice(before), ["bad", "b", "c"], "in one turn");
      assert.ok(kit.clock.now() - begun < 15 * MINUTE, `${(kit.clock.now() - begun) / MINUTE} minutes`);
      // It goes on for itself: later ones pass it at once, and it is tried in its time.
      kit.raise("pod.started", { subject: "d" });
      await kit.turn();
      assert.deepEqual(calls.splice(0).slice(7), ["d"]);
      kit.clock.advance(HOUR);
      kit.raise("pod.started", { subject: "e" });
      await kit.turn();
      assert.deepEqual(calls, ["e", "bad"]);
      receiver.answer(status(200));
      kit.clock.advance(HOUR);
      await kit.turn();
      assert.deepEqual(statesOf(kit, id), Array(5).fill("sent"));
    })
  ));

Deno.test("of a receiver that is down each message is tried in turn, and all go when it is back", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      const { id } = kit.add(receiver.origin);
      receiver.answer(status(503));
      for (const subject of ["a", "b", "c"]) kit.raise("pod.started", { subject });
      for (let passed = 0; passed < 30 * MINUTE; passed += 10 * SECOND) {
        await kit.turn();
        kit.clock.advance(10 * SECOND);
      }
      assert.deepEqual(kit.deliveries(id).map((one) => one.attempts >= 5), [true, true, false]);
      receiver.answer(status(200));
      kit.clock.advance(HOUR);
      await kit.turn();
      assert.deepEqual(statesOf(kit, id), ["sent", "sent", "sent"]);
    })
  ));

Deno.test("a webhook that hangs holds up neither another one nor the turn", () =>
  withReceiver((hanging) =>
    withReceiver((quick) =>
      withKit(async (kit) => {
        hanging.answer(HANG);
        const slow = kit.add(hanging.origin).id;
        const other = kit.add(quick.origin).id;
        kit.raise();
        kit.deliverer.turn();
        await eventually(() => hanging.received.length === 1 && quick.received.length === 1, "both are called");
        await eventually(() => statesOf(kit, other)[0] === "sent", "the quick one is settled");
        kit.clock.advance(MINUTE);
        kit.raise();
        kit.deliverer.turn();
        await eventually(() => quick.received.length === 2, "the quick one goes on");
        assert.equal(hanging.received.length, 1, "the hanging one is not called twice at a time");
        assert.deepEqual(statesOf(kit, slow), ["waiting", "waiting"]);
      })
    )
  ));

Deno.test("at most thirty events of a kind go to a webhook in an hour; the rest is dropped and says so", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      const { id } = kit.add(receiver.origin);
      for (let n = 0; n < 33; n++) kit.raise("pod.started");
      kit.raise("pod.stopped");
      await kit.turn();
      assert.equal(receiver.received.length, 31);
      assert.equal(
        JSON.parse(receiver.received.at(-1)!.body).kind,
        "pod.stopped",
        "another kind has a share of its own",
      );
      const dropped = kit.deliveries(id).filter((one) => one.state === "dropped");
      assert.deepEqual(
        dropped.map((one) => one.last_error),
        Array(3).fill("More than 30 events of this kind in an hour"),
      );
      kit.clock.advance(HOUR);
      kit.raise("pod.started");
      await kit.turn();
      assert.equal(receiver.received.length, 32);
    })
  ));

Deno.test("a delivery that the program died over is sent again with its delivery id", () =>
  withReceiver(async (receiver) => {
    /** The program ends before it can store what came of the call. */
    const dies = (stop: AbortSignal): ReturnType<Post> =>
      new Promise((_resolve, reject) => stop.addEventListener("abort", () => reject(new Stopped())));
    await withKit(async (kit) => {
      const { id } = kit.add(receiver.origin);
      kit.raise();
      const inner = createPost({ resolve: () => Promise.resolve(["127.0.0.1"]), allowPrivate: true });
      const dying = kit.restarted(async (request, stop) => {
        await inner(request, stop);
        return await dies(stop);
      });
      dying.turn();
      await eventually(() => receiver.received.length === 1, "it is sent");
      assert.equal(kit.deliveries(id)[0]!.state, "waiting");
      const next = kit.restarted();
      kit.clock.advance(MINUTE);
      next.turn();
      await next.idle();
      const ids = receiver.received.map((one) => one.headers.get("x-orgpods-delivery"));
      assert.equal(ids.length, 2);
      assert.equal(ids[0], ids[1]);
      assert.equal(kit.deliveries(id)[0]!.state, "sent");
    });
  }));

Deno.test("close gives up a call under way and leaves its delivery to be sent after the next start", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      receiver.answer(HANG);
      const { id } = kit.add(receiver.origin);
      kit.raise();
      kit.deliverer.turn();
      await eventually(() => receiver.received.length === 1, "it is called");
      await kit.deliverer.close();
      const [row] = kit.deliveries(id);
      assert.deepEqual([row!.state, row!.attempts], ["waiting", 0]);
      kit.deliverer.turn();
      await kit.deliverer.idle();
      assert.equal(receiver.received.length, 1, "a closed one starts nothing");
    })
  ));

Deno.test("a call is not made when the disk does not take the note of it, and made once when it does again", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      const { id } = kit.add(receiver.origin);
      kit.raise();
      kit.db.run(
        "create trigger full before update on webhook_deliveries begin select raise(abort, 'disk is full'); end",
      );
      await kit.turn();
      await kit.turn();
      assert.equal(receiver.received.length, 0);
      assert.match(kit.logLines.join(), /disk is full/);
      kit.db.run("drop trigger full");
      await kit.turn();
      assert.deepEqual([receiver.received.length, statesOf(kit, id)], [1, ["sent"]]);
    })
  ));

Deno.test("a webhook whose secrets cannot be decrypted fails with the reason, and waits its time", () =>
  withKit(async (kit) => {
    const { id } = kit.add("https://hooks.example.org/x");
    kit.db.run("update webhooks set url_ciphertext = secret_ciphertext");
    kit.raise();
    await kit.turn();
    await kit.turn();
    const [row] = kit.deliveries(id);
    assert.equal(row!.last_error, "SECRETS_KEY cannot decrypt this organization's secrets");
    assert.equal(row!.attempts, 1);
  }));

Deno.test("what is sent while a webhook is removed or switched off does no harm", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      const answers: (() => void)[] = [];
      receiver.answer(() => new Promise((resolve) => answers.push(() => resolve(new Response(null, { status: 500 })))));
      const gone = kit.add(receiver.origin).id;
      const off = kit.add(receiver.origin).id;
      kit.raise();
      kit.deliverer.turn();
      await eventually(() => answers.length === 2, "both are called");
      kit.db.run("delete from webhooks where id = ?", gone);
      kit.db.run("update webhook_deliveries set state = 'dropped', settled_at = 1 where webhook_id = ?", off);
      for (const answer of answers) answer();
      await kit.deliverer.idle();
      assert.deepEqual(statesOf(kit, off), ["dropped"]);
      assert.deepEqual(kit.logLines, []);
    })
  ));
