import type { Database } from "../database.ts";

export type TokenKind = "cli" | "officer";

export interface TokenRow {
  readonly id: number;
  readonly org_id: number;
  readonly kind: TokenKind;
  readonly name: string;
  readonly scopes: string;
  readonly display: string;
  readonly discord_id: string;
  readonly created_by: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

const COLUMNS = "id, org_id, kind, name, scopes, display, discord_id, created_by, created_at, expires_at, " +
  "last_used_at, revoked_at";

export function tokenByHash(db: Database, hash: string): TokenRow | undefined {
  return db.get(`select ${COLUMNS} from machine_tokens where token_hash = ?`, hash);
}

export function insertToken(
  db: Database,
  token: Omit<TokenRow, "id" | "last_used_at" | "revoked_at"> & { token_hash: string },
): number {
  return db.get<{ id: number }>(
    "insert into machine_tokens (org_id, kind, name, scopes, token_hash, display, discord_id, created_by, created_at, " +
      "expires_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id",
    token.org_id,
    token.kind,
    token.name,
    token.scopes,
    token.token_hash,
    token.display,
    token.discord_id,
    token.created_by,
    token.created_at,
    token.expires_at,
  )!.id;
}

/** Revokes what is unrevoked of one person, org and kind; returns how many. */
export function revokeTokensOf(
  db: Database,
  owner: { orgId: number; kind: TokenKind; discordId: string },
  by: string,
  now: number,
): number {
  return db.run(
    "update machine_tokens set revoked_at = ?, revoked_by = ? " +
      "where org_id = ? and kind = ? and discord_id = ? and revoked_at is null",
    now,
    by,
    owner.orgId,
    owner.kind,
    owner.discordId,
  );
}

export function revokeToken(db: Database, orgId: number, id: number, by: string, now: number): boolean {
  return db.run(
    "update machine_tokens set revoked_at = ?, revoked_by = ? where org_id = ? and id = ? and revoked_at is null",
    now,
    by,
    orgId,
    id,
  ) > 0;
}

export function tokenById(db: Database, orgId: number, id: number): TokenRow | undefined {
  return db.get(`select ${COLUMNS} from machine_tokens where org_id = ? and id = ?`, orgId, id);
}

/** Tokens that still work, newest first. */
export function liveTokens(db: Database, orgId: number, now: number): TokenRow[] {
  return db.all(
    `select ${COLUMNS} from machine_tokens where org_id = ? and revoked_at is null and expires_at > ? order by id desc`,
    orgId,
    now,
  );
}

export function touchToken(db: Database, id: number, now: number): void {
  db.run("update machine_tokens set last_used_at = ? where id = ?", now, id);
}
