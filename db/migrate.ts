import { AppError } from "../server/errors.ts";
import type { Database } from "./database.ts";
import { MIGRATIONS } from "./migrations/mod.ts";

const versionOf = (database: Database): number =>
  Number(database.get<{ user_version: number }>("pragma user_version")?.user_version ?? 0);

/** Throws `conflict` for a file that a newer program wrote. Reads only. */
export function refuseNewer(database: Database, path: string, known: number = MIGRATIONS.length): void {
  const found = versionOf(database);
  if (found <= known) return;
  throw new AppError(
    "conflict",
    `The database ${path} has schema version ${found}, newer than this program knows (${known}). ` +
      "Start the newer program, or restore a backup",
  );
}

/**
 * Brings the schema to the newest version, all steps in one transaction. A file with content is copied to
 * `<file>.before-<version>` first. Refuses a file that a newer program wrote, before anything is changed.
 */
export function migrate(database: Database, path: string, migrations: readonly string[] = MIGRATIONS): void {
  refuseNewer(database, path, migrations.length);
  const found = versionOf(database);
  if (found === migrations.length) return;
  if (found > 0 && path !== ":memory:") {
    database.get("pragma wal_checkpoint(truncate)");
    Deno.copyFileSync(path, `${path}.before-${migrations.length}`);
    Deno.chmodSync(`${path}.before-${migrations.length}`, 0o600);
  }
  database.tx(() => {
    for (const sql of migrations.slice(found)) database.exec(sql);
    database.exec(`pragma user_version = ${migrations.length}`);
  });
}
