/** Every route of the stand-in beside `/_demo`, and how a request finds its own. */

export interface Route {
  /** Allowed methods; any other is answered 405. */
  readonly methods: readonly string[];
  /** Without the API's base; `{name}` stands for one segment. */
  readonly path: string;
  /** `bot` routes exist only under `/api/v10`, `oauth` also without a version, `site` at the origin. */
  readonly kind: "bot" | "oauth" | "site";
}

const ROUTES = [
  { methods: ["GET", "POST"], path: "/oauth2/authorize", kind: "site" },
  { methods: ["POST"], path: "/oauth2/token", kind: "oauth" },
  { methods: ["POST"], path: "/oauth2/token/revoke", kind: "oauth" },
  { methods: ["GET"], path: "/oauth2/@me", kind: "oauth" },
  { methods: ["GET"], path: "/applications/@me", kind: "bot" },
  { methods: ["GET"], path: "/users/@me", kind: "bot" },
  { methods: ["GET"], path: "/users/@me/guilds", kind: "bot" },
  { methods: ["GET"], path: "/users/{user_id}", kind: "bot" },
  { methods: ["GET"], path: "/guilds/{guild_id}", kind: "bot" },
  { methods: ["GET"], path: "/guilds/{guild_id}/roles", kind: "bot" },
  { methods: ["GET"], path: "/guilds/{guild_id}/roles/member-counts", kind: "bot" },
  { methods: ["GET"], path: "/guilds/{guild_id}/roles/{role_id}", kind: "bot" },
  { methods: ["GET"], path: "/guilds/{guild_id}/members", kind: "bot" },
  { methods: ["GET"], path: "/guilds/{guild_id}/members/search", kind: "bot" },
  { methods: ["GET"], path: "/guilds/{guild_id}/members/{user_id}", kind: "bot" },
] as const satisfies readonly Route[];

export type RoutePath = typeof ROUTES[number]["path"];

export interface RouteMatch {
  readonly route: Route & { readonly path: RoutePath };
  readonly method: string;
  readonly segments: readonly string[];
  /** The values of `{name}`, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

export type Found = { readonly match: RouteMatch } | { readonly none: "unknown" | "version" };

/** The routes as a pattern may name them, for error sentences. */
export const ROUTE_NAMES: readonly string[] = ROUTES.map((route) => `${route.methods[0]} ${route.path}`);

const isParam = (segment: string) => segment.startsWith("{");
const isWild = (part: string) => part === "*" || isParam(part);
const segmentsOf = (path: string) => path.split("/").slice(1);

/** Finds the route of a request's path. A literal segment wins over a parameter. */
export function findRoute(method: string, pathname: string): Found {
  const base = /^\/api(?:\/v(\d+))?(?=\/)/.exec(pathname);
  const path = base ? pathname.slice(base[0].length) : pathname;
  const segments = segmentsOf(path);
  const fitting = ROUTES.filter((route) =>
    (route.kind === "site") === !base && shapeFits(segmentsOf(route.path), segments)
  );
  const route = fitting.sort((a, b) => paramsIn(a.path) - paramsIn(b.path))[0];
  if (!route) return { none: "unknown" };
  const version = base?.[1];
  // A path without a version falls back to a version that is long gone.
  if (route.kind === "bot" && version !== "10") return { none: "version" };
  if (route.kind === "oauth" && version !== undefined && version !== "10") return { none: "version" };
  const params: Record<string, string> = {};
  segmentsOf(route.path).forEach((name, i) => {
    if (isParam(name)) params[name.slice(1, -1)] = decoded(segments[i]!);
  });
  return { match: { route, method, segments, params } };
}

function paramsIn(path: string): number {
  return segmentsOf(path).filter(isParam).length;
}

function shapeFits(template: readonly string[], segments: readonly string[]): boolean {
  return template.length === segments.length &&
    template.every((name, i) => isParam(name) ? segments[i] !== "" : name === segments[i]);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return segment;
    throw error;
  }
}

/**
 * Whether a pattern fits: a method or `*`, a blank, and a path in which `*` or `{any}` stands for one parameter. It
 * never stands for a fixed word, so that the pattern of one member does not hit the search. Any other segment must be
 * equal.
 */
export function matchesPattern(pattern: string, match: RouteMatch): boolean {
  const { method, segments } = splitPattern(pattern);
  const template = segmentsOf(match.route.path);
  return (method === "*" || method === match.method) && segments.length === template.length &&
    segments.every((part, i) => isWild(part) ? isParam(template[i]!) : part === match.segments[i]);
}

/** Whether a pattern could fit any route at all; used to refuse a pattern with a typing error. */
export function patternMatchesAny(pattern: string): boolean {
  const { method, segments } = splitPattern(pattern);
  return ROUTES.some((route) => {
    const template = segmentsOf(route.path);
    return (method === "*" || (route.methods as readonly string[]).includes(method)) &&
      template.length === segments.length &&
      template.every((name, i) => isParam(name) ? segments[i] !== "" : name === segments[i]);
  });
}

function splitPattern(pattern: string): { method: string; segments: string[] } {
  const blank = pattern.indexOf(" ");
  const method = blank < 0 ? "*" : pattern.slice(0, blank);
  return { method, segments: segmentsOf(blank < 0 ? pattern : pattern.slice(blank + 1)) };
}
