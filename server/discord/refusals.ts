/** The errors that officers get when members, roles or servers cannot be looked up (contract section 2.3). */
import { AppError, type ErrorCode } from "../errors.ts";
import type { BotOutcome } from "./bot.ts";
import { MISSING_ACCESS } from "./outcome.ts";

const SENTENCES = {
  discord_not_set_up: "Discord is not set up, so members cannot be looked up. Enter Discord ids.",
  discord_search_failed: "Discord did not answer the member search. Enter Discord ids.",
  discord_intent_missing: "Discord refused the member list. Turn on Server Members Intent for the bot in the Discord " +
    "Developer Portal (Bot > Privileged Gateway Intents), or search by name.",
  discord_unavailable: "Discord is not available; try again shortly",
} as const satisfies Partial<Record<ErrorCode, string>>;

/** What was being looked up when Discord did not give it. */
export type Lookup = "search" | "list" | "other";

function refusal(code: keyof typeof SENTENCES, hint: string): AppError {
  return new AppError(code, SENTENCES[code], { hint });
}

/** The error for a lookup whose answer is not there or is not usable. */
export function lookupFailed(lookup: Lookup, hint: string): AppError {
  return refusal(lookup === "other" ? "discord_unavailable" : "discord_search_failed", hint);
}

/** The error for an outcome that is not "ok". */
export function lookupRefused(lookup: Lookup, outcome: Exclude<BotOutcome, { kind: "ok" }>): AppError {
  if (outcome.kind === "absent") return lookupFailed(lookup, "Discord answered a lookup with an unknown user.");
  if (outcome.kind === "not_set_up") return refusal("discord_not_set_up", outcome.hint);
  if (lookup === "list" && outcome.kind === "misconfigured" && outcome.code === MISSING_ACCESS) {
    return refusal("discord_intent_missing", `Server Members Intent is off, or: ${outcome.hint}`);
  }
  return lookupFailed(lookup, outcome.hint);
}
