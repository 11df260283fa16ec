import { apiError, unauthorized } from "./answers.ts";
import type { AccessGrant } from "./grants.ts";
import type { Call, Handler, Parts } from "./parts.ts";
import { sameSecret } from "./secrets.ts";

/** Who calls: the bot, or the user behind an access token. */
export type Caller = { readonly kind: "bot" } | { readonly kind: "user"; readonly grant: AccessGrant };

/** Reads the Authorization header; undefined for none, a wrong scheme and a bad token alike. */
export function callerOf(call: Call, parts: Parts): Caller | undefined {
  const header = call.request.headers.get("Authorization") ?? "";
  if (header.startsWith("Bot ")) {
    return sameSecret(header.slice(4), parts.application.botToken) ? { kind: "bot" } : undefined;
  }
  if (!header.startsWith("Bearer ")) return undefined;
  const grant = parts.grants.access(header.slice(7));
  return grant && { kind: "user", grant };
}

/** The refusal of a good bot token while the fault D10 is on. */
export function refusedBot(call: Call, parts: Parts): Response | undefined {
  const fault = parts.faults.take("D10", { route: call.match });
  if (!fault) return undefined;
  return fault.variant === "unauthorized" ? unauthorized() : apiError(401, Number(fault.variant), "Unauthorized");
}

/** A route for the bot alone. */
export function botOnly(handler: Handler): Handler {
  return (call, parts) => {
    if (callerOf(call, parts)?.kind !== "bot") return unauthorized();
    return refusedBot(call, parts) ?? handler(call, parts);
  };
}
