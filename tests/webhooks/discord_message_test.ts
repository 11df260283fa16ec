import assert from "node:assert/strict";
import { EVENT_KINDS } from "../../server/events/kinds.ts";
import type { Notice } from "../../server/events/notice.ts";
import { discordBody, harmless } from "../../server/webhooks/discord_message.ts";
import { withKit, withReceiver } from "./support.ts";

const NOTICE: Notice = {
  id: 7,
  kind: "pod.started",
  created_at: "2026-11-30T12:00:00+00:00",
  pod_id: "k7x2m9",
  subject: "lab-1",
  actor: "Ada",
  details: { did: "started" },
};

interface Embed {
  readonly title: string;
  readonly color: number;
  readonly fields: { readonly name: string; readonly value: string }[];
}

const embedOf = (notice: Partial<Notice>): Embed =>
  (discordBody({ ...NOTICE, ...notice }, "Test Society").embeds as Embed[])[0]!;

Deno.test("discordBody writes the contract's embed, and mentions nobody", () => {
  assert.deepEqual(discordBody(NOTICE, "Test Society"), {
    username: "orgpods",
    allowed_mentions: { parse: [] },
    embeds: [{
      title: "Pod lab-1 started",
      color: 0x30a46c,
      fields: [{ name: "Pod", value: "k7x2m9", inline: true }, { name: "By", value: "Ada", inline: true }],
      footer: { text: "Test Society" },
      timestamp: "2026-11-30T12:00:00+00:00",
    }],
  });
});

const TITLES: [Partial<Notice>, string, number][] = [
  [{ kind: "pod.created", details: {} }, "Pod lab-1 created", 0x30a46c],
  [{ details: { did: "restarted" } }, "Pod lab-1 restarted", 0x30a46c],
  [{ kind: "pod.stopped", details: { did: "stopped" } }, "Pod lab-1 stopped", 0xf5a524],
  [{ kind: "pod.stopped", details: { did: "terminated" } }, "Pod lab-1 terminated", 0xf5a524],
  [{ kind: "pod.failed", details: { did: "gone" } }, "Pod lab-1 is gone", 0xf5a524],
  [{ kind: "session.failed", details: { tried_again: false } }, "Pod lab-1: a session failed", 0xf5a524],
  [
    { kind: "session.failed", details: { tried_again: true } },
    "Pod lab-1: a session is in trouble, and tried again",
    0xf5a524,
  ],
  [{ kind: "session.missed" }, "Pod lab-1: a session was missed", 0xf5a524],
];
for (const [notice, title, color] of TITLES) {
  Deno.test(`discordBody has the title "${title}"`, () => {
    const embed = embedOf(notice);
    assert.deepEqual([embed.title, embed.color], [title, color]);
  });
}

Deno.test("discordBody has words of its own for every kind of event", () => {
  for (const kind of EVENT_KINDS) assert.notEqual(embedOf({ kind }).title, kind);
});

Deno.test("discordBody shows what else an event says, without what is empty", () => {
  const { fields } = embedOf({
    kind: "session.failed",
    details: { title: "Workshop", error: null, tried_again: true, hours_left: 3.14159, changed: ["a", "b"] },
  });
  assert.deepEqual(fields.slice(2).map(({ name, value }) => [name, value]), [
    ["Title", "Workshop"],
    ["Tried again", "yes"],
    ["Hours left", "3.14"],
    ["Changed", "a, b"],
  ]);
});

const NAMES: [string, string][] = [
  ["lab-1", "lab-1"],
  ["@everyone", "\\@everyone"],
  ["<@123456789012345678> <@&1> <#1> <:a:1>", "\\<\\@123456789012345678> \\<\\@&1> \\<#1> \\<:a:1>"],
  [
    "**bold** __under__ ~~gone~~ ||spoiler|| `code`",
    "\\*\\*bold\\*\\* \\_\\_under\\_\\_ \\~\\~gone\\~\\~ \\|\\|spoiler\\|\\| \\`code\\`",
  ],
  ["[free money](https://evil.org)", "\\[free money\\](https\\://evil.org)"],
  ["# Heading", "\\# Heading"],
  ["> quote", "\\> quote"],
  ["- item", "\\- item"],
  ["a\n# b\r\n> c", "a # b > c"],
  ["back\\slash\\", "back\\\\slash\\\\"],
  ["right\u202eleft\u200bzero\u0000nul", "right left zero nul"],
  ["   ", ""],
];
for (const [name, wanted] of NAMES) {
  Deno.test(`harmless shows ${JSON.stringify(name)} as ${JSON.stringify(wanted)}`, () => {
    assert.equal(harmless(name, 100), wanted);
  });
}

Deno.test("discordBody stays within Discord's limits whatever the names and details are", () => {
  const long = "*".repeat(5_000);
  const details = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`${n}${long}`, long]));
  for (const kind of [...EVENT_KINDS, long]) {
    const embed = embedOf({ kind, subject: long, actor: long, pod_id: long, details });
    assert.ok(embed.title.length <= 256, "title");
    assert.ok(embed.fields.length <= 25, "fields");
    for (const field of embed.fields) assert.ok(field.name.length <= 256 && field.value.length <= 1024, "field");
    const all = embed.title + embed.fields.map((field) => field.name + field.value).join("") + "Test Society";
    assert.ok(all.length <= 6_000, `${all.length} characters`);
  }
});

Deno.test("harmless does not cut a character in two", () => {
  assert.equal(harmless("😀".repeat(20), 10), `${"😀".repeat(9)}…`);
});

Deno.test("a delivery to Discord is its embed without a signature, and Discord's 404 counts as a refusal", () =>
  withReceiver((receiver) =>
    withKit(async (kit) => {
      const url = `${receiver.origin}/api/webhooks/123456789012345678/token-abcd`;
      const { id, secret } = kit.add(url, { format: "discord" });
      assert.equal(secret, null);
      receiver.answer(() => new Response(null, { status: 404 }));
      kit.raise("pod.started", { subject: "@everyone", details: { did: "started" } });
      await kit.turn();
      const [one] = receiver.received;
      const body = JSON.parse(one!.body);
      assert.deepEqual(body.allowed_mentions, { parse: [] });
      assert.equal(body.embeds[0].title, "Pod \\@everyone started");
      assert.equal(one!.headers.get("x-orgpods-signature"), null);
      assert.equal(kit.hook(id).refusals, 1);
      assert.equal(kit.hook(id).last_error, "Discord does not know the webhook any more, or refuses it (404)");
    }, { testDiscord: receiver.origin })
  ));

for (const [code, refusals] of [[401, 1], [403, 1], [404, 1], [410, 1], [400, 0], [429, 0], [500, 0]] as const) {
  Deno.test(`Discord's ${code} counts as ${refusals} refusals`, () =>
    withReceiver((receiver) =>
      withKit(async (kit) => {
        const { id } = kit.add(`${receiver.origin}/api/webhooks/123456789012345678/t`, { format: "discord" });
        receiver.answer(() => new Response(null, { status: code }));
        kit.raise();
        await kit.turn();
        assert.equal(kit.hook(id).refusals, refusals);
      }, { testDiscord: receiver.origin })
    ));
}
