import { randomBytes } from "node:crypto";
import { type AuthorizeRequest, errorRedirect, redirectWith } from "./authorize_request.ts";
import type { VariantOf } from "./fault_catalogue.ts";
import type { Grants } from "./grants.ts";

/** What the browser brings back to the application. */
export type Outcome = "approve" | VariantOf<"D2">;

/** Whether a code that is good for somebody is made, so that a person must be named. */
export function needsPerson(outcome: Outcome): boolean {
  return ["approve", "no_state", "wrong_state", "expired_code"].includes(outcome);
}

const DENIED = "The resource owner or authorization server denied the request";

/** The address to send the browser to; a code is made for those outcomes that carry a good one. */
export function outcomeLocation(outcome: Outcome, request: AuthorizeRequest, userId: string, grants: Grants): string {
  const { redirectUri, state, scopes, challenge } = request;
  const newCode = (lifetime?: number) => grants.issueCode({ userId, redirectUri, scopes, challenge }, lifetime);
  switch (outcome) {
    case "approve":
      return redirectWith(redirectUri, { code: newCode(), state });
    case "cancel":
      return errorRedirect(request, "access_denied", DENIED);
    case "invalid_scope":
      return errorRedirect(request, "invalid_scope", "The requested scope is invalid, unknown, or malformed.");
    case "invalid_request":
      return errorRedirect(request, "invalid_request", "The request is missing a required parameter.");
    case "server_error":
      return errorRedirect(request, "server_error", "The authorization server met an unexpected condition.");
    case "html_description":
      return errorRedirect(request, "access_denied", `"><script>alert(1)</script><img src=x onerror=alert(2)>`);
    case "no_code":
      return redirectWith(redirectUri, { state });
    case "no_state":
      return redirectWith(redirectUri, { code: newCode() });
    case "wrong_state":
      return redirectWith(redirectUri, { code: newCode(), state: randomBytes(16).toString("base64url") });
    case "wrong_code":
      return redirectWith(redirectUri, { code: randomBytes(24).toString("base64url"), state });
    case "expired_code":
      return redirectWith(redirectUri, { code: newCode(0), state });
  }
}
