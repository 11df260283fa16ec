import assert from "node:assert/strict";
import { GUILD, OFFICER_ROLE } from "../../server/demo/people.ts";
import { type Bench, withBench, withOrg } from "../commands/bench.ts";
import { untilTrue } from "../support/server_process.ts";
import { withReceiver } from "./support.ts";

const DISCORD = "https://discord.com/api/webhooks/123456789012345678/token-abcd";

const json = async (bench: Bench, ...args: string[]) => JSON.parse(await bench.must([...args, "--json"]));

Deno.test("webhook add reads the address from standard input, and the other commands do what they say", () =>
  withOrg(async (bench) => {
    const id = await bench.must(["webhook", "add", "--name", "board", "--format", "discord"], `${DISCORD}\n`);
    assert.match(id, /^\d+$/);
    const signed = await bench.must(
      ["webhook", "add", "--name", "ours", "--format", "signed", "--kind", "pod.started", "--kind", "pod.stopped"],
      "https://hooks.example.org/wxyz",
    );
    const [, other] = /^Id +(\d+)\nSecret +whsec_[A-Za-z0-9_-]{43}$/.exec(signed)!;
    const list = await bench.must(["webhook", "list"]);
    assert.match(list, new RegExp(`^${id} +board +discord +discord\\.com …abcd +all +on +`, "m"));
    assert.match(
      list,
      new RegExp(`^${other} +ours +signed +hooks\\.example\\.org …wxyz +pod\\.started, pod\\.stopped +on +`, "m"),
    );
    assert(!list.includes("token-"));
    assert.match(await bench.must(["webhook", "edit", other!, "--rotate-secret"]), /^Secret +whsec_/m);
    await bench.must(["webhook", "edit", other!, "--name", "new", "--all-kinds", "--disable"]);
    await bench.must(["webhook", "edit", other!, "--url"], "https://other.example.org/1234");
    const edited = (await json(bench, "webhook", "list")).webhooks[1];
    assert.deepEqual([edited.name, edited.kinds, edited.is_enabled, edited.url_hint], [
      "new",
      [],
      false,
      "other.example.org …1234",
    ]);
    assert.equal(await bench.must(["webhook", "remove", id]), id);
    const mistakes: [string[], number][] = [
      [["webhook", "edit", other!], 2],
      [["webhook", "edit", other!, "--kind", "pod.exploded"], 2],
      [["webhook", "edit", other!, "--kind", "pod.started", "--all-kinds"], 2],
      [["webhook", "test", id], 3],
      [["webhook", "resend", other!, "1"], 3],
      [["event", "list", "--kind", "pod.exploded"], 2],
    ];
    const empty = await bench.orgpods(["webhook", "add", "--name", "x", "--format", "signed"], { input: "\n" });
    assert.deepEqual([empty.code, empty.stderr], [
      2,
      "error: The webhook's address is missing on standard input; send it from a file: < address.txt\n",
    ]);
    for (const [args, code] of mistakes) assert.equal((await bench.orgpods(args)).code, code, args.join(" "));
    const events = await bench.must(["event", "list", "--kind", "settings.changed"]);
    assert.match(events, /^ID +AT +KIND +WHAT +POD +BY +DETAILS$/m);
    assert.match(
      events,
      /settings\.changed +- +- +the server's operator +changed: webhooks; webhook: board; did: removed$/m,
    );
  }));

Deno.test("webhook test, deliveries and resend speak to a receiver inside only where the operator allows it", () =>
  withReceiver((receiver) =>
    withBench(async (bench) => {
      const add = ["webhook", "add", "--name", "ours", "--format", "signed"];
      await bench.must(["org", "add", "demo", "--name", "Demo", "--guild", GUILD, "--officer-role", OFFICER_ROLE]);
      const refused = await bench.orgpods(add, { input: receiver.origin });
      assert.equal(refused.code, 2);
      assert.match(
        refused.stderr,
        /^error: url must be an https address; plain http is for loopback, with ORGPODS_WEBHOOKS_ALLOW_PRIVATE=true$/m,
      );
      assert(!refused.stderr.includes(receiver.origin));

      bench.env.ORGPODS_WEBHOOKS_ALLOW_PRIVATE = "true";
      await bench.serve();
      const [, id = ""] = /^Id +(\d+)$/m.exec(await bench.must(add, receiver.origin))!;
      assert.equal(await bench.must(["webhook", "test", id]), "sent");
      receiver.answer(() => new Response(null, { status: 422 }));
      const failed = await bench.orgpods(["webhook", "test", id]);
      assert.deepEqual([failed.code, failed.stdout], [6, "failed\n"]);
      assert.match(failed.stderr, /^error: The receiver does not take this message \(422\)$/m);

      receiver.answer(() => new Response(null, { status: 204 }));
      receiver.received.length = 0;
      await bench.must(["org", "set", "demo", "--name", "New"]);
      const [arrived] = await untilTrue("the event arrives by itself", () => {
        const found = receiver.received.filter((one) => one.body.includes('"changed":["name"]'));
        return Promise.resolve(found.length > 0 && found);
      });
      const sent = await untilTrue("it is settled", async () => {
        const { deliveries } = await json(bench, "webhook", "deliveries", id, "--limit", "5");
        return deliveries.find((one: { delivery_id: string; state: string }) =>
          one.delivery_id === arrived!.headers.get("x-orgpods-delivery") && one.state === "sent"
        );
      });
      const text = await bench.must(["webhook", "deliveries", id]);
      assert.match(text, new RegExp(`^${sent.id} +.* settings\\.changed +sent +1 +204 `, "m"));
      receiver.received.length = 0;
      assert.equal(await bench.must(["webhook", "resend", id, String(sent.id)]), "sent");
      assert.equal(receiver.received[0]!.headers.get("x-orgpods-delivery"), sent.delivery_id);
      for (const [status, state] of [[422, "failed"], [500, "waiting"]] as const) {
        receiver.answer(() => new Response(null, { status }));
        const resent = await bench.orgpods(["webhook", "resend", id, String(sent.id)]);
        assert.deepEqual([resent.code, resent.stdout], [6, `${state}\n`]);
        assert.match(resent.stderr, new RegExp(`^error: .*${status}`));
      }
    })
  ));
