import { Buffer } from "node:buffer";
import { SECOND } from "../../clock.ts";
import { apiError, json, oauthError } from "./answers.ts";
import { TOKEN_LIFETIME, type Tokens } from "./grants.ts";
import type { Call, Handler, Parts } from "./parts.ts";
import { sameSecret } from "./secrets.ts";

const INVALID_CODE = 'Invalid "code" in request.';

/**
 * `POST /oauth2/token`: a form with `grant_type`, the client's credentials in it or as HTTP Basic, and what the grant
 * needs. A body of another kind counts as one without a grant type, as Discord answers it.
 */
export const exchangeToken: Handler = (call, parts) => {
  const form = call.form ?? new URLSearchParams();
  const repeated = repeatedField(form);
  if (repeated) return oauthError(400, "invalid_request", `Repeated "${repeated}" in request.`);
  const grantType = form.get("grant_type");
  if (grantType !== "authorization_code" && grantType !== "refresh_token") {
    return oauthError(400, "unsupported_grant_type", `Grant type ${grantType ?? "None"} is not supported`);
  }
  const client = clientFault(call, form, parts) ?? (parts.faults.take("D4") && invalidClient());
  if (client) return client;
  return grantType === "refresh_token" ? refresh(form, parts) : redeem(form, parts);
};

function redeem(form: URLSearchParams, parts: Parts): Response {
  const code = form.get("code");
  if (!code) return oauthError(400, "invalid_request", 'Missing "code" in request.');
  if (parts.faults.take("D5")) return oauthError(400, "invalid_grant", INVALID_CODE);
  const fault = parts.faults.take("D7")?.variant;
  const scopes = fault === "no_identify" ? ["connections"] : undefined;
  const result = parts.grants.redeem(code, form.get("redirect_uri") ?? "", form.get("code_verifier"), scopes);
  if (!result.ok) return oauthError(400, result.error, result.description);
  const body: Record<string, unknown> = tokenJson(result.tokens);
  if (fault === "no_scope") delete body["scope"];
  if (fault === "no_token") delete body["access_token"];
  return json(body);
}

function refresh(form: URLSearchParams, parts: Parts): Response {
  const tokens = parts.grants.refresh(form.get("refresh_token") ?? "");
  return tokens ? json(tokenJson(tokens)) : oauthError(400, "invalid_grant");
}

function tokenJson(tokens: Tokens): Record<string, unknown> {
  return {
    token_type: "Bearer",
    access_token: tokens.accessToken,
    expires_in: TOKEN_LIFETIME / SECOND,
    refresh_token: tokens.refreshToken,
    scope: tokens.scopes.join(" "),
  };
}

/** `POST /oauth2/token/revoke`: a form with `token`; every token of that authorization is gone afterwards. */
export const revokeToken: Handler = (call, parts) => {
  if (!call.form) return oauthError(400, "invalid_request");
  const client = clientFault(call, call.form, parts);
  if (client) return client;
  const token = call.form.get("token");
  if (!token) return oauthError(400, "invalid_request", 'Missing "token" in request.');
  switch (parts.faults.take("D8")?.variant) {
    case "unavailable":
      return apiError(503, 0, "503: Service Unavailable");
    case "refused":
      return oauthError(400, "invalid_request");
    case undefined:
      parts.grants.revoke(token);
      return json({});
  }
};

const invalidClient = () => oauthError(401, "invalid_client");

/** The refusal of a client, or undefined for the right one. */
function clientFault(call: Call, form: URLSearchParams, parts: Parts): Response | undefined {
  const credentials = basicCredentials(call.request.headers.get("Authorization")) ??
    { id: form.get("client_id"), secret: form.get("client_secret") };
  const { clientId, clientSecret } = parts.application;
  if (credentials.id !== clientId) return invalidClient();
  // Without a secret the client counts as a public one, which must prove itself by PKCE.
  if (!credentials.secret && form.get("grant_type") === "authorization_code" && !form.get("code_verifier")) {
    return oauthError(400, "invalid_request", 'Missing "code_verifier"');
  }
  return sameSecret(credentials.secret ?? "", clientSecret) ? undefined : invalidClient();
}

/** Client id and secret of an HTTP Basic header (both form-encoded, RFC 6749 section 2.3.1), if there is one. */
function basicCredentials(header: string | null): { id: string; secret: string } | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString("utf8")) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const decode = (text: string) => new URLSearchParams(`v=${text.replaceAll("&", "%26")}`).get("v") ?? "";
  return { id: decode(id), secret: decode(secret) };
}

function repeatedField(form: URLSearchParams): string | undefined {
  const names = [...form.keys()];
  return names.find((name, i) => names.indexOf(name) !== i);
}
