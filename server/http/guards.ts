import type { Context, MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import type { Database } from "../../db/database.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { browserSession } from "../../db/stores/sign_ins.ts";
import type { TokenRow } from "../../db/stores/tokens.ts";
import type { Audit } from "../audit/write.ts";
import { type Clock, MINUTE } from "../clock.ts";
import type { Directory } from "../discord/directory.ts";
import { AppError } from "../errors.ts";
import type { PersonCaller } from "../identity/callers.ts";
import { type Standing, standingOf } from "../identity/standing.ts";
import { hashOf, usableToken } from "../identity/tokens.ts";
import type { Log } from "../log.ts";
import type { Env } from "./env.ts";
import { createLimit, type Limits, networkOf } from "./limits.ts";

/** Which guard stands at a route; a test walks all routes and fails on one without. */
export type GuardName =
  | "officer"
  | "member"
  | "operator"
  | "superadmin"
  | "signed_in"
  | "token_owner"
  | "session_owner"
  | "public";

export type Guard = MiddlewareHandler<Env> & { readonly guard: GuardName };

export interface GuardDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly directory: Directory;
  readonly superadmins: ReadonlySet<string>;
  readonly cliName: string;
  /** The server's public address; null where sign-in is not set up. */
  readonly baseUrl: string | null;
  /** The name of the session cookie, with `__Host-` on https. */
  readonly sessionCookie: string;
  readonly limits: Limits;
  readonly audit: Audit;
  readonly log: Log;
}

/** Work that starts while Discord is asked whether the caller is a member, if it is asked. It must not throw. */
export type Meanwhile = (c: Context<Env>, org: Org) => void;

export interface Guards {
  /** Officers of this org (token, session), superadmins and the operator. Contract 3.2. */
  readonly officer: Guard;
  /** Members of this org's Discord server (CLI token, session). Contract 3.3. */
  member(options?: { readonly discordMs?: number; readonly meanwhile?: Meanwhile }): Guard;
  /** The operator alone. */
  readonly operator: Guard;
  /** The operator or a superadmin: who may change who is an officer. */
  readonly superadmin: Guard;
  /** Anybody with a credential of this org. */
  readonly signedIn: Guard;
  /** The owner of a working CLI token; Discord is not asked, so a token can always be given back. */
  readonly tokenOwner: Guard;
  /** The owner of a session cookie; Discord is not asked, so that who left the server can still sign out. */
  readonly sessionOwner: Guard;
  /** No check: pages, health. Named, so that a forgotten guard is not taken for it. */
  readonly public: Guard;
}

interface Credential {
  readonly discordId: string;
  readonly via: "token" | "session";
  readonly token: TokenRow | null;
}

const NOT_OFFICER = "You are not an officer of this organization";
const DISCORD_DOWN = "Discord is not available; try again shortly";

