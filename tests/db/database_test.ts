import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Database, isDiskFailure, isSqliteError, isUniqueViolation } from "../../db/database.ts";
import { openDatabase } from "../../db/open.ts";

function open(): Database {
  const database = new Database(new DatabaseSync(":memory:"));
  database.exec(
    "create table items (id integer primary key, name text unique, note text check (note != 'bad')) strict",
  );
  return database;
}

const names = (db: Database) => db.all<{ name: string }>("select name from items order by id").map((row) => row.name);
const insert = (db: Database, name: string) => db.run("insert into items (name) values (?)", name);

function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown");
}

async function inFolder(work: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("tx keeps all of its work, or none when it throws", () => {
  const db = open();
  assert.equal(db.tx(() => insert(db, "a") + insert(db, "b")), 2);
  assert.throws(() =>
    db.tx(() => {
      insert(db, "c");
      assert.equal(db.inTransaction, true);
      throw new Error("no");
    }), /^Error: no$/);
  assert.deepEqual(names(db), ["a", "b"]);
  assert.equal(db.inTransaction, false);
  db.tx(() => insert(db, "d"));
  assert.deepEqual(names(db), ["a", "b", "d"], "the next transaction works");
  db.close();
});

Deno.test("a tx inside another joins it: both stand or fall together", () => {
  const db = open();
  db.tx(() => {
    insert(db, "outer");
    db.tx(() => insert(db, "inner"));
  });
  assert.deepEqual(names(db), ["outer", "inner"]);
  assert.throws(() =>
    db.tx(() => {
      db.tx(() => insert(db, "inner 2"));
      throw new Error("no");
    })
  );
  assert.throws(() =>
    db.tx(() => {
      insert(db, "outer 3");
      db.tx(() => {
        throw new Error("no");
      });
    })
  );
  assert.deepEqual(names(db), ["outer", "inner"]);
  db.close();
});

Deno.test("tx refuses asynchronous work and rolls it back, an inner one too", () => {
  const db = open();
  const work = () => {
    insert(db, "async");
    return Promise.resolve();
  };
  assert.throws(() => db.tx(work), /^TypeError: A transaction must be synchronous$/);
  assert.throws(() =>
    db.tx(() => {
      db.tx(work);
    }), /^TypeError: A transaction must be synchronous$/);
  assert.deepEqual(names(db), []);
  db.close();
});

Deno.test("tx rolls back when SQLite itself refuses a statement", () => {
  const db = open();
  insert(db, "a");
  const error = thrown(() =>
    db.tx(() => {
      insert(db, "b");
      insert(db, "a");
    })
  );
  assert.ok(isUniqueViolation(error));
  assert.deepEqual(names(db), ["a"]);
  db.close();
});

Deno.test("isUniqueViolation knows UNIQUE and PRIMARY KEY, by statement and by exec, and nothing else", () => {
  const db = open();
  db.run("insert into items values (1, 'a', null)");
  const table: [string, () => unknown, boolean][] = [
    ["unique", () => db.run("insert into items values (2, 'a', null)"), true],
    ["primary key", () => db.run("insert into items values (1, 'b', null)"), true],
    ["unique by exec", () => db.exec("insert into items values (2, 'a', null)"), true],
    ["unique by returning", () => db.get("insert into items values (2, 'a', null) returning id"), true],
    ["check", () => db.run("insert into items values (2, 'b', 'bad')"), false],
    ["strict type", () => db.run("insert into items values ('x', 'b', null)"), false],
    ["syntax", () => db.run("insert into"), false],
    ["our own", () => thrownBy(new Error("UNIQUE constraint failed: no")), false],
  ];
  for (const [what, work, expected] of table) {
    const error = thrown(work);
    assert.equal(isUniqueViolation(error), expected, what);
    assert.equal(isDiskFailure(error), false, what);
    assert.equal(isSqliteError(error), what !== "our own", what);
  }
  db.close();
});

function thrownBy(error: Error): never {
  throw error;
}

Deno.test("isDiskFailure knows a full file, by statement, by exec and inside a transaction, which is rolled back", async () => {
  await inFolder((folder) => {
    const db = openDatabase(`${folder}/full.sqlite`);
    db.exec("create table big (text text not null) strict");
    db.run("insert into big values ('small')");
    const { page_count } = db.get<{ page_count: number }>("pragma page_count")!;
    db.get(`pragma max_page_count = ${page_count}`);
    const large = "x".repeat(1_000_000);
    for (
      const work of [
        () => db.run("insert into big values (?)", large),
        () => db.exec(`insert into big values ('${large}')`),
        () => db.get("insert into big values (?) returning rowid", large),
        () =>
          db.tx(() => {
            db.run("insert into big values ('first')");
            db.run("insert into big values (?)", large);
          }),
      ]
    ) {
      const error = thrown(work);
      assert.ok(isDiskFailure(error), String(error));
      assert.equal(isUniqueViolation(error), false);
      assert.equal(db.inTransaction, false);
    }
    assert.deepEqual(db.all<{ text: string }>("select text from big").map((row) => row.text), ["small"]);
    db.tx(() => db.run("update big set text = 'still writable'"));
    db.close();
  });
});

Deno.test("isDiskFailure knows a file that cannot be written, by statement and by exec", async () => {
  await inFolder((folder) => {
    openDatabase(`${folder}/a.sqlite`).close();
    const db = new Database(new DatabaseSync(`${folder}/a.sqlite`, { readOnly: true }));
    for (
      const work of [
        () => db.run("insert into meta values ('a', 'b')"),
        () => db.exec("insert into meta values ('a', 'b')"),
        () => db.tx(() => db.run("insert into meta values ('a', 'b')")),
      ]
    ) {
      const error = thrown(work);
      assert.ok(isDiskFailure(error), String(error));
    }
    db.close();
  });
});

Deno.test("isDiskFailure leaves other errors of SQLite and of the program alone", async () => {
  const db = open();
  assert.equal(isDiskFailure(thrown(() => db.run("select * from nothing"))), false);
  assert.equal(isDiskFailure(new Error("database or disk is full")), false);
  assert.equal(isDiskFailure(null), false);
  db.close();
  await inFolder((folder) => {
    const first = openDatabase(`${folder}/a.sqlite`);
    const second = new Database(new DatabaseSync(`${folder}/a.sqlite`, { timeout: 1 }));
    first.tx(() => {
      const busy = thrown(() => second.run("insert into meta values ('a', 'b')"));
      assert.ok(isSqliteError(busy));
      assert.equal(isDiskFailure(busy), false, "locked is not full");
    });
    second.close();
    first.close();
  });
});

Deno.test("get gives undefined without a row, all an empty list, run the number of changed rows", () => {
  const db = open();
  assert.equal(db.get("select * from items"), undefined);
  assert.deepEqual(db.all("select * from items"), []);
  insert(db, "a");
  insert(db, "b");
  assert.equal(db.run("update items set note = ?", null), 2);
  assert.equal(db.run("delete from items where name = ?", "nobody"), 0);
  assert.deepEqual({ ...db.get("select id, name from items where name = ?", "b")! }, { id: 2, name: "b" });
  db.close();
});

Deno.test("openDatabase sets WAL, full synchronous and foreign keys", async () => {
  await inFolder((folder) => {
    const db = openDatabase(`${folder}/a.sqlite`);
    const pragma = (name: string) => Object.values(db.get(`pragma ${name}`)!)[0];
    assert.deepEqual([pragma("journal_mode"), pragma("synchronous"), pragma("foreign_keys")], ["wal", 2, 1]);
    const orphan = thrown(() => db.run("insert into compute_keys values (1, 99, 'backend', 'a', 'b', 'c', 0, null)"));
    assert.match(String(orphan), /FOREIGN KEY/);
    assert.equal(isUniqueViolation(orphan), false);
    db.close();
  });
});

Deno.test("numbered parameters take their values by number, however often and in whatever order they stand", () => {
  const db = openDatabase(":memory:");
  const row = db.get<{ a: number; b: number; c: number }>("select ?2 as a, ?1 as b, ?2 as c", 1, 2);
  assert.deepEqual({ ...row }, { a: 2, b: 1, c: 2 });
  db.close();
});
