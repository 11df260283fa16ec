import { invalidForm, json, missingAccess, unknownMember, unknownUser } from "./answers.ts";
import { inGuild } from "./api_guilds.ts";
import type { Call, Handler } from "./parts.ts";
import { compareSnowflakes, isSnowflake } from "./snowflake.ts";
import type { State } from "./state.ts";
import { memberJson, sortedMembers } from "./wire.ts";

/** `GET /guilds/{guild_id}/members/{user_id}`; needs no intent. */
export const getMember: Handler = inGuild((guild, call, parts) => {
  const id = call.match.params["user_id"]!;
  const state = parts.world.visible();
  if (!state.users.has(id)) return unknownUser();
  const member = guild.members.get(id);
  return member ? json(memberJson(state, member)) : unknownMember();
});

/** `GET /guilds/{guild_id}/members`: by user id, after `after`, one unless `limit` says more; needs the intent. */
export const listMembers: Handler = inGuild((guild, call, parts) => {
  const state = parts.world.visible();
  if (!state.intent) return missingAccess();
  const limit = readLimit(call);
  if (limit instanceof Response) return limit;
  const after = call.url.searchParams.get("after") ?? "0";
  if (!isSnowflake(after)) return invalidForm("after", "NUMBER_TYPE_COERCE", `Value "${after}" is not snowflake.`);
  const rows = sortedMembers(guild).filter((member) => compareSnowflakes(member.user_id, after) > 0);
  return json(rows.slice(0, limit).map((member) => memberJson(state, member)));
});

/**
 * `GET /guilds/{guild_id}/members/search`: members whose username or nickname starts with `query`, whatever the case;
 * one unless `limit` says more; needs no intent.
 */
export const searchMembers: Handler = inGuild((guild, call, parts) => {
  const query = call.url.searchParams.get("query");
  if (!query) return invalidForm("query", "BASE_TYPE_REQUIRED", "This field is required");
  const limit = readLimit(call);
  if (limit instanceof Response) return limit;
  const state = parts.world.visible();
  const globalNames = parts.faults.take("D15") !== undefined;
  const rows = sortedMembers(guild).filter((member) =>
    namesOf(state, member, globalNames).some((name) => name.toLowerCase().startsWith(query.toLowerCase()))
  );
  return json(rows.slice(0, limit).map((member) => memberJson(state, member)));
});

function namesOf(state: State, member: { user_id: string; nick?: string | null }, globalNames: boolean): string[] {
  const user = state.users.get(member.user_id)!;
  const names = [user.username, member.nick, globalNames ? user.global_name : null];
  return names.filter((name) => typeof name === "string");
}

/** `limit` of a list, 1 to 1000, default 1; an answer of 400 when it is none. */
function readLimit(call: Call): number | Response {
  const text = call.url.searchParams.get("limit");
  if (text === null) return 1;
  if (!/^-?\d{1,15}$/.test(text)) return invalidForm("limit", "NUMBER_TYPE_COERCE", `Value "${text}" is not int.`);
  const limit = Number(text);
  if (limit < 1) {
    return invalidForm("limit", "NUMBER_TYPE_MIN", "int value should be greater than or equal to 1.");
  }
  if (limit > 1000) {
    return invalidForm("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 1000.");
  }
  return limit;
}
