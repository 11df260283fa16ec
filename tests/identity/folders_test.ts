import assert from "node:assert/strict";
import type { Database } from "../../db/database.ts";
import { openDatabase } from "../../db/open.ts";
import { insertOrg } from "../../db/stores/organizations.ts";
import { FOLDER_FORM, folderFor, safeName } from "../../server/identity/folders.ts";

function withOrgs(): Database {
  const db = openDatabase(":memory:");
  for (const [prefix, guildId] of [["one", "1"], ["two", "2"]] as const) {
    insertOrg(db, { prefix, name: prefix, guildId, officerRoleIds: [], memberRoleIds: [], podImage: null }, 0);
  }
  return db;
}

const folder = (db: Database, discordId: string, username: string, org = 1) =>
  folderFor(db, org, { discordId, username }, 0);

Deno.test("safeName keeps what an account name may hold (contract 6.3)", () => {
  const table: [string, string][] = [
    ["bob", "bob"],
    ["Bob", "bob"],
    [".bob", "bob"],
    ["-.-bob", "bob"],
    ["_bob", "_bob"],
    ["b.o-b_9", "b.o-b_9"],
    ["bob.", "bob."],
    ["b o/b\\..", "bob.."],
    ["Ünïcode", "ncode"],
    ["İstanbul", "istanbul"],
    ["🧪", "user"],
    ["", "user"],
    ["...---", "user"],
    ["../../etc/passwd", "etcpasswd"],
    ["$(reboot)", "reboot"],
    ["a".repeat(40), "a".repeat(22)],
    [`${"🧪".repeat(30)}end`, "end"],
    [`..${"a".repeat(21)}bc`, `${"a".repeat(21)}b`],
  ];
  for (const [name, expected] of table) {
    assert.equal(safeName(name), expected, name);
    assert.match(safeName(name), FOLDER_FORM);
  }
});

Deno.test("a member's folder is made once and stays, whatever the Discord name becomes", () => {
  const db = withOrgs();
  assert.equal(folder(db, "1", "bob"), "bob");
  assert.equal(folder(db, "1", "alice"), "bob");
  assert.equal(folder(db, "1", ""), "bob");
  assert.equal(folder(db, "2", "alice"), "alice", "the new name is still free for its next holder");
  assert.match(folder(db, "3", "bob"), /^bob-[0-9a-f]{4}$/, "the old one is not");
  db.close();
});

Deno.test("members whose names come out alike get folders of their own", () => {
  const db = withOrgs();
  const names = ["bob", ".bob", "BOB", "b🧪ob", "bob "];
  const made = names.map((name, index) => folder(db, String(index), name));
  assert.equal(new Set(made).size, names.length, made.join());
  for (const one of made.slice(1)) assert.match(one, /^bob-[0-9a-f]{4}$/);
  const empty = ["", "🧪", "..."].map((name, index) => folder(db, `1000${index}`, name));
  assert.equal(empty[0], "10000", "without a name, the Discord id");
  assert.equal(empty[1], "user");
  assert.match(empty[2]!, /^user-[0-9a-f]{4}$/);
  const long = ["x", "y", "z"].map((end, index) => folder(db, `2000${index}`, `${"long".repeat(6)}${end}`));
  assert.equal(new Set(long).size, 3);
  for (const one of long) assert.ok(one.length <= 22 && one.startsWith("longlonglonglong"), one);
  db.close();
});

Deno.test("a suffix that is taken is followed by another one", () => {
  const db = withOrgs();
  folder(db, "1", "bob");
  const second = folder(db, "2", "bob");
  // Somebody's own name is exactly the folder that this member would get.
  const other = withOrgs();
  folder(other, "1", "bob");
  assert.equal(folder(other, "9", second), second);
  const third = folder(other, "2", "bob");
  assert.notEqual(third, second);
  assert.match(third, /^bob-[0-9a-f]{5}$/);
  db.close();
  other.close();
});

Deno.test("folders belong to one org: the same person and the same name in two orgs", () => {
  const db = withOrgs();
  assert.equal(folder(db, "1", "bob", 1), "bob");
  assert.equal(folder(db, "2", "bob", 2), "bob");
  assert.match(folder(db, "1", "bob", 2), /^bob-/);
  db.close();
});

/** A small generator with a seed, so that a failure can be made again. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

Deno.test("every folder has the form and is nobody else's, for names of all kinds", () => {
  const db = withOrgs();
  const next = random(20_261_130);
  const parts = [
    "bob",
    "Bob",
    "a",
    ".",
    "..",
    "-",
    "_",
    " ",
    "/",
    "🧪",
    "é",
    "İ",
    "ß",
    "0",
    "9",
    "\n",
    "\0",
    "$(x)",
    "\u202e",
    "\ufb01",
  ];
  const owners = new Map<string, string>();
  db.tx(() => {
    for (let made = 0; made < 3_000; made++) {
      const name = Array.from({ length: next(12) }, () => parts[next(parts.length)]).join("");
      const id = String(100_000 + made);
      const given = folder(db, id, name);
      assert.match(given, FOLDER_FORM, JSON.stringify(name));
      assert.ok(given.length <= 22);
      assert.equal(owners.get(given), undefined, given);
      owners.set(given, id);
    }
  });
  assert.equal(db.all("select 1 from member_folders").length, 3_000);
  for (const [given, id] of owners) assert.equal(folder(db, id, "renamed"), given);
  db.close();
});
