import assert from "node:assert/strict";
import { join } from "node:path";
import { erasing } from "../../db/erase.ts";
import { openDatabase } from "../../db/open.ts";

Deno.test("erasing leaves nothing of a replaced value in the files, and undoes what fails", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  try {
    const file = join(folder, "orgpods.sqlite");
    const db = openDatabase(file);
    const value = `canary-${"0815".repeat(100)}`;
    const holds = () =>
      [file, `${file}-wal`].some((path) =>
        new TextDecoder("latin1").decode(Deno.readFileSync(path)).includes("0815".repeat(50))
      );
    db.run("insert into meta (key, value) values ('secret', ?)", value);
    db.exec("pragma wal_checkpoint(truncate)");
    assert.throws(() =>
      erasing(db, () => {
        db.run("delete from meta where key = 'secret'");
        throw new Error("no");
      }), /^Error: no$/);
    assert.equal(db.get<{ value: string }>("select value from meta where key = 'secret'")?.value, value);
    assert.equal(holds(), true);
    erasing(db, () => db.run("update meta set value = '' where key = 'secret'"));
    assert.equal(holds(), false);
    db.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
