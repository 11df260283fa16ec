import type { Database } from "./database.ts";

/**
 * Runs a transaction and leaves nothing of what it deletes or replaces in the database's files: without this SQLite only
 * marks the space as free. Copies of the files, such as backups, are as they were.
 */
export function erasing<T>(db: Database, work: () => T): T {
  db.exec("pragma secure_delete = on");
  try {
    return db.tx(work);
  } finally {
    db.exec("pragma secure_delete = off");
    // The write-ahead log still holds the old pages until they are written back.
    db.exec("pragma wal_checkpoint(truncate)");
  }
}
