import assert from "node:assert/strict";
import { isSomebodyOn, parseWalk, type WhoIsOn } from "../../server/presence/parse.ts";

interface Case {
  readonly name: string;
  readonly output: string;
  readonly expected: WhoIsOn | null;
}

const cases: Case[] = JSON.parse(
  Deno.readTextFileSync(new URL("../vectors/presence/walks.json", import.meta.url)),
);

for (const { name, output, expected } of cases) {
  Deno.test(`parseWalk reads the vector: ${name}`, () => {
    assert.deepEqual(parseWalk(output), expected);
  });
}

Deno.test("parseWalk bounds how much it keeps when a pod prints without end", () => {
  const lines = ["own 9", "ssh 9 1 root@notty"];
  for (let n = 0; n < 5_000; n++) {
    lines.push(`ssh ${10 + n} 60 root@pts/${n}`, `member ${10_000 + n} ${n} pts/${n} godfather_m${n}`);
  }
  const who = parseWalk([...lines, "end 7", ""].join("\n"));
  assert.equal(who?.sessions.length, 1_000);
  assert.equal(who.sessions[0]?.seconds, 4_999);
  assert.equal(who.terminals.length, 500);
});

Deno.test("isSomebodyOn is true for a session and for a bare connection alone", () => {
  const nobody = { sessions: [], connections: 0, certificates: [], terminals: [] };
  assert.equal(isSomebodyOn(nobody), false);
  assert.equal(isSomebodyOn({ ...nobody, connections: 1 }), true);
  assert.equal(isSomebodyOn({ ...nobody, sessions: [{ username: "bob", isAdmin: false, seconds: 1 }] }), true);
});
