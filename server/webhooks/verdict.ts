import { SECOND } from "../clock.ts";
import type { WebhookFormat } from "../../db/stores/webhooks.ts";
import type { Outcome } from "./post.ts";

/** What an outcome means for a delivery. */
export interface Verdict {
  /**
   * `sent`: taken. `retry`: later again. `refused`: the receiver wants nothing more of this webhook; later again, a few
   * times. `rejected`: the receiver will never take this message, so that it must not hold up the next ones.
   */
  readonly kind: "sent" | "retry" | "refused" | "rejected";
  readonly status: number | null;
  /** A sentence; null when sent. */
  readonly error: string | null;
  /** How long the receiver asks to wait, in ms. */
  readonly askedMs: number | null;
}

const DISCORD_REFUSES = [401, 403, 404];
const REJECTS = [400, 413, 415, 422];

/** Judges what came of a call (contract 14). */
export function verdictOf(outcome: Outcome, format: WebhookFormat, now: number): Verdict {
  if ("failure" in outcome) return { kind: "retry", status: null, error: outcome.failure, askedMs: null };
  const { status, headers } = outcome;
  const verdict = (kind: Verdict["kind"], error: string | null, askedMs: number | null = null) =>
    ({ kind, status, error, askedMs }) satisfies Verdict;
  const who = format === "discord" ? "Discord" : "The receiver";
  if (status >= 200 && status < 300) return verdict("sent", null);
  if (status >= 300 && status < 400) {
    return verdict(
      "retry",
      `${who} answered with a redirect (${status}), which is not followed: give the final address`,
    );
  }
  if (status === 410) return verdict("refused", `${who} answered that the webhook is gone (410)`);
  if (format === "discord" && DISCORD_REFUSES.includes(status)) {
    return verdict("refused", `Discord does not know the webhook any more, or refuses it (${status})`);
  }
  if (REJECTS.includes(status)) return verdict("rejected", `${who} does not take this message (${status})`);
  const askedMs = status === 429 || status === 503 ? retryAfter(headers.get("retry-after"), now) : null;
  const why = status === 429 ? `${who} asks for fewer messages (429)` : `${who} answered ${status}`;
  return verdict("retry", why, askedMs);
}

/** `Retry-After`: seconds, with a fraction at Discord, or a date. */
function retryAfter(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * SECOND);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
