import type { Application } from "./parts.ts";

/** What an application asks a person to allow. */
export interface AuthorizeRequest {
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string | null;
  readonly challenge: string | null;
}

export type CheckedRequest =
  | { readonly kind: "ok"; readonly request: AuthorizeRequest }
  /** Discord shows its own page: there is no address that could be trusted with a redirect. */
  | { readonly kind: "page"; readonly sentence: string }
  /** The browser goes back to the application at once. */
  | { readonly kind: "redirect"; readonly location: string };

const SCOPES = new Set([
  "identify",
  "email",
  "guilds",
  "guilds.join",
  "guilds.members.read",
  "connections",
  "openid",
  "role_connections.write",
]);

/** Checks the query of `/oauth2/authorize`. */
export function checkAuthorize(query: URLSearchParams, application: Application): CheckedRequest {
  const names = [...query.keys()];
  if (new Set(names).size < names.length) return page("A parameter is there twice.");
  if (query.get("client_id") !== application.clientId) return page("Unknown application: the client_id is wrong.");
  const redirectUri = query.get("redirect_uri");
  if (redirectUri === null || !application.redirectUris.includes(redirectUri)) {
    return page("Invalid OAuth2 redirect_uri: it must equal one of the application's registered addresses exactly.");
  }
  const state = query.get("state");
  const refuse = (error: string, description: string): CheckedRequest => ({
    kind: "redirect",
    location: errorRedirect({ redirectUri, state }, error, description),
  });
  if (query.get("response_type") !== "code") {
    return refuse("unsupported_response_type", 'The response type must be "code".');
  }
  const scopes = (query.get("scope") ?? "").split(" ").filter((scope) => scope !== "");
  if (scopes.length === 0 || !scopes.every((scope) => SCOPES.has(scope))) {
    return refuse("invalid_scope", "The requested scope is invalid, unknown, or malformed.");
  }
  if (!["consent", "none"].includes(query.get("prompt") ?? "consent")) {
    return refuse("invalid_request", 'Unsupported "prompt"');
  }
  const challenge = query.get("code_challenge");
  const method = query.get("code_challenge_method");
  if ((challenge !== null || method !== null) && method !== "S256") {
    return refuse("invalid_request", 'Unsupported "code_challenge_method"');
  }
  if (method !== null && !/^[A-Za-z0-9_-]{43}$/.test(challenge ?? "")) {
    return refuse("invalid_request", 'Invalid "code_challenge"');
  }
  return { kind: "ok", request: { redirectUri, scopes, state, challenge } };
}

function page(sentence: string): CheckedRequest {
  return { kind: "page", sentence };
}

/** The address of the application with parameters added in form encoding; null ones are left out. */
export function redirectWith(redirectUri: string, parameters: Record<string, string | null>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.append(name, value);
  return url.href;
}

/** The address that tells the application of an error, never with a code. */
export function errorRedirect(
  request: Pick<AuthorizeRequest, "redirectUri" | "state">,
  error: string,
  description: string,
): string {
  return redirectWith(request.redirectUri, { error, error_description: description, state: request.state });
}
