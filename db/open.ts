import { DatabaseSync } from "node:sqlite";
import { Database } from "./database.ts";
import { migrate, refuseNewer } from "./migrate.ts";

/**
 * Opens the database file with the settings every part relies on, and brings its schema up to date.
 *
 * `synchronous=FULL`: what was acknowledged (a certificate, an intent to spend money) survives a power loss.
 * Throws `AppError` when the file is newer than this program.
 */
export function openDatabase(path: string): Database {
  const file = new DatabaseSync(path, { timeout: 5000 });
  try {
    const database = new Database(file);
    refuseNewer(database, path); // The journal mode is written into the file, so this comes first.
    file.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;");
    migrate(database, path);
    return database;
  } catch (error) {
    file.close();
    throw error;
  }
}
