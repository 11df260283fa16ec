import { AppError, shown } from "../errors.ts";

/** A checked base address of Discord, without a slash at its end. */
export interface Endpoint {
  readonly href: string;
  /** True for plain http, which is allowed on loopback only. */
  readonly insecure: boolean;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/**
 * Reads a base address from the settings. Tokens and the client secret travel to it, so http:// is accepted only for
 * a loopback host (a stand-in on the same machine). `setting` names the setting in the error.
 *
 * @throws AppError `usage` for an address that is malformed, carries user, query or fragment, or is not safe
 */
export function checkedEndpoint(setting: string, address: string): Endpoint {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new AppError("usage", `${setting} must be an https address: ${shown(address)}`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new AppError("usage", `${setting} must not carry a user, a query or a fragment`);
  }
  const insecure = url.protocol === "http:";
  if (insecure && !isLoopback(url.hostname)) {
    throw new AppError("usage", `${setting} must use https unless its host is loopback: ${shown(address)}`);
  }
  return { href: url.href.replace(/\/+$/, ""), insecure };
}

/** The agent Discord asks of every client; without one of this form it answers with an HTML page. */
export function userAgent(version: string): string {
  return `DiscordBot (https://github.com/orgpods/orgpods, ${version})`;
}
