import assert from "node:assert/strict";
import { openDatabase } from "../../db/open.ts";
import { dataDirAt, initDataDir, requireDataDir } from "../../server/data_dir.ts";
import { AppError } from "../../server/errors.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";

async function withFolder(work: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("initDataDir makes a folder and an env file that nobody else can read, and not a second time", () =>
  withFolder((folder) => {
    const dir = dataDirAt(`${folder}/data`);
    const key = generateSecretKey();
    assert.deepEqual(initDataDir(dir, key), { envFileMade: true });
    openDatabase(dir.database).close();
    assert.equal(Deno.statSync(dir.path).mode! & 0o777, 0o700);
    assert.equal(Deno.statSync(dir.envFile).mode! & 0o777, 0o600);
    assert.ok(Deno.readTextFileSync(dir.envFile).includes(`SECRETS_KEY=${key}\n`));
    requireDataDir(dir);
    assert.throws(() => initDataDir(dir, key), (error: AppError) => error.code === "conflict");
  }));

Deno.test("requireDataDir refuses a folder without a database and one that is open to others", () =>
  withFolder((folder) => {
    const dir = dataDirAt(folder);
    assert.throws(() => requireDataDir(dir), /is no data directory of orgpods. Make one with: orgpods init/);
    openDatabase(dir.database).close();
    Deno.chmodSync(folder, 0o755);
    assert.throws(() => requireDataDir(dir), /is open to others; run: chmod 700/);
  }));

Deno.test("initDataDir leaves a folder with other files alone", () =>
  withFolder((folder) => {
    Deno.writeTextFileSync(`${folder}/thesis.txt`, "mine");
    Deno.chmodSync(folder, 0o755);
    assert.throws(
      () => initDataDir(dataDirAt(folder), generateSecretKey()),
      /is not empty; name a new or an empty one/,
    );
    assert.equal(Deno.statSync(folder).mode! & 0o777, 0o755);
    Deno.removeSync(`${folder}/thesis.txt`);
    Deno.writeTextFileSync(`${folder}/orgpods.env`, "CLIENT_ID=12345\n", { mode: 0o600 });
    assert.deepEqual(initDataDir(dataDirAt(folder), generateSecretKey()), { envFileMade: false });
    assert.equal(Deno.statSync(folder).mode! & 0o777, 0o700);
  }));
