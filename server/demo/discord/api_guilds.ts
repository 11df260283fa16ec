import { invalidForm, json, missingAccess, unknownGuild, unknownRole } from "./answers.ts";
import { botOnly } from "./callers.ts";
import type { Call, Handler, Parts } from "./parts.ts";
import { isSnowflake } from "./snowflake.ts";
import type { Guild } from "./state.ts";
import { guildJson, roleJson, sortedRoles } from "./wire.ts";

/** A route of one guild that the bot is in; `work` gets the guild. */
export function inGuild(work: (guild: Guild, call: Call, parts: Parts) => Response): Handler {
  return botOnly((call, parts) => {
    for (const [name, value] of Object.entries(call.match.params)) {
      if (!isSnowflake(value)) return invalidForm(name, "NUMBER_TYPE_COERCE", `Value "${value}" is not snowflake.`);
    }
    const guild = parts.world.visible().guilds.get(call.match.params["guild_id"]!);
    if (!guild?.members.has(parts.world.botId)) {
      return parts.faults.take("D12", { route: call.match }) ? missingAccess() : unknownGuild();
    }
    return work(guild, call, parts);
  });
}

/** `GET /guilds/{guild_id}`; `with_counts=true` adds approximate counts. */
export const getGuild: Handler = inGuild((guild, call) =>
  json(guildJson(guild, call.url.searchParams.get("with_counts") === "true"))
);

/** `GET /guilds/{guild_id}/roles`, @everyone included. */
export const listRoles: Handler = inGuild((guild) => json(sortedRoles(guild).map(roleJson)));

/** `GET /guilds/{guild_id}/roles/{role_id}`. */
export const getRole: Handler = inGuild((guild, call) => {
  const role = guild.roles.get(call.match.params["role_id"]!);
  return role ? json(roleJson(role)) : unknownRole();
});

/** `GET /guilds/{guild_id}/roles/member-counts`: role id to number of members, without @everyone. */
export const countRoleMembers: Handler = inGuild((guild) => {
  const counts: Record<string, number> = {};
  for (const id of guild.roles.keys()) if (id !== guild.id) counts[id] = 0;
  for (const member of guild.members.values()) for (const id of member.roles) counts[id] = (counts[id] ?? 0) + 1;
  return json(counts);
});
