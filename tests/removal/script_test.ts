import assert from "node:assert/strict";
import { type Ended, endScript, parseEnded } from "../../server/removal/script.ts";

interface Case {
  readonly name: string;
  readonly output: string;
  readonly expected: Ended | string;
}

const cases: Case[] = JSON.parse(Deno.readTextFileSync(new URL("../vectors/removal/ended.json", import.meta.url)));

for (const { name, output, expected } of cases) {
  Deno.test(`parseEnded reads the vector: ${name}`, () => {
    assert.deepEqual(parseEnded(output), expected);
  });
}

const ending = {
  folder: "mo.member-1_",
  discordId: "200000000000000002",
  spared: ["1", "18446744073709551615"],
  wholeAccount: true,
  letInAgo: null,
  isRecorded: false,
};

Deno.test("endScript holds the account, the serials and what is to end, and nothing else of the caller's", () => {
  const whole = endScript(ending);
  assert.match(whole, /^account=godfather_mo\.member-1_$/m);
  assert.match(whole, /^key_id=discord:200000000000000002:\nspared=' 1 18446744073709551615 '$/m);
  assert.match(whole, /^whole=yes\nagain=\nimage=$/m);
  const root = endScript({ ...ending, wholeAccount: false, spared: [], isRecorded: true });
  assert.match(root, /^spared=' {2}'\nwhole=\nagain=\nimage=yes$/m);
  for (const [letInAgo, seconds] of [[0, 0], [12.3, 13], [-5, 0]] as const) {
    assert.match(endScript({ ...ending, letInAgo }), new RegExp(`^again=${seconds}$`, "m"));
  }
});

Deno.test("endScript refuses folders and serials that a shell could read as more", () => {
  const folders = ["", "Mo", "-x", ".x", "a b", "a;reboot", "$(id)", "a'b", "a\nb", "../x", "x".repeat(23), "ö"];
  const serials = ["", "-1", "0x1", "1 2", "1'", "1\n2", "*", "1".repeat(26), "١"];
  for (const folder of folders) assert.throws(() => endScript({ ...ending, folder }), TypeError, folder);
  for (const serial of serials) assert.throws(() => endScript({ ...ending, spared: [serial] }), TypeError, serial);
  for (const id of serials) assert.throws(() => endScript({ ...ending, discordId: id }), TypeError, id);
  for (const letInAgo of [NaN, Infinity]) assert.throws(() => endScript({ ...ending, letInAgo }), TypeError);
});

Deno.test("endScript is a script that a plain shell can read", async () => {
  const child = new Deno.Command("sh", { args: ["-n"], stdin: "piped", stdout: "null", stderr: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(endScript(ending)));
  await writer.close();
  const { code, stderr } = await child.output();
  assert.deepEqual([code, new TextDecoder().decode(stderr)], [0, ""]);
});
