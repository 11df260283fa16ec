import { createHash } from "node:crypto";
import type { Database } from "../../db/database.ts";
import { folderOf, folderTaken, insertFolder } from "../../db/stores/connections.ts";

/** The form of a folder name on a pod (contract of the image and of the client). */
export const FOLDER_FORM = /^[a-z0-9_][a-z0-9._-]{0,21}$/;

const LONGEST = 22; // `godfather_` and 22 more are the 32 characters an account name may have

/**
 * The Discord name as an account name: lower case, only `a-z 0-9 . _ -`, no dot or dash in front, at most 22
 * characters; `user` when nothing is left.
 */
export function safeName(username: string): string {
  const kept = username.toLowerCase().replace(/[^a-z0-9._-]/g, "").replace(/^[.-]+/, "").slice(0, LONGEST);
  return kept === "" ? "user" : kept;
}

/** The candidates in order: the plain name, then the name with a short suffix made from the Discord id. */
function* candidates(username: string, discordId: string): Generator<string> {
  const base = safeName(username);
  yield base;
  for (let round = 0;; round++) {
    const suffix = createHash("sha256").update(`${discordId}/${round}`).digest("hex").slice(0, 4 + Math.min(round, 8));
    yield `${base.slice(0, LONGEST - 1 - suffix.length)}-${suffix}`;
  }
}

/**
 * The member's folder on every pod of the org: made at the first connect, unique in the org, never changed when the
 * Discord name changes and never given to anybody else.
 */
export function folderFor(
  db: Database,
  orgId: number,
  member: { discordId: string; username: string },
  now: number,
): string {
  const known = folderOf(db, orgId, member.discordId);
  if (known !== undefined) return known;
  return db.tx(() => {
    for (const folder of candidates(member.username || member.discordId, member.discordId)) {
      if (folderTaken(db, orgId, folder)) continue;
      insertFolder(db, orgId, member.discordId, folder, now);
      return folder;
    }
    throw new Error("unreachable: the candidates never end");
  });
}
