import { createHash, randomBytes } from "node:crypto";
import { type Database, isDiskFailure } from "../../db/database.ts";
import {
  insertToken,
  revokeTokensOf,
  tokenByHash,
  type TokenKind,
  type TokenRow,
  touchToken,
} from "../../db/stores/tokens.ts";
import { DAY, MINUTE } from "../clock.ts";

/** How long a token works (the client shows 90 days whatever the server says). */
export const TOKEN_DAYS = 90;

const SCOPE: Record<TokenKind, string> = { cli: "compute:connect", officer: "compute:manage" };

/** SHA-256 in hex: what is stored in place of a token, a cookie or a state. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** 32 random bytes in URL-safe base64, 43 characters. */
export function randomText(): string {
  return randomBytes(32).toString("base64url");
}

export interface IssuedToken {
  readonly id: number;
  /** Shown once; only its hash is stored. */
  readonly token: string;
  readonly expiresAt: number;
  /** How many older tokens of the same person, org and kind stopped working. */
  readonly revoked: number;
}

/**
 * Makes a token of a kind for one person in one org. A new one revokes the person's older ones of that kind.
 * Call it inside a transaction together with its audit row.
 */
export function issueToken(
  db: Database,
  owner: { orgId: number; kind: TokenKind; discordId: string; name: string; days?: number },
  by: string,
  now: number,
): IssuedToken {
  return db.tx(() => {
    const revoked = revokeTokensOf(db, owner, by, now);
    const token = `plat_${randomText()}`;
    const expiresAt = now + (owner.days ?? TOKEN_DAYS) * DAY;
    const id = insertToken(db, {
      org_id: owner.orgId,
      kind: owner.kind,
      name: owner.name,
      scopes: JSON.stringify([SCOPE[owner.kind]]),
      token_hash: hashOf(token),
      display: token.slice(0, 11),
      discord_id: owner.discordId,
      created_by: by,
      created_at: now,
      expires_at: expiresAt,
    });
    return { id, token, expiresAt, revoked };
  });
}

/** A token as its owner presents it, if it works now: known, of this kind with its scope, unrevoked, unexpired. */
export function usableToken(db: Database, token: string, kind: TokenKind, now: number): TokenRow | null {
  if (!/^plat_[A-Za-z0-9_-]{43}$/.test(token)) return null;
  const row = tokenByHash(db, hashOf(token));
  if (row === undefined || row.kind !== kind || row.revoked_at !== null || row.expires_at <= now) return null;
  if (!(JSON.parse(row.scopes) as string[]).includes(SCOPE[kind])) return null;
  if (row.last_used_at === null || now - row.last_used_at >= MINUTE) noteUse(db, row, now);
  return row;
}

/** When a token was last used is nice to know; a full disk must not keep its owner from stopping a pod. */
function noteUse(db: Database, row: TokenRow, now: number): void {
  try {
    touchToken(db, row.id, now);
  } catch (error) {
    if (!isDiskFailure(error)) throw error;
  }
}
