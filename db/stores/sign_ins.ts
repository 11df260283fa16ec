import type { Database } from "../database.ts";

export type SignInPurpose = "cli" | "officer" | "session";

export interface SignInRow {
  readonly cookie_hash: string;
  readonly state_hash: string;
  readonly verifier: string;
  readonly purpose: SignInPurpose;
  readonly org_id: number;
  readonly return_path: string;
  readonly expires_at: number;
}

export function insertSignIn(db: Database, row: SignInRow, now: number): void {
  db.tx(() => {
    db.run("delete from sign_ins where expires_at <= ?", now);
    db.run(
      "insert into sign_ins (cookie_hash, state_hash, verifier, purpose, org_id, return_path, created_at, expires_at) " +
        "values (?, ?, ?, ?, ?, ?, ?, ?)",
      row.cookie_hash,
      row.state_hash,
      row.verifier,
      row.purpose,
      row.org_id,
      row.return_path,
      now,
      row.expires_at,
    );
  });
}

/** Takes a sign-in out, so that its state works once. Undefined when unknown or over. */
export function takeSignIn(db: Database, cookieHash: string, now: number): SignInRow | undefined {
  return db.get("delete from sign_ins where cookie_hash = ? and expires_at > ? returning *", cookieHash, now);
}

export interface BrowserSessionRow {
  readonly discord_id: string;
  readonly username: string;
  readonly expires_at: number;
}

export function insertBrowserSession(
  db: Database,
  session: BrowserSessionRow & { token_hash: string },
  now: number,
): void {
  db.tx(() => {
    db.run("delete from browser_sessions where expires_at <= ?", now - 7 * 86_400_000);
    db.run(
      "insert into browser_sessions (token_hash, discord_id, username, created_at, expires_at) values (?, ?, ?, ?, ?)",
      session.token_hash,
      session.discord_id,
      session.username,
      now,
      session.expires_at,
    );
  });
}

export function browserSession(db: Database, tokenHash: string): BrowserSessionRow | undefined {
  return db.get("select discord_id, username, expires_at from browser_sessions where token_hash = ?", tokenHash);
}

export function deleteBrowserSession(db: Database, tokenHash: string): void {
  db.run("delete from browser_sessions where token_hash = ?", tokenHash);
}
