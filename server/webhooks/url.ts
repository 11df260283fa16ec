import { isLoopbackHost } from "../config.ts";
import { AppError } from "../errors.ts";
import type { WebhookFormat } from "../../db/stores/webhooks.ts";
import { leadsInside } from "./addresses.ts";

export interface UrlRules {
  /** The operator lets webhooks lead to private addresses, and to loopback over plain http. */
  readonly allowPrivate: boolean;
  /** The origin of a stand-in for Discord; null outside of tests. */
  readonly testDiscord: string | null;
}

/** What the operator sets for it. */
export const ALLOWING = "ORGPODS_WEBHOOKS_ALLOW_PRIVATE=true";
/** The most characters of an address. */
export const MAX_URL = 2_000;
const DISCORD = /^https:\/\/(?:discord|discordapp)\.com$/;
const DISCORD_PATH = /^\/api\/webhooks\/\d{5,25}\/[A-Za-z0-9_-]{1,200}$/;

/**
 * Checks a webhook's address. Throws `invalid_request` with a sentence that does not show it: whoever knows the address
 * of a Discord webhook can write into its channel. Where a name leads is checked again at each sending.
 */
export function checkUrl(text: string, format: WebhookFormat, rules: UrlRules): URL {
  const refuse = (sentence: string) => new AppError("invalid_request", sentence);
  const url = URL.parse(text);
  if (format === "discord") {
    const isDiscord = url !== null && (DISCORD.test(url.origin) || url.origin === rules.testDiscord);
    if (!isDiscord || !DISCORD_PATH.test(url.pathname) || hasMore(url)) {
      throw refuse("url must be a Discord webhook: https://discord.com/api/webhooks/<id>/<token>");
    }
    return url;
  }
  const isPlain = url?.protocol === "http:" && rules.allowPrivate && isLoopbackHost(url.hostname);
  if (url === null || (url.protocol !== "https:" && !isPlain)) {
    const isPlainHttp = url?.protocol === "http:";
    throw refuse(`url must be an https address${isPlainHttp ? `; plain http is for loopback, with ${ALLOWING}` : ""}`);
  }
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    throw refuse("url must not hold a user name, a password or a fragment");
  }
  if (!rules.allowPrivate && leadsInside(url.hostname)) {
    throw refuse(`url must not lead to a private, local or reserved address without ${ALLOWING}`);
  }
  return url;
}

const hasMore = (url: URL) => url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "";

/** What people recognise a webhook's address by: its host and the last four characters. */
export function urlHint(url: URL): string {
  return `${url.host} …${url.href.slice(-4)}`;
}
