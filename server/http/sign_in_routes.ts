import { type Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { Database } from "../../db/database.ts";
import { type Org, orgById } from "../../db/stores/organizations.ts";
import {
  deleteBrowserSession,
  insertBrowserSession,
  insertSignIn,
  type SignInPurpose,
  type SignInRow,
  takeSignIn,
} from "../../db/stores/sign_ins.ts";
import type { Audit } from "../audit/write.ts";
import { type Clock, DAY, isoTime, MINUTE } from "../clock.ts";
import type { Directory } from "../discord/directory.ts";
import type { OAuth } from "../discord/oauth.ts";
import { OAuthError } from "../discord/oauth_error.ts";
import { AppError } from "../errors.ts";
import { standingOf } from "../identity/standing.ts";
import { hashOf, issueToken, randomText } from "../identity/tokens.ts";
import { describeError, type Log } from "../log.ts";
import { cookieName, isHttps, sessionCookie } from "./cookies.ts";
import type { Env } from "./env.ts";
import type { Guards } from "./guards.ts";
import { type Limits, networkOf } from "./limits.ts";
import { page } from "./pages.ts";

const SIGN_IN_MS = 10 * MINUTE;
const SESSION_MS = 7 * DAY;

export interface SignInDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly guards: Guards;
  readonly limits: Limits;
  readonly directory: Directory;
  /** Null when ACCOUNTS_BASE_URL, CLIENT_ID or CLIENT_SECRET is missing. */
  readonly oauth: OAuth | null;
  readonly baseUrl: string | null;
  readonly superadmins: ReadonlySet<string>;
  readonly cliName: string;
}

export const callbackPath = "/api/compute/cli/callback";

/**
 * The three browser sign-ins with Discord (decision 7): a CLI token, an officer token, or a session cookie. Which of the
 * three it is stays with the stored sign-in, never in an address that comes back from outside.
 */
export function signInRoutes(deps: SignInDeps) {
  const open = deps.guards.public;
  return new Hono<Env>()
    .get("/cli/callback", open, (c) => finish(deps, c))
    .get("/:org/cli/login", open, (c) => start(deps, c, "cli"))
    .get("/:org/officer/login", open, (c) => start(deps, c, "officer"))
    .get("/:org/session/login", open, (c) => start(deps, c, "session"))
    .post("/:org/session/logout", deps.guards.sessionOwner, (c) => {
      const cookie = getCookie(c, sessionCookie(deps.baseUrl));
      if (cookie !== undefined) deleteBrowserSession(deps.db, hashOf(cookie));
      deleteCookie(c, sessionCookie(deps.baseUrl), cookieOptions(deps));
      return c.json({ signed_out: true });
    });
}

const cookieOptions = (deps: SignInDeps) => ({ path: "/", secure: isHttps(deps.baseUrl) });

const message = (status: number, text: string) => page({ title: "orgpods", paragraphs: [text] }, status);

/** A relative path of this server to return to; anything else becomes `/`. */
export function safeReturnPath(text: string | undefined): string {
  return text !== undefined && /^\/(?![/\\])[\x21-\x7e]{0,500}$/.test(text) && !text.includes("\\") ? text : "/";
}

async function start(deps: SignInDeps, c: Context<Env>, purpose: SignInPurpose): Promise<Response> {
  const org = c.get("org");
  if (org === undefined || !org.isActive) return message(404, "Organization not found.");
  if (deps.oauth === null || deps.baseUrl === null) {
    return message(503, "This server has no ACCOUNTS_BASE_URL, so Discord sign-in is not set up.");
  }
  try {
    deps.limits.signIn.take(networkOf(c.get("addressOf")()));
    deps.limits.allSignIns.take("");
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const answer = await message(429, "Too many sign-ins from this address. Try again in a few minutes.");
    answer.headers.set("retry-after", String(error.details.retryAfter ?? 60));
    return answer;
  }
  const started = await deps.oauth.start(deps.baseUrl + callbackPath);
  const cookie = randomText();
  const now = deps.clock.now();
  insertSignIn(deps.db, {
    cookie_hash: hashOf(cookie),
    state_hash: hashOf(started.state),
    verifier: started.verifier,
    purpose,
    org_id: org.id,
    return_path: safeReturnPath(c.req.query("return")),
    expires_at: now + SIGN_IN_MS,
  }, now);
  setCookie(c, cookieName(deps.baseUrl, "orgpods_sign_in"), cookie, {
    ...cookieOptions(deps),
    httpOnly: true,
    sameSite: "Lax",
    maxAge: SIGN_IN_MS / 1000,
  });
  c.header("cache-control", "no-store");
  return c.redirect(started.url, 302);
}

