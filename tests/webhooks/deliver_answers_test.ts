/** What each answer of a receiver, or none, makes of a delivery and of its webhook. */
import assert from "node:assert/strict";
import { HOUR, MINUTE, SECOND } from "../../server/clock.ts";
import { HANG, statesOf, status, withKit, withReceiver } from "./support.ts";

Deno.test("a call that never ends is a failure that says so", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      receiver.answer(HANG);
      const { id } = kit.add(receiver.origin);
      kit.raise();
      await kit.turn();
      const [row] = kit.deliveries(id);
      assert.deepEqual([row!.state, row!.last_status, row!.last_error], [
        "waiting",
        null,
        "There was no answer within 0.1 seconds",
      ]);
    }, { limitMs: 100 })
  ));

const ANSWERS: [number, string, string][] = [
  [301, "waiting", "The receiver answered with a redirect (301), which is not followed: give the final address"],
  [307, "waiting", "The receiver answered with a redirect (307), which is not followed: give the final address"],
  [400, "failed", "The receiver does not take this message (400)"],
  [401, "waiting", "The receiver answered 401"],
  [404, "waiting", "The receiver answered 404"],
  [410, "waiting", "The receiver answered that the webhook is gone (410)"],
  [413, "failed", "The receiver does not take this message (413)"],
  [422, "failed", "The receiver does not take this message (422)"],
  [429, "waiting", "The receiver asks for fewer messages (429)"],
];
for (const [code, state, sentence] of ANSWERS) {
  Deno.test(`a delivery that is answered with ${code} is ${state} and says why`, () =>
    withReceiver((receiver) =>
      withKit(async (kit) => {
        receiver.answer(status(code, { location: "http://127.0.0.1:1/inside" }));
        const { id } = kit.add(receiver.origin);
        kit.raise();
        await kit.turn();
        const [row] = kit.deliveries(id);
        assert.deepEqual([row!.state, row!.last_status, row!.last_error], [state, code, sentence]);
      })
    ));
}

Deno.test("Retry-After of a 429 is honoured in seconds, fractions and as a date", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      const { id } = kit.add(receiver.origin);
      const date = new Date(kit.clock.now() + 90 * SECOND).toUTCString();
      for (
        const [value, wait] of [["60", 60_000], ["64.57", 64_570], [date, 90_000], ["soon", 10_000], ["1", 10_000]]
      ) {
        receiver.answer(status(429, { "retry-after": String(value) }));
        kit.db.run("delete from webhook_deliveries");
        kit.raise();
        await kit.turn();
        assert.equal(kit.deliveries(id)[0]!.next_at - kit.clock.now(), wait, String(value));
      }
    })
  ));

Deno.test("a receiver that is gone is switched off after five refusals in a row; what waits is dropped, and it is told", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      receiver.answer(status(410));
      const { id } = kit.add(receiver.origin);
      const other = kit.add("https://hooks.example.org/x", { kinds: ["settings.changed"] }).id;
      kit.raise();
      kit.raise();
      for (let n = 1; n <= 5; n++) {
        assert.equal(kit.hook(id).disabled_at, null, `after ${n - 1}`);
        await kit.turn();
        kit.clock.advance(11 * MINUTE);
      }
      const hook = kit.hook(id);
      const why = "The receiver answered that the webhook is gone (410), 5 times in a row";
      assert.deepEqual([hook.disabled_why, hook.refusals, hook.is_enabled], [why, 5, 1]);
      assert.deepEqual(statesOf(kit, id), ["dropped", "dropped"]);
      assert.equal(kit.deliveries(id)[1]!.last_error, `The webhook was switched off: ${why}`);
      const audit = kit.db.get<{ details: string }>("select * from audit_log where outcome = 'switched_off'")!;
      assert.deepEqual(JSON.parse(audit.details), { webhook_id: id, name: "alerts", why, dropped: 2 });
      assert.equal(kit.deliveries(other).length, 1, "other webhooks hear of it");
      kit.raise();
      await kit.turn();
      assert.equal(receiver.received.length, 5);
      assert.equal(kit.deliveries(id).length, 2, "nothing is queued for it any more");
    })
  ));

Deno.test("a success between refusals starts the count anew", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      const { id } = kit.add(receiver.origin);
      for (const code of [410, 410, 410, 410, 200, 410, 410, 410, 410]) {
        receiver.answer(status(code));
        kit.raise();
        await kit.turn();
        kit.clock.advance(HOUR);
      }
      assert.deepEqual([kit.hook(id).refusals, kit.hook(id).disabled_at], [4, null]);
    })
  ));
