/** What an answer of Discord means for orgpods. The one place that knows Discord's error codes. */
import { SECOND } from "../clock.ts";
import { shown } from "../errors.ts";
import type { Answer } from "./request.ts";
import { errorSchema } from "./schema.ts";

export type Outcome =
  | { readonly kind: "ok"; readonly body: unknown }
  /** Discord says for sure that this user is not in the server. */
  | { readonly kind: "absent" }
  /** The credential is bad; no call with it can succeed. */
  | { readonly kind: "refused"; readonly hint: string }
  /** A setting is wrong; `code` is Discord's. Asking again does not help. */
  | { readonly kind: "misconfigured"; readonly code: number; readonly hint: string }
  /** Nothing can be told; asking again may help. */
  | { readonly kind: "down"; readonly hint: string };

const UNKNOWN_GUILD = 10004;
const UNKNOWN_MEMBER = 10007;
const UNKNOWN_ROLE = 10011;
const UNKNOWN_USER = 10013;
/** The bot is not in the server, or (on the member list) the intent is off. */
export const MISSING_ACCESS = 50001;
const MISSING_PERMISSIONS = 50013;
/** A value in the request has a wrong form. */
export const INVALID_FORM = 50035;

const down = (hint: string): Outcome => ({ kind: "down", hint });

function misconfiguration(code: number, server: string): string | null {
  switch (code) {
    case UNKNOWN_GUILD:
      return `The bot is not in ${server}, or the server id is wrong.`;
    case MISSING_ACCESS:
      return `The bot has no access to ${server}. Check that it was invited and that the server id is right.`;
    case MISSING_PERMISSIONS:
      return `The bot lacks a permission in ${server}.`;
    case UNKNOWN_ROLE:
      return `The officer role no longer exists in ${server}.`;
    case INVALID_FORM:
      return `Discord does not accept an id that was sent. Check the id of ${server}.`;
    default:
      return null;
  }
}

function missing(answer: Answer & { kind: "none" }): string {
  if (answer.why === "timeout") return "Discord did not answer in time.";
  if (answer.why === "too_large") return "Discord sent more than orgpods reads.";
  return "Discord could not be reached.";
}

/**
 * Reads an answer to a call with the bot token. A 404 means "not a member" only with the code for it: a plain one may
 * be a page of a proxy. `guildId` is the server the call was about, for the hints.
 */
export function judge(answer: Answer, guildId: string | null): Outcome {
  if (answer.kind === "none") return down(missing(answer));
  if (answer.kind === "held") {
    return down(`Discord asked the bot to wait ${Math.ceil(answer.waitMs / SECOND)} s (rate limit).`);
  }
  const { status } = answer;
  if (status >= 200 && status < 300) {
    return answer.kind === "json"
      ? { kind: "ok", body: answer.body }
      : down(`Discord answered ${status} without readable JSON.`);
  }
  if (status === 401) {
    return { kind: "refused", hint: "Discord refuses the bot token. Set a valid BOT_TOKEN and start orgpods again." };
  }
  if (status === 429) return down("Discord refused the call because of its rate limit.");
  const error = answer.kind === "json" ? errorSchema.safeParse(answer.body) : null;
  const code = error?.success ? error.data.code : null;
  if (code !== null && status >= 400 && status < 500) {
    if (status === 404 && (code === UNKNOWN_MEMBER || code === UNKNOWN_USER)) return { kind: "absent" };
    const hint = misconfiguration(code, guildId === null ? "the server" : `the server ${shown(guildId)}`);
    if (hint !== null) return { kind: "misconfigured", code, hint };
  }
  return down(`Discord answered ${status}${code === null ? "" : ` with code ${code}`}.`);
}
