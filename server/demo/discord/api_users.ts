import { isoTime } from "../../clock.ts";
import { invalidForm, json, missingScope, unauthorized, unknownUser } from "./answers.ts";
import { botOnly, callerOf, refusedBot } from "./callers.ts";
import type { Handler, Parts } from "./parts.ts";
import { isSnowflake } from "./snowflake.ts";
import type { User } from "./state.ts";
import { ownGuildJson, selfJson, userJson } from "./wire.ts";

/** `GET /users/@me`, for the bot token and for a user's token with the scope identify. */
export const getSelf: Handler = (call, parts) => {
  const caller = callerOf(call, parts);
  if (!caller) return unauthorized();
  const users = parts.world.visible().users;
  if (caller.kind === "bot") {
    return refusedBot(call, parts) ?? json({ ...selfJson(users.get(parts.world.botId)!, []), verified: true });
  }
  const fault = parts.faults.take("D9")?.variant;
  const user = users.get(caller.grant.userId);
  if (!user || fault === "bad_token") return unauthorized();
  if (!caller.grant.scopes.includes("identify")) return missingScope();
  const { scopes } = caller.grant;
  switch (fault) {
    case "null_global_name":
      return json(selfJson({ ...user, global_name: null }, scopes));
    case "null_avatar":
      return json(selfJson({ ...user, avatar: null }, scopes));
    case "missing_fields":
      return json(bareUser(user));
    case "legacy_name":
      return json(selfJson({ ...user, username: "Old Name  ツ", discriminator: "0042", global_name: null }, scopes));
    case "direction_characters":
      return json(selfJson({ ...user, global_name: "\u202eevil\u202c\u200b\u0007 Zoë\u2066" }, scopes));
    default:
      return json(selfJson(user, scopes));
  }
};

function bareUser({ id, username, discriminator, global_name, avatar }: User) {
  return { id, username, discriminator, global_name, avatar };
}

/** `GET /users/@me/guilds`, for the bot, and for a user's token with the scope guilds. */
export const listOwnGuilds: Handler = (call, parts) => {
  const caller = callerOf(call, parts);
  if (!caller) return unauthorized();
  if (caller.kind === "bot") {
    return refusedBot(call, parts) ?? json(guildsOf(parts, parts.world.botId));
  }
  if (!caller.grant.scopes.includes("guilds")) return missingScope();
  return json(guildsOf(parts, caller.grant.userId));
};

function guildsOf(parts: Parts, userId: string) {
  const guilds = [...parts.world.visible().guilds.values()];
  return guilds.filter((guild) => guild.members.has(userId)).map((guild) => ownGuildJson(guild, userId));
}

/** `GET /users/{user_id}`: any account, also one that shares no guild with the bot. */
export const getUser: Handler = botOnly((call, parts) => {
  const id = call.match.params["user_id"]!;
  if (!isSnowflake(id)) return invalidForm("user_id", "NUMBER_TYPE_COERCE", `Value "${id}" is not snowflake.`);
  const user = parts.world.visible().users.get(id);
  return user ? json(userJson(user)) : unknownUser();
});

/** `GET /oauth2/@me`: what a user's token is good for. */
export const getAuthorization: Handler = (call, parts) => {
  const caller = callerOf(call, parts);
  if (caller?.kind !== "user") return unauthorized();
  const { userId, scopes, expiresAt } = caller.grant;
  const user = parts.world.visible().users.get(userId);
  return json({
    application: applicationJson(parts),
    scopes,
    expires: isoTime(expiresAt),
    ...(user && scopes.includes("identify") ? { user: userJson(user) } : {}),
  });
};

/** The flag that tells the Server Members Intent is on, for an application of fewer than 10,000 users. */
const GATEWAY_GUILD_MEMBERS_LIMITED = 1 << 15;

/** `GET /applications/@me`: the application with its redirect URIs and intent flags. */
export const getApplication: Handler = botOnly((_call, parts) =>
  json({
    ...applicationJson(parts),
    redirect_uris: parts.application.redirectUris,
    flags: parts.world.visible().intent ? GATEWAY_GUILD_MEMBERS_LIMITED : 0,
  })
);

function applicationJson({ application }: Parts) {
  return {
    id: application.clientId,
    name: application.name,
    icon: null,
    description: "",
    bot_public: false,
    bot_require_code_grant: false,
  };
}
