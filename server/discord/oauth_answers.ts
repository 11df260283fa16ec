/** What may be said and logged about the answers of the OAuth endpoints: words of a closed list, never their text. */
import * as oauth from "oauth4webapi";
import type { OAuthReason } from "./oauth_error.ts";
import { isNetworkError, MAX_BODY, readCapped, saysJson } from "./request.ts";

/** Error words of RFC 6749 and 7009. An answer's own text could quote the code or the token that was sent. */
const WORDS = new Set([
  "access_denied",
  "invalid_client",
  "invalid_grant",
  "invalid_request",
  "invalid_scope",
  "server_error",
  "temporarily_unavailable",
  "unauthorized_client",
  "unsupported_grant_type",
  "unsupported_response_type",
  "unsupported_token_type",
]);

const BAD_CLIENT = "CLIENT_ID or CLIENT_SECRET is wrong.";

/** The error word if it is a known one, else "other". */
export function wordOf(error: string): string {
  return WORDS.has(error) ? error : "other";
}

/**
 * The fetch of the OAuth library: it names the agent and reads the body once, capped, so that the library only sees
 * memory. Deno's own fetch sends a request a second time, POST included, when a connection it had kept is cut before
 * the answer. A code is single use, so each call gets a connection of its own. `given` replaces Deno's fetch.
 */
export function boundedFetch(given: typeof fetch | undefined, agent: string) {
  return async (url: string, init: oauth.CustomFetchOptions<string, unknown>): Promise<Response> => {
    using connection = given === undefined ? Deno.createHttpClient({ poolMaxIdlePerHost: 0 }) : null;
    const response = await (given ?? fetch)(url, {
      ...init as RequestInit,
      headers: { ...init.headers, "user-agent": agent },
      ...(connection === null ? {} : { client: connection }),
    });
    const bytes = await readCapped(response, MAX_BODY);
    if (bytes === null) throw new TypeError("The answer is larger than orgpods reads");
    const { status, headers } = response;
    // A body of no bytes is left out: some statuses may not have one.
    return new Response(bytes.byteLength === 0 ? null : bytes, { status, headers });
  };
}

/** True for an answer of the token endpoint that is not Discord's word on the code: overload, or a page of a proxy. */
export function isUnavailable(response: Response): boolean {
  return response.status === 429 || response.status >= 500 || response.status < 200 || !saysJson(response.headers);
}

export interface ExchangeProblem {
  readonly reason: OAuthReason;
  readonly error: string;
  readonly status?: number;
  readonly hint?: string;
}

/** What went wrong at an OAuth endpoint, without anything secret; anything that is no such failure is thrown on. */
export function exchangeProblem(error: unknown): ExchangeProblem {
  if (error instanceof oauth.ResponseBodyError) {
    const hint = error.error === "invalid_client" ? { hint: BAD_CLIENT } : {};
    return { reason: "exchange_failed", error: wordOf(error.error), status: error.status, ...hint };
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    return { reason: "exchange_failed", error: "invalid_client", status: error.status, hint: BAD_CLIENT };
  }
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError) {
    return { reason: "exchange_failed", error: "unexpected_answer" };
  }
  if (error instanceof DOMException && (error.name === "TimeoutError" || error.name === "AbortError")) {
    return { reason: "unavailable", error: "timeout" };
  }
  if (isNetworkError(error)) return { reason: "unavailable", error: "network" };
  throw error;
}
