import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Database } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { MIGRATIONS } from "../../db/migrations/mod.ts";
import { openDatabase } from "../../db/open.ts";
import { AppError } from "../../server/errors.ts";

const FIRST = "create table one (a text) strict; insert into one values ('kept');";
const SECOND = "alter table one add column b text; update one set b = 'filled';";
const BROKEN = "create table two (a text) strict; insert into two values ('x'); select * from nowhere;";

async function inFolder(work: (file: string, folder: string) => void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    work(`${folder}/orgpods.sqlite`, folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const at = (file: string) => new Database(new DatabaseSync(file));
const version = (db: Database) => db.get<{ user_version: number }>("pragma user_version")!.user_version;
const tables = (db: Database) =>
  db.all<{ name: string }>("select name from sqlite_schema where type = 'table' order by name").map((row) => row.name);
const copies = (folder: string) =>
  [...Deno.readDirSync(folder)].map((entry) => entry.name).filter((name) => name.includes(".before-"));

Deno.test("migrate makes the newest schema in an empty file, without a copy, and does nothing the second time", async () => {
  await inFolder((file, folder) => {
    const db = at(file);
    migrate(db, file);
    assert.equal(version(db), MIGRATIONS.length);
    assert.ok(tables(db).includes("compute_pods"));
    const id = db.get<{ value: string }>("select value from meta where key = 'install_id'")!.value;
    assert.match(id, /^[0-9a-f]{32}$/);
    migrate(db, file);
    assert.equal(db.get<{ value: string }>("select value from meta where key = 'install_id'")!.value, id);
    assert.deepEqual(copies(folder), []);
    db.close();
  });
});

Deno.test("migrate runs only the steps that are missing, after a copy of the file as it was", async () => {
  await inFolder((file, folder) => {
    const before = at(file);
    before.exec("pragma journal_mode = wal");
    migrate(before, file, [FIRST]);
    before.run("insert into one values ('in the WAL')");
    migrate(before, file, [FIRST, SECOND]);
    assert.equal(version(before), 2);
    assert.deepEqual(before.all<{ a: string; b: string }>("select * from one").map((row) => [row.a, row.b]), [
      ["kept", "filled"],
      ["in the WAL", "filled"],
    ]);
    before.close();
    assert.deepEqual(copies(folder), ["orgpods.sqlite.before-2"]);
    const copy = `${file}.before-2`;
    assert.equal(Deno.statSync(copy).mode! & 0o777, 0o600);
    const old = at(copy);
    assert.equal(version(old), 1);
    assert.deepEqual(old.all<{ a: string }>("select * from one").map((row) => row.a), ["kept", "in the WAL"]);
    old.close();
  });
});

Deno.test("migrate keeps nothing of any step when one fails", async () => {
  await inFolder((file) => {
    const db = at(file);
    migrate(db, file, [FIRST]);
    assert.throws(() => migrate(db, file, [FIRST, SECOND, BROKEN]), /no such table: nowhere/);
    assert.equal(version(db), 1);
    assert.deepEqual(tables(db), ["one"]);
    assert.deepEqual(Object.keys(db.get("select * from one")!), ["a"], "the good step before it is undone too");
    migrate(db, file, [FIRST, SECOND]);
    assert.equal(version(db), 2);
    db.close();
  });
});

Deno.test("migrate of a file that cannot be copied changes nothing", async () => {
  await inFolder((file) => {
    const db = at(file);
    migrate(db, file, [FIRST]);
    Deno.mkdirSync(`${file}.before-2`);
    assert.throws(() => migrate(db, file, [FIRST, SECOND]));
    assert.equal(version(db), 1);
    db.close();
  });
});

Deno.test("openDatabase refuses a file of a newer program, and leaves every byte of it as it was", async () => {
  for (const journal of ["delete", "wal"]) {
    await inFolder((file, folder) => {
      const newer = new DatabaseSync(file);
      newer.exec(`pragma journal_mode = ${journal}; create table future (a text); pragma user_version = 99;`);
      newer.close();
      const before = Deno.readFileSync(file);
      let error: unknown;
      try {
        openDatabase(file).close();
      } catch (thrown) {
        error = thrown;
      }
      assert.ok(error instanceof AppError, "it is refused");
      assert.equal(error.code, "conflict");
      assert.equal(
        error.message,
        `The database ${file} has schema version 99, newer than this program knows (${MIGRATIONS.length}). ` +
          "Start the newer program, or restore a backup",
      );
      assert.deepEqual(Deno.readFileSync(file), before, journal);
      assert.deepEqual([...Deno.readDirSync(folder)].map((entry) => entry.name), ["orgpods.sqlite"]);
    });
  }
});

Deno.test("openDatabase refuses a file that is no database and lets go of it", async () => {
  await inFolder((file) => {
    Deno.writeTextFileSync(file, "this is a text file, not a database at all ".repeat(50));
    assert.throws(() => openDatabase(file), /file is not a database/);
    Deno.removeSync(file);
  });
});

Deno.test("the schema keeps two orgs and two pods apart by what must be unique", () => {
  const db = openDatabase(":memory:");
  const org = (prefix: string, guild: string) =>
    db.run("insert into organizations (prefix, name, guild_id, created_at) values (?, 'n', ?, 0)", prefix, guild);
  org("a", "1");
  org("b", "2");
  assert.throws(() => org("a", "3"), /UNIQUE/);
  assert.throws(() => org("c", "2"), /UNIQUE/);
  const pod = (id: string, orgId: number, runpodId: string | null, name: string) =>
    db.run(
      "insert into compute_pods (id, org_id, name, runpod_name, runpod_id, state, config, created_at) " +
        "values (?, ?, 'lab', ?, ?, 'live', '{}', 0)",
      id,
      orgId,
      name,
      runpodId,
    );
  pod("p1", 1, "r1", "n1");
  assert.throws(() => pod("p2", 2, "r1", "n2"), /UNIQUE/, "a RunPod id belongs to one org");
  assert.throws(() => pod("p3", 2, "r3", "n1"), /UNIQUE/);
  assert.throws(() => db.run("delete from organizations where id = 1"), /FOREIGN KEY/, "an org with pods stays");
  db.close();
});
