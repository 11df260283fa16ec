/** Signing in with Discord: OAuth 2.0 authorization code with PKCE (S256) and the client secret in the form. */
import * as oauth from "oauth4webapi";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { CALL_LIMIT, createClient } from "./client.ts";
import { checkedEndpoint, userAgent } from "./endpoint.ts";
import { plainName } from "./names.ts";
import { boundedFetch, exchangeProblem, isUnavailable, wordOf } from "./oauth_answers.ts";
import { OAuthError } from "./oauth_error.ts";
import { judge } from "./outcome.ts";
import { userSchema } from "./schema.ts";

export { OAuthError } from "./oauth_error.ts";

const SCOPE = "identify";

export interface OAuthOptions {
  /** Base of the REST API, ending in /api/v10. */
  readonly apiUrl: string;
  /** Origin of Discord's own pages: https://discord.com. */
  readonly siteUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetch?: typeof fetch;
}

/** What the caller keeps of a started sign-in (both are secret) and where it sends the browser. */
export interface StartedSignIn {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

export interface Identity {
  readonly id: string;
  readonly username: string;
  readonly globalName: string | null;
}

export interface OAuth {
  start(redirectUri: string): Promise<StartedSignIn>;
  /**
   * Checks the callback against the kept state, exchanges the code (once: a code is single use), reads who it is,
   * and revokes the tokens. Nothing of Discord's is kept.
   *
   * @throws OAuthError with the reason
   */
  finish(o: { callback: URLSearchParams; state: string; verifier: string; redirectUri: string }): Promise<Identity>;
}

/** @throws AppError `usage` for addresses that a secret must not be sent to */
export function createOAuth(o: OAuthOptions): OAuth {
  const api = checkedEndpoint("DISCORD_API_URL", o.apiUrl);
  const site = checkedEndpoint("DISCORD_URL", o.siteUrl);
  const server: oauth.AuthorizationServer = {
    issuer: site.href,
    authorization_endpoint: `${site.href}/oauth2/authorize`,
    token_endpoint: `${api.href}/oauth2/token`,
    revocation_endpoint: `${api.href}/oauth2/token/revoke`,
  };
  const client: oauth.Client = { client_id: o.clientId };
  const secret = oauth.ClientSecretPost(o.clientSecret);

  const callOptions = () => ({
    signal: AbortSignal.timeout(CALL_LIMIT),
    [oauth.customFetch]: boundedFetch(o.fetch, userAgent(o.version)),
    // Only ever true for a stand-in on loopback, see checkedEndpoint.
    [oauth.allowInsecureRequests]: api.insecure,
  });

  function checkedCallback(callback: URLSearchParams, state: string): URLSearchParams {
    try {
      const parameters = oauth.validateAuthResponse(server, client, callback, state);
      if (parameters.getAll("code").length !== 1 || parameters.get("code") === "") throw new OAuthError("bad_callback");
      return parameters;
    } catch (error) {
      if (error instanceof oauth.AuthorizationResponseError) {
        o.log.info("Discord ended a sign-in", { error: wordOf(error.error) });
        throw new OAuthError(error.error === "access_denied" ? "cancelled" : "bad_callback");
      }
      if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError) {
        throw new OAuthError("bad_callback");
      }
      throw error;
    }
  }

  async function exchange(code: URLSearchParams, verifier: string, redirectUri: string) {
    try {
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        secret,
        code,
        redirectUri,
        verifier,
        callOptions(),
      );
      if (isUnavailable(response)) {
        o.log.warn("Discord did not answer the code exchange", { status: response.status });
        throw new OAuthError("unavailable");
      }
      return await oauth.processAuthorizationCodeResponse(server, client, response);
    } catch (error) {
      if (error instanceof OAuthError) throw error;
      const problem = exchangeProblem(error);
      o.log.warn("The code exchange with Discord failed", { ...problem });
      throw new OAuthError(problem.reason);
    }
  }

  async function identify(accessToken: string): Promise<Identity> {
    const user = createClient({
      endpoint: api,
      version: o.version,
      authorization: `Bearer ${accessToken}`,
      clock: o.clock,
      fetch: o.fetch ?? fetch,
    });
    const answer = await user.get({ route: "identity", guildId: null, path: ["users", "@me"] });
    const outcome = judge(answer, null);
    if (outcome.kind !== "ok") {
      // The access token was refused (401, or 403 50026 for a scope that is missing): sign in again.
      const refused = answer.kind === "json" && (answer.status === 401 || answer.status === 403);
      o.log.warn("Discord did not say who signed in", { status: "status" in answer ? answer.status : null });
      throw new OAuthError(refused ? "exchange_failed" : "unavailable");
    }
    const body = userSchema.safeParse(outcome.body);
    if (!body.success) {
      o.log.warn("Discord sent an identity in an unexpected form");
      throw new OAuthError("unavailable");
    }
    const { id, username, global_name } = body.data;
    return { id, username: plainName(username) || id, globalName: plainName(global_name ?? "") || null };
  }

  /** Revokes every token of this authorization. A failure is logged and does not stop the sign-in. */
  async function revoke(accessToken: string): Promise<void> {
    try {
      const response = await oauth.revocationRequest(server, client, secret, accessToken, {
        ...callOptions(),
        additionalParameters: { token_type_hint: "access_token" },
      });
      await oauth.processRevocationResponse(response);
    } catch (error) {
      o.log.warn("The Discord tokens of a sign-in could not be revoked", { ...exchangeProblem(error) });
    }
  }

  return {
    async start(redirectUri) {
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const url = new URL(server.authorization_endpoint!);
      url.search = new URLSearchParams({
        response_type: "code",
        client_id: o.clientId,
        scope: SCOPE,
        redirect_uri: redirectUri,
        state,
        prompt: "consent",
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      }).toString();
      return { url: url.href, state, verifier };
    },

    async finish({ callback, state, verifier, redirectUri }) {
      const code = checkedCallback(callback, state);
      const tokens = await exchange(code, verifier, redirectUri);
      try {
        if (!(tokens.scope ?? "").split(" ").includes(SCOPE)) {
          o.log.warn("Discord granted a sign-in without the scope identify");
          throw new OAuthError("exchange_failed");
        }
        return await identify(tokens.access_token);
      } finally {
        await revoke(tokens.access_token);
      }
    },
  };
}
