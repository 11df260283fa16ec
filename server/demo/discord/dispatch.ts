import { edgePage, invalidApiVersion, methodNotAllowed, notFound } from "./answers.ts";
import { countRoleMembers, getGuild, getRole, listRoles } from "./api_guilds.ts";
import { getMember, listMembers, searchMembers } from "./api_members.ts";
import { getApplication, getAuthorization, getSelf, getUser, listOwnGuilds } from "./api_users.ts";
import { createAuthorize } from "./authorize.ts";
import { errorPage } from "./authorize_page.ts";
import { notLocal } from "./local_only.ts";
import { limitedAnswer, strike } from "./network_faults.ts";
import { exchangeToken, revokeToken } from "./oauth_token.ts";
import type { Call, Handler, Parts } from "./parts.ts";
import { createRateLimits } from "./rate_limits.ts";
import type { RecordedRequest } from "./requests.ts";
import { findRoute, type RoutePath } from "./route_table.ts";

/** Invalid answers in ten minutes after which the network in front bans the caller. */
const MOST_INVALID = 10_000;

/** What Discord asks of a User-Agent: `DiscordBot (<url>, <version>)`, with anything after it. */
const AGENT = /^DiscordBot \([^\s,()]+, ?[^\s,()]+\)/;

/** Answers every request but those under `/_demo`. The route found is noted in the record. */
export function createDispatch(parts: Parts) {
  const limits = createRateLimits(parts.clock);
  const handlers: Record<RoutePath, Handler> = {
    "/oauth2/authorize": createAuthorize(parts),
    "/oauth2/token": exchangeToken,
    "/oauth2/token/revoke": revokeToken,
    "/oauth2/@me": getAuthorization,
    "/applications/@me": getApplication,
    "/users/@me": getSelf,
    "/users/@me/guilds": listOwnGuilds,
    "/users/{user_id}": getUser,
    "/guilds/{guild_id}": getGuild,
    "/guilds/{guild_id}/roles": listRoles,
    "/guilds/{guild_id}/roles/member-counts": countRoleMembers,
    "/guilds/{guild_id}/roles/{role_id}": getRole,
    "/guilds/{guild_id}/members": listMembers,
    "/guilds/{guild_id}/members/search": searchMembers,
    "/guilds/{guild_id}/members/{user_id}": getMember,
  };

  /** A route with rate-limit headers on its answer. */
  async function limited(call: Call): Promise<Response> {
    const enforce = parts.faults.find("D19", { variant: "buckets", route: call.match }) !== undefined;
    const bucket = limits(call.match, enforce);
    if (bucket.over) return limitedAnswer("user", bucket.resetAfter, bucket.headers);
    const answer = await handlers[call.match.route.path](call, parts);
    for (const [name, value] of Object.entries(bucket.headers)) answer.headers.set(name, value);
    return answer;
  }

  return async function dispatch(
    request: Request,
    url: URL,
    form: URLSearchParams | null,
    record: RecordedRequest,
  ): Promise<Response> {
    const found = findRoute(request.method, url.pathname);
    if ("match" in found) record.route = found.match.route.path;
    const site = !url.pathname.startsWith("/api/");
    if (!site && parts.recorder.invalidAnswers() >= MOST_INVALID) return edgePage(429, "You have been blocked");
    if (!site && !AGENT.test(request.headers.get("User-Agent") ?? "")) return edgePage(403, "Access denied");
    if ("none" in found) return found.none === "version" ? invalidApiVersion() : notFound();
    const { route } = found.match;
    const call: Call = { request, url, match: found.match, form };
    if (site) {
      const foreign = notLocal(request, parts.origins);
      if (foreign) return errorPage(foreign, 403);
    }
    if (!route.methods.includes(request.method)) return methodNotAllowed(route.methods.join(", "));
    const struck = await strike(call, parts);
    if (struck) return struck;
    return route.kind === "bot" ? await limited(call) : await handlers[route.path](call, parts);
  };
}