export function createGuards(deps: GuardDeps): Guards {
  const { db, clock, directory, superadmins, limits, audit, log } = deps;
  const refused = createLimit({ tries: 30, windowMs: MINUTE, what: "refusals" }, clock);
  const strangers = createLimit({ tries: 100, windowMs: MINUTE, what: "refusals" }, clock);

  const bearer = (c: Context<Env>): string | null => {
    const header = c.req.header("authorization");
    return header === undefined ? null : /^Bearer (.*)$/s.exec(header)?.[1] ?? "";
  };

  /** Tokens and cookies that nobody was given are counted, so that guesses fill neither the audit nor the disk. */
  const unknownSecret = (c: Context<Env>, code: "token_invalid" | "session_invalid", message: string): AppError => {
    if (limits.badToken.try(networkOf(c.get("addressOf")()))) return new AppError(code, message);
    return new AppError("rate_limited", "Too many bad tokens from this address", { retryAfter: 60 });
  };

  /** The session cookie; a request that writes must come from our own pages. */
  const session = (c: Context<Env>, missing: string): Credential => {
    const cookie = getCookie(c, deps.sessionCookie);
    if (cookie === undefined) throw new AppError("sign_in_required", missing);
    const row = browserSession(db, hashOf(cookie));
    if (row === undefined) throw unknownSecret(c, "session_invalid", "Session token is invalid!");
    if (row.expires_at <= clock.now()) throw new AppError("session_expired", "Session token has expired!");
    if (c.req.method !== "GET" && c.req.method !== "HEAD") refuseCrossSite(c);
    return { discordId: row.discord_id, via: "session", token: null };
  };

  const activeOrg = (c: Context<Env>): Org => {
    const org = c.get("org");
    if (org === undefined || !org.isActive) throw new AppError("org_not_found", "Organization not found");
    return org;
  };

  const officerCredential = (c: Context<Env>): Credential => {
    const text = bearer(c);
    if (text === null) return session(c, "Authentication required!");
    const token = usableToken(db, text, "officer", clock.now());
    if (token === null || token.org_id !== c.get("org")?.id) {
      throw hintToMember(c, text) ?? unknownSecret(c, "token_invalid", "Token is invalid!");
    }
    return { discordId: token.discord_id, via: "token", token };
  };

  /** Whoever holds a working token of a member of this org may know what it is; of any other token nothing is told. */
  const hintToMember = (c: Context<Env>, text: string): AppError | null => {
    const org = c.get("org");
    const token = usableToken(db, text, "cli", clock.now());
    if (org === undefined || token === null || token.org_id !== org.id) return null;
    const page = `${deps.baseUrl ?? ""}/api/compute/${org.prefix}/officer/login`;
    const hint = `This is a member's token; officers get one for this at ${page}`;
    return new AppError("token_invalid", "Token is invalid!", { extra: { hint } });
  };

  const memberCredential = (c: Context<Env>, org: Org): Credential => {
    const text = bearer(c);
    if (text === null || !text.startsWith("plat_")) return session(c, "Discord authentication required");
    const token = usableToken(db, text, "cli", clock.now());
    if (token === null || token.org_id !== org.id) {
      throw unknownSecret(c, "token_invalid", `The CLI token is invalid or expired. Run ${deps.cliName} auth again.`);
    }
    return { discordId: token.discord_id, via: "token", token };
  };

  const askDiscord = async (org: Org, discordId: string, timeoutMs: number): Promise<Standing> => {
    // Most answers are kept ones: they need no timer.
    const membership = directory.cachedMember(org.guildId, discordId) ??
      await directory.member(org.guildId, discordId, { timeoutMs });
    return standingOf(org, superadmins, discordId, membership);
  };

  const person = (standing: Standing, credential: Credential, kind: "officer" | "member"): PersonCaller => ({
    kind,
    discordId: credential.discordId,
    username: standing.username,
    name: standing.name,
    isOfficer: standing.isOfficer,
    isSuperadmin: superadmins.has(credential.discordId),
    via: credential.via,
    tokenId: credential.token?.id ?? null,
  });

  const discordDown = (org: Org, hint: string): AppError => {
    log.warn("Discord could not tell whether somebody is a member", { org: org.prefix, hint });
    return new AppError("discord_unavailable", DISCORD_DOWN, { hint });
  };

  const officerOf = async (c: Context<Env>, credential: Credential): Promise<PersonCaller> => {
    const org = activeOrg(c);
    if (superadmins.has(credential.discordId)) {
      const known = directory.cachedMember(org.guildId, credential.discordId);
      const named = standingOf(org, superadmins, credential.discordId, known ?? { kind: "not_member" });
      return person({ ...named, isOfficer: true }, credential, "officer");
    }
    const standing = await askDiscord(org, credential.discordId, 8_000);
    if (standing.unknown !== null) throw discordDown(org, standing.unknown);
    if (!standing.isOfficer) {
      throw new AppError("not_an_officer", NOT_OFFICER);
    }
    return person(standing, credential, "officer");
  };

  const memberOf = async (
    c: Context<Env>,
    options: { readonly discordMs?: number; readonly meanwhile?: Meanwhile },
  ): Promise<PersonCaller> => {
    const org = activeOrg(c);
    if (c.env.peer?.isOperator) {
      throw new AppError("no_discord_user", "This credential is not tied to a Discord user");
    }
    const credential = memberCredential(c, org);
    if (directory.cachedMember(org.guildId, credential.discordId) === null) options.meanwhile?.(c, org);
    const standing = await askDiscord(org, credential.discordId, options.discordMs ?? 3_000);
    if (standing.unknown !== null) throw discordDown(org, standing.unknown);
    if (!standing.isMember) {
      throw new AppError(
        "not_a_member",
        credential.via === "token"
          ? "You are no longer a member of this organization"
          : "You must be a member of this organization to access this resource",
      );
    }
    return person(standing, credential, "member");
  };

  /** The audit keeps each refused try to act as an officer by somebody who showed a credential. */
  const noteRefusal = (c: Context<Env>, error: unknown, who: string | null): void => {
    if (!(error instanceof AppError)) return;
    if (error.code === "sign_in_required" || error.code === "rate_limited" || error.code === "org_not_found") return;
    // An outage of Discord refuses every look of every officer; only refused changes are worth a row.
    if (error.code === "discord_unavailable" && c.req.method === "GET") return;
    // Rows are limited, for nobody in particular and for each person, so that refusals cannot fill the disk.
    if (!(who === null ? strangers.try("") : refused.try(who))) return;
    audit.note({
      source: "api",
      action: `${c.req.method} ${c.req.path}`,
      orgPrefix: c.get("org")?.prefix ?? null,
      actorKind: "stranger",
      actorId: who,
      address: c.get("addressOf")(),
      status: error.status,
      outcome: error.code,
    });
  };

  /** Somebody by their credential alone, of whom Discord was not asked. */
  const owner = ({ discordId, via, token }: Credential): PersonCaller => ({
    kind: "member",
    discordId,
    username: "",
    name: discordId,
    isOfficer: false,
    isSuperadmin: false,
    via,
    tokenId: token?.id ?? null,
  });

  const guard = (name: GuardName, check: (c: Context<Env>) => Promise<void> | void): Guard =>
    Object.assign(
      async (c: Context<Env>, next: () => Promise<void>) => {
        await check(c);
        await next();
      },
      { guard: name },
    );

  const asOfficer = async (c: Context<Env>): Promise<void> => {
    if (c.env.peer?.isOperator) {
      activeOrg(c);
      return c.set("caller", { kind: "operator", account: c.env.peer.account });
    }
    let who: string | null = null;
    try {
      const credential = officerCredential(c);
      who = credential.discordId;
      c.set("caller", await officerOf(c, credential));
    } catch (error) {
      noteRefusal(c, error, who);
      throw error;
    }
  };

  return {
    officer: guard("officer", asOfficer),
    member: (options = {}) => guard("member", async (c) => c.set("caller", await memberOf(c, options))),
    operator: guard("operator", (c) => {
      if (!c.env.peer?.isOperator) {
        throw new AppError("not_the_operator", "Only the operator on the server itself may do this");
      }
      c.set("caller", { kind: "operator", account: c.env.peer.account });
    }),
    superadmin: guard("superadmin", async (c) => {
      await asOfficer(c);
      const caller = c.get("caller");
      if (caller?.kind === "operator" || caller?.isSuperadmin) return;
      const refusal = new AppError(
        "not_the_operator",
        "Only the operator or a superadmin may change who is an officer",
      );
      noteRefusal(c, refusal, caller?.discordId ?? null);
      throw refusal;
    }),
    signedIn: guard("signed_in", async (c) => {
      if (c.env.peer?.isOperator) return await asOfficer(c);
      const token = bearer(c);
      const isOfficerToken = token !== null && usableToken(db, token, "officer", clock.now()) !== null;
      if (isOfficerToken) return await asOfficer(c);
      c.set("caller", await memberOf(c, {}));
    }),
    tokenOwner: guard("token_owner", (c) => {
      const org = activeOrg(c);
      const text = bearer(c);
      const credential = text === null ? null : memberCredential(c, org);
      if (credential === null || credential.token === null) {
        throw new AppError("sign_in_required", "Send the CLI token that is to be revoked");
      }
      c.set("caller", owner(credential));
    }),
    sessionOwner: guard("session_owner", (c) => {
      activeOrg(c);
      c.set("caller", owner(session(c, "Discord authentication required")));
    }),
    public: guard("public", () => {}),
  };
}

/**
 * Stands behind a guard at a route that reads and yet costs something: with a session cookie it is for the server's own
 * pages, so that a link or an image of another site cannot make an officer's browser ask. What a browser says of itself
 * decides; typing the address is no other site.
 */
export const ownPages: MiddlewareHandler<Env> = async (c, next) => {
  const caller = c.get("caller");
  const site = c.req.header("sec-fetch-site");
  const isForeign = site !== undefined && site !== "same-origin" && site !== "none";
  if (isForeign && caller !== undefined && caller.kind !== "operator" && caller.via === "session") {
    throw new AppError("cross_site_refused", "This request must come from this server's own pages");
  }
  await next();
};

function refuseCrossSite(c: Context<Env>): void {
  const site = c.req.header("sec-fetch-site");
  const origin = c.req.header("origin");
  const own = new URL(c.req.url).host;
  const sameOrigin = origin !== undefined && URL.parse(origin)?.host === (c.req.header("host") ?? own);
  if (sameOrigin && (site === undefined || site === "same-origin")) return;
  throw new AppError("cross_site_refused", "A request that changes something must come from this server's own pages");
}
