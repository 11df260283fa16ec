import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Database } from "../../db/database.ts";
import { createSharedCommits } from "../../db/shared_commits.ts";

/** A table of unique names, and a database that counts its commits. */
function counted(): { db: Database; commits: () => number; names: () => string[] } {
  const file = new DatabaseSync(":memory:");
  let commits = 0;
  const exec = file.exec.bind(file);
  file.exec = (sql) => {
    if (sql === "commit") commits++;
    exec(sql);
  };
  const db = new Database(file);
  db.exec("create table t (name text unique) strict");
  return {
    db,
    commits: () => commits,
    names: () => db.all<{ name: string }>("select name from t order by rowid").map((row) => row.name),
  };
}

const insert = (db: Database, name: string) => () => {
  db.run("insert into t (name) values (?)", name);
  return name;
};

Deno.test("run commits pieces of the same moment together and gives each its own result", async () => {
  const { db, commits, names } = counted();
  const shared = createSharedCommits(db);
  assert.deepEqual(await Promise.all(["a", "b", "c"].map((name) => shared.run(insert(db, name)))), ["a", "b", "c"]);
  assert.deepEqual(names(), ["a", "b", "c"]);
  assert.equal(commits(), 1);
  assert.equal(await shared.run(insert(db, "d")), "d");
  assert.equal(commits(), 2);
  db.close();
});

Deno.test("run undoes a piece that throws, and that one alone", async () => {
  const { db, names } = counted();
  const shared = createSharedCommits(db);
  const refusal = new Error("refused");
  const outcomes = await Promise.allSettled([
    shared.run(insert(db, "a")),
    shared.run(() => {
      insert(db, "half")();
      throw refusal;
    }),
    shared.run(insert(db, "a")),
    shared.run(() => db.tx(insert(db, "b"))),
  ]);
  assert.deepEqual(outcomes.map((outcome) => outcome.status), ["fulfilled", "rejected", "rejected", "fulfilled"]);
  assert.equal((outcomes[1] as PromiseRejectedResult).reason, refusal);
  assert.deepEqual(names(), ["a", "b"]);
  db.close();
});

Deno.test("run answers nobody before the commit, and all with its error when it fails", async () => {
  const { db, names } = counted();
  const shared = createSharedCommits(db);
  db.exec("create table child (parent text references t (name) deferrable initially deferred) strict");
  db.exec("pragma foreign_keys = on");
  const outcomes = await Promise.allSettled([
    shared.run(insert(db, "a")),
    shared.run(() => db.run("insert into child (parent) values ('nobody')")),
  ]);
  assert.deepEqual(outcomes.map((outcome) => outcome.status), ["rejected", "rejected"]);
  assert.deepEqual(names(), []);
  assert.equal(await shared.run(insert(db, "b")), "b");
  db.close();
});
