import { createHash, randomBytes } from "node:crypto";
import { type Clock, DAY, MINUTE } from "../../clock.ts";

/** How long a code is good. Discord only says that it is short. */
export const CODE_LIFETIME = MINUTE;
/** How long an access token is good: `expires_in` 604800. */
export const TOKEN_LIFETIME = 7 * DAY;

/** What a code is tied to. */
export interface CodeTerms {
  readonly userId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** base64url of the verifier's SHA-256, or null when none was sent. */
  readonly challenge: string | null;
}

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly scopes: readonly string[];
}

export interface AccessGrant {
  readonly userId: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
}

export type Redeemed =
  | { readonly ok: true; readonly tokens: Tokens }
  | { readonly ok: false; readonly error: "invalid_grant" | "invalid_request"; readonly description: string };

/** Codes and tokens. All tokens of one user form one authorization, which is revoked as a whole. */
export interface Grants {
  issueCode(terms: CodeTerms, lifetime?: number): string;
  /** Uses the code up, whatever comes of it. `scopes` replaces what was granted. */
  redeem(code: string, redirectUri: string, verifier: string | null, scopes?: readonly string[]): Redeemed;
  refresh(refreshToken: string): Tokens | undefined;
  access(token: string): AccessGrant | undefined;
  /** Revokes every token of the authorization that the token belongs to; an unknown token changes nothing. */
  revoke(token: string): void;
  /** Every code and token ever made, so that a test can look for them in logs. */
  issued(): string[];
}

export function createGrants(clock: Clock): Grants {
  const codes = new Map<string, CodeTerms & { expiresAt: number }>();
  const access = new Map<string, AccessGrant>();
  const refresh = new Map<string, AccessGrant>();
  const issued: string[] = [];

  function secret(): string {
    const value = randomBytes(24).toString("base64url");
    issued.push(value);
    return value;
  }

  function tokensFor(userId: string, scopes: readonly string[]): Tokens {
    const grant = { userId, scopes, expiresAt: clock.now() + TOKEN_LIFETIME };
    const tokens = { accessToken: secret(), refreshToken: secret(), scopes };
    access.set(tokens.accessToken, grant);
    refresh.set(tokens.refreshToken, grant);
    return tokens;
  }

  return {
    issueCode(terms, lifetime = CODE_LIFETIME) {
      const code = secret();
      codes.set(code, { ...terms, expiresAt: clock.now() + lifetime });
      return code;
    },
    redeem(code, redirectUri, verifier, scopes) {
      const terms = codes.get(code);
      codes.delete(code);
      if (!terms || clock.now() >= terms.expiresAt || terms.redirectUri !== redirectUri) {
        return { ok: false, error: "invalid_grant", description: 'Invalid "code" in request.' };
      }
      const fault = verifierFault(terms.challenge, verifier);
      if (fault) return { ok: false, error: "invalid_request", description: fault };
      return { ok: true, tokens: tokensFor(terms.userId, scopes ?? terms.scopes) };
    },
    refresh(token) {
      const grant = refresh.get(token);
      if (!grant) return undefined;
      refresh.delete(token);
      return tokensFor(grant.userId, grant.scopes);
    },
    access(token) {
      const grant = access.get(token);
      return grant && clock.now() < grant.expiresAt ? grant : undefined;
    },
    revoke(token) {
      const userId = (access.get(token) ?? refresh.get(token))?.userId;
      if (userId === undefined) return;
      for (const tokens of [access, refresh]) {
        for (const [key, grant] of tokens) if (grant.userId === userId) tokens.delete(key);
      }
    },
    issued: () => [...issued],
  };
}

/** What Discord says against a verifier, or null for a good one. */
function verifierFault(challenge: string | null, verifier: string | null): string | null {
  if (challenge === null) return verifier === null ? null : 'Invalid "code_verifier"';
  if (verifier === null) return 'Missing "code_verifier"';
  const wellFormed = /^[A-Za-z0-9\-._~]{43,128}$/.test(verifier);
  const fits = createHash("sha256").update(verifier).digest("base64url") === challenge;
  return wellFormed && fits ? null : 'Invalid "code_verifier"';
}
