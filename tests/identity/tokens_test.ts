import assert from "node:assert/strict";
import type { Database } from "../../db/database.ts";
import { openDatabase } from "../../db/open.ts";
import { insertOrg } from "../../db/stores/organizations.ts";
import { revokeToken, tokenById } from "../../db/stores/tokens.ts";
import { DAY, MINUTE } from "../../server/clock.ts";
import { hashOf, issueToken, randomText, usableToken } from "../../server/identity/tokens.ts";

const NOW = 1_800_000_000_000;

function withOrgs(): Database {
  const db = openDatabase(":memory:");
  for (const [prefix, guildId] of [["one", "1"], ["two", "2"]] as const) {
    insertOrg(db, { prefix, name: prefix, guildId, officerRoleIds: [], memberRoleIds: [], podImage: null }, 0);
  }
  return db;
}

const owner = (change: Partial<Parameters<typeof issueToken>[1]> = {}) => ({
  orgId: 1,
  kind: "cli" as const,
  discordId: "12345",
  name: "laptop",
  ...change,
});

Deno.test("a token is plat_ and 43 characters, kept only as its hash, and works until it expires", () => {
  const db = withOrgs();
  const issued = issueToken(db, owner(), "me", NOW);
  assert.match(issued.token, /^plat_[A-Za-z0-9_-]{43}$/);
  assert.equal(issued.expiresAt, NOW + 90 * DAY);
  const stored = db.get<Record<string, unknown>>("select * from machine_tokens")!;
  assert.equal(stored["token_hash"], hashOf(issued.token));
  assert.equal(stored["display"], issued.token.slice(0, 11));
  assert.ok(!JSON.stringify(stored).includes(issued.token.slice(11)), "the rest is nowhere");
  const usable = (at: number) => usableToken(db, issued.token, "cli", at)?.id ?? null;
  assert.equal(usable(NOW), issued.id);
  assert.equal(usable(issued.expiresAt - 1), issued.id);
  assert.equal(usable(issued.expiresAt), null);
  const short = issueToken(db, owner({ days: 1, discordId: "777777" }), "me", NOW);
  assert.equal(short.expiresAt, NOW + DAY);
  db.close();
});

Deno.test("a token works as its own kind and with its scope only", () => {
  const db = withOrgs();
  const cli = issueToken(db, owner(), "me", NOW);
  const officer = issueToken(db, owner({ kind: "officer" }), "me", NOW);
  assert.equal(usableToken(db, cli.token, "officer", NOW), null);
  assert.equal(usableToken(db, officer.token, "cli", NOW), null);
  assert.equal(usableToken(db, officer.token, "officer", NOW)?.id, officer.id);
  const scopes = db.all<{ kind: string; scopes: string }>("select kind, scopes from machine_tokens order by kind");
  assert.deepEqual(scopes.map((row) => [row.kind, row.scopes]), [
    ["cli", '["compute:connect"]'],
    ["officer", '["compute:manage"]'],
  ]);
  for (const wrong of ["[]", '["compute:manage"]', '["compute:connect2"]']) {
    db.run("update machine_tokens set scopes = ? where kind = 'cli'", wrong);
    assert.equal(usableToken(db, cli.token, "cli", NOW), null, wrong);
  }
  db.close();
});

Deno.test("a new token revokes the older ones of the same person, org and kind, and no others", () => {
  const db = withOrgs();
  const old = issueToken(db, owner(), "me", NOW);
  const others = [
    issueToken(db, owner({ kind: "officer" }), "me", NOW),
    issueToken(db, owner({ discordId: "99999" }), "me", NOW),
    issueToken(db, owner({ orgId: 2 }), "me", NOW),
  ];
  assert.deepEqual(others.map((one) => one.revoked), [0, 0, 0]);
  const young = issueToken(db, owner({ name: "desktop" }), "somebody", NOW + 1);
  assert.equal(young.revoked, 1);
  assert.equal(usableToken(db, old.token, "cli", NOW + 1), null);
  assert.equal(usableToken(db, young.token, "cli", NOW + 1)?.name, "desktop");
  const kinds = ["officer", "cli", "cli"] as const;
  for (const [index, one] of others.entries()) {
    assert.equal(usableToken(db, one.token, kinds[index]!, NOW + 1)?.id, one.id);
  }
  const row = db.get<{ revoked_by: string; revoked_at: number }>("select * from machine_tokens where id = ?", old.id)!;
  assert.deepEqual([row.revoked_by, row.revoked_at], ["somebody", NOW + 1]);
  assert.equal(issueToken(db, owner(), "me", NOW + 2).revoked, 1, "the revoked ones do not count again");
  db.close();
});

Deno.test("a revoked token is refused at once, and is revoked once, in its own org", () => {
  const db = withOrgs();
  const { id, token } = issueToken(db, owner(), "me", NOW);
  assert.equal(revokeToken(db, 2, id, "other", NOW), false);
  assert.equal(tokenById(db, 2, id), undefined);
  assert.ok(usableToken(db, token, "cli", NOW));
  assert.equal(revokeToken(db, 1, id, "me", NOW), true);
  assert.equal(usableToken(db, token, "cli", NOW), null);
  assert.equal(revokeToken(db, 1, id, "again", NOW + 5), false);
  assert.equal(tokenById(db, 1, id)?.revoked_at, NOW);
  db.close();
});

Deno.test("texts that are no token are refused, close ones too", () => {
  const db = withOrgs();
  const { token } = issueToken(db, owner(), "me", NOW);
  const wrong = [
    "",
    "plat_",
    token.slice(0, -1),
    `${token}x`,
    ` ${token}`,
    `${token}\n`,
    token.replace("plat_", "PLAT_"),
    token.slice(5),
    `plat_${randomText()}`,
    token.slice(0, -1) + (token.endsWith("A") ? "B" : "A"),
    hashOf(token),
  ];
  for (const text of wrong) assert.equal(usableToken(db, text, "cli", NOW), null, text);
  db.close();
});

Deno.test("the last use of a token is noted once a minute", () => {
  const db = withOrgs();
  const { id, token } = issueToken(db, owner(), "me", NOW);
  const used = () => tokenById(db, 1, id)!.last_used_at;
  assert.equal(used(), null);
  usableToken(db, token, "officer", NOW);
  assert.equal(used(), null, "a refused use is none");
  for (const [at, noted] of [[NOW, NOW], [NOW + MINUTE - 1, NOW], [NOW + MINUTE, NOW + MINUTE]] as const) {
    usableToken(db, token, "cli", at);
    assert.equal(used(), noted);
  }
  db.close();
});

Deno.test("a full disk turns no good token away, another failure of the database is not hidden", () => {
  const db = withOrgs();
  const { id, token } = issueToken(db, owner(), "me", NOW);
  const failing = (errcode: number, message: string) =>
    Object.assign(db, {
      run: () => {
        throw Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });
      },
    });
  assert.equal(usableToken(failing(13, "database or disk is full"), token, "cli", NOW)?.id, id);
  assert.throws(() => usableToken(failing(5, "database is locked"), token, "cli", NOW), /locked/);
  db.close();
});
