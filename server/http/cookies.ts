/** Names of our cookies. The prefix `__Host-` binds a cookie to this host alone; browsers take it only over https. */

export const isHttps = (baseUrl: string | null): boolean => baseUrl?.startsWith("https:") ?? false;

export const cookieName = (baseUrl: string | null, name: string): string => isHttps(baseUrl) ? `__Host-${name}` : name;

/** The cookie of a browser session; no other name is read, so that a neighbouring host cannot plant one. */
export const sessionCookie = (baseUrl: string | null): string => cookieName(baseUrl, "orgpods_session");
