import type { Database } from "../database.ts";

/** Facts about this database as a whole; `krl/<org id>` is the last version of an org's key revocation list. */
export type MetaKey = "home" | "moved_at" | "paused" | `krl/${number}`;

export function getMeta(db: Database, key: MetaKey): string | null {
  return db.get<{ value: string }>("select value from meta where key = ?", key)?.value ?? null;
}

/** Stores a fact; null removes it. */
export function setMeta(db: Database, key: MetaKey, value: string | null): void {
  if (value === null) db.run("delete from meta where key = ?", key);
  else {db.run(
      "insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value",
      key,
      value,
    );}
}