async function finish(deps: SignInDeps, c: Context<Env>): Promise<Response> {
  if (deps.oauth === null || deps.baseUrl === null) {
    return message(503, "This server has no ACCOUNTS_BASE_URL, so Discord sign-in is not set up.");
  }
  const cookie = getCookie(c, cookieName(deps.baseUrl, "orgpods_sign_in"));
  const signIn = cookie === undefined ? undefined : takeSignIn(deps.db, hashOf(cookie), deps.clock.now());
  const again = signIn === undefined || signIn.purpose === "cli" ? `Run ${deps.cliName} auth again.` : "Sign in again.";
  const state = c.req.query("state") ?? "";
  if (signIn === undefined || hashOf(state) !== signIn.state_hash) {
    return message(400, `This sign-in was not started here, or was cancelled. ${again}`);
  }
  const org = orgById(deps.db, signIn.org_id);
  if (org === undefined || !org.isActive) return message(404, "Organization not found.");
  if (!org.computeEnabled) return message(404, "Compute is turned off for this organization.");
  try {
    const person = await deps.oauth.finish({
      callback: new URL(c.req.url).searchParams,
      state,
      verifier: signIn.verifier,
      redirectUri: deps.baseUrl + callbackPath,
    });
    return await grant(deps, c, org, signIn, person);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    deps.log.warn("A sign-in with Discord did not end well", { org: org.prefix, error: describeError(error) });
    switch (error.reason) {
      case "cancelled":
      case "bad_callback":
        return message(400, `This sign-in was not started here, or was cancelled. ${again}`);
      case "exchange_failed":
        return message(502, `Discord sign-in failed. ${again}`);
      case "unavailable":
        return message(503, "Discord is not available right now. Try again shortly.");
    }
  }
}

async function grant(
  deps: SignInDeps,
  c: Context<Env>,
  org: Org,
  signIn: SignInRow,
  person: { readonly id: string; readonly username: string },
): Promise<Response> {
  deps.directory.forget(org.guildId, person.id);
  const membership = await deps.directory.member(org.guildId, person.id, { timeoutMs: 8_000 });
  const standing = standingOf(org, deps.superadmins, person.id, membership);
  if (standing.unknown !== null) {
    deps.log.warn("Discord could not tell whether somebody is a member", { org: org.prefix, hint: standing.unknown });
    return message(503, "Discord is not available right now. Try again shortly.");
  }
  if (signIn.purpose === "officer" && !standing.isOfficer) {
    note(deps, c, org, person, "compute officer token refused", 403, "not_an_officer");
    return message(403, `You need to be an officer of ${org.name} to get this token.`);
  }
  const mayEnter = standing.isMember || (signIn.purpose === "session" && standing.isOfficer);
  if (signIn.purpose !== "officer" && !mayEnter) {
    return message(403, `You need to be in the ${org.name} Discord server to use its pods.`);
  }
  if (signIn.purpose === "session") return openSession(deps, c, org, signIn, person);
  const kind = signIn.purpose;
  const issued = deps.db.tx(() => {
    const token = issueToken(
      deps.db,
      { orgId: org.id, kind, discordId: person.id, name: kind === "cli" ? "godfather cli" : "officer sign-in" },
      person.id,
      deps.clock.now(),
    );
    note(deps, c, org, person, `compute ${kind} token issued`, 200, "ok");
    return token;
  });
  const what = kind === "cli"
    ? `Copy this token, run ${deps.cliName} auth and paste it when asked. It is shown once and works for 90 days.`
    : "Copy this officer token. Paste it where orgpods admin asks for it, or set it as ORGPODS_TOKEN for the other orgpods " +
      `commands on your computer. It is shown once and works until ${
        isoTime(issued.expiresAt).slice(0, 10)
      }. Whoever has it can create, stop and delete pods in your name.`;
  return page({ title: `Signed in to ${org.name}.`, paragraphs: [what], box: issued.token });
}

function openSession(
  deps: SignInDeps,
  c: Context<Env>,
  org: Org,
  signIn: SignInRow,
  person: { readonly id: string; readonly username: string },
): Response {
  const cookie = randomText();
  const now = deps.clock.now();
  deps.db.tx(() => {
    insertBrowserSession(deps.db, {
      token_hash: hashOf(cookie),
      discord_id: person.id,
      username: person.username,
      expires_at: now + SESSION_MS,
    }, now);
    note(deps, c, org, person, "compute session opened", 200, "ok");
  });
  setCookie(c, sessionCookie(deps.baseUrl), cookie, {
    ...cookieOptions(deps),
    httpOnly: true,
    sameSite: "Lax",
    maxAge: SESSION_MS / 1000,
  });
  c.header("cache-control", "no-store");
  return c.redirect(signIn.return_path, 302);
}

function note(
  deps: SignInDeps,
  c: Context<Env>,
  org: Org,
  person: { readonly id: string; readonly username: string },
  action: string,
  status: number,
  outcome: string,
): void {
  deps.audit.write({
    source: "http",
    action,
    orgPrefix: org.prefix,
    actorKind: "member",
    actorId: person.id,
    actorName: person.username,
    address: c.get("addressOf")(),
    status,
    outcome,
  });
}
