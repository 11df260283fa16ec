import { isoTime } from "../../clock.ts";
import { AppError, shown } from "../../errors.ts";
import type { Guild, Member, Role, State, User } from "./state.ts";
import type { NewGuild, NewMember, NewRole, NewUser, WorldChange } from "./world_schema.ts";

/** CREATE_INSTANT_INVITE, VIEW_CHANNEL and bit 54: a value that a JavaScript number would round. */
const EVERYONE = (1n | 1n << 10n | 1n << 54n).toString();

/** What a change needs to know beside the state. */
export interface ChangeContext {
  /** The user id of the bot. */
  readonly botId: string;
  /** Milliseconds UTC. */
  readonly now: number;
}

/**
 * Writes one change into a state. Refuses, before anything is written, what could not be in the real world: unknown
 * ids, an id given twice, a role of another guild, an owner who leaves.
 * @throws AppError `invalid_request`
 */
export function applyChange(state: State, change: WorldChange, context: ChangeContext): void {
  switch (change.action) {
    case "add_user":
      return addUser(state, change);
    case "set_user": {
      const { action: _, id, ...fields } = change;
      return assignPresent(userOf(state, id), fields);
    }
    case "add_guild":
      return addGuild(state, change, context);
    case "set_owner": {
      memberOf(state, change.guild_id, change.owner_id);
      guildOf(state, change.guild_id).owner_id = change.owner_id;
      return;
    }
    case "add_role":
      return addRole(guildOf(state, change.guild_id), change);
    case "set_role": {
      const { action: _, guild_id, id, ...fields } = change;
      return assignPresent(roleOf(guildOf(state, guild_id), id), fields);
    }
    case "delete_role":
      return deleteRole(guildOf(state, change.guild_id), change.role_id);
    case "join":
      return join(state, change, context);
    case "leave":
      return leave(state, change.guild_id, change.user_id, context);
    case "set_roles": {
      const member = memberOf(state, change.guild_id, change.user_id);
      member.roles = checkedRoles(guildOf(state, change.guild_id), change.roles);
      return;
    }
    case "set_nick":
      memberOf(state, change.guild_id, change.user_id).nick = change.nick;
      return;
    case "set_pending":
      memberOf(state, change.guild_id, change.user_id).pending = change.pending;
      return;
    case "set_flags":
      memberOf(state, change.guild_id, change.user_id).flags = change.flags;
      return;
    case "set_timeout":
      memberOf(state, change.guild_id, change.user_id).communication_disabled_until =
        change.communication_disabled_until;
      return;
    case "add_bot":
      return join(state, { guild_id: change.guild_id, user_id: context.botId }, context);
    case "remove_bot":
      memberOf(state, change.guild_id, context.botId);
      guildOf(state, change.guild_id).members.delete(context.botId);
      return;
    case "set_intent":
      state.intent = change.on;
      return;
  }
}

function refuse(message: string): AppError {
  return new AppError("invalid_request", message);
}

function userOf(state: State, id: string): User {
  const user = state.users.get(id);
  if (!user) throw refuse(`There is no user ${shown(id)}.`);
  return user;
}

function guildOf(state: State, id: string): Guild {
  const guild = state.guilds.get(id);
  if (!guild) throw refuse(`There is no guild ${shown(id)}.`);
  return guild;
}

function roleOf(guild: Guild, id: string): Role {
  const role = guild.roles.get(id);
  if (!role) throw refuse(`The guild ${guild.id} has no role ${shown(id)}.`);
  return role;
}

function memberOf(state: State, guildId: string, userId: string): Member {
  const member = guildOf(state, guildId).members.get(userId);
  if (!member) throw refuse(`The user ${shown(userId)} is not in the guild ${guildId}.`);
  return member;
}

/** Copies the fields that are there; an absent one keeps its value. */
function assignPresent(target: object, fields: object): void {
  Object.assign(target, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));
}

function addUser(state: State, fields: NewUser): void {
  if (state.users.has(fields.id)) throw refuse(`The user ${fields.id} exists already.`);
  const user: User = {
    id: fields.id,
    username: fields.username,
    discriminator: fields.discriminator ?? "0",
    global_name: fields.global_name ?? null,
    avatar: fields.avatar ?? null,
  };
  if (fields.bot !== undefined) user.bot = fields.bot;
  if (fields.public_flags !== undefined) user.public_flags = fields.public_flags;
  state.users.set(user.id, user);
}

function addGuild(state: State, fields: NewGuild, context: ChangeContext): void {
  if (state.guilds.has(fields.id)) throw refuse(`The guild ${fields.id} exists already.`);
  if (userOf(state, fields.owner_id).bot) throw refuse("A bot cannot own a guild.");
  const guild: Guild = {
    id: fields.id,
    name: fields.name,
    icon: fields.icon ?? null,
    owner_id: fields.owner_id,
    roles: new Map(),
    members: new Map(),
  };
  state.guilds.set(guild.id, guild);
  addRole(guild, { guild_id: guild.id, id: guild.id, name: "@everyone", position: 0, permissions: EVERYONE });
  join(state, { guild_id: guild.id, user_id: fields.owner_id }, context);
  if (fields.bot !== false) join(state, { guild_id: guild.id, user_id: context.botId }, context);
}

function addRole(guild: Guild, fields: NewRole): void {
  if (guild.roles.has(fields.id)) throw refuse(`The guild ${guild.id} has a role ${fields.id} already.`);
  guild.roles.set(fields.id, {
    id: fields.id,
    name: fields.name,
    position: fields.position ?? guild.roles.size,
    permissions: fields.permissions ?? "0",
    managed: fields.managed ?? false,
    hoist: fields.hoist ?? false,
    mentionable: fields.mentionable ?? false,
    color: fields.color ?? 0,
  });
}

function deleteRole(guild: Guild, roleId: string): void {
  roleOf(guild, roleId);
  if (roleId === guild.id) throw refuse("The role @everyone cannot be deleted.");
  guild.roles.delete(roleId);
  for (const member of guild.members.values()) member.roles = member.roles.filter((id) => id !== roleId);
}

function checkedRoles(guild: Guild, roles: readonly string[]): string[] {
  for (const id of roles) {
    roleOf(guild, id);
    if (id === guild.id) throw refuse("The role @everyone is never in the list of a member's roles.");
  }
  return [...new Set(roles)];
}

function join(state: State, fields: NewMember, context: ChangeContext): void {
  const guild = guildOf(state, fields.guild_id);
  userOf(state, fields.user_id);
  if (guild.members.has(fields.user_id)) {
    throw refuse(`The user ${fields.user_id} is in the guild ${guild.id} already.`);
  }
  const member: Member = {
    user_id: fields.user_id,
    roles: checkedRoles(guild, fields.roles ?? []),
    joined_at: fields.joined_at ?? isoTime(context.now),
    pending: fields.pending ?? false,
    flags: fields.flags ?? 0,
  };
  if (fields.nick !== undefined) member.nick = fields.nick;
  if (fields.communication_disabled_until !== undefined) {
    member.communication_disabled_until = fields.communication_disabled_until;
  }
  guild.members.set(member.user_id, member);
}

function leave(state: State, guildId: string, userId: string, context: ChangeContext): void {
  memberOf(state, guildId, userId);
  const guild = guildOf(state, guildId);
  if (guild.owner_id === userId) throw refuse(`The owner cannot leave the guild ${guildId}: set another owner first.`);
  if (userId === context.botId) throw refuse("The bot leaves by the action remove_bot.");
  guild.members.delete(userId);
}
