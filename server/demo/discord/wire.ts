import { compareSnowflakes } from "./snowflake.ts";
import type { Guild, Member, Role, State, User } from "./state.ts";

/** A user as others see it. */
export function userJson(user: User) {
  return {
    id: user.id,
    username: user.username,
    discriminator: user.discriminator,
    global_name: user.global_name,
    avatar: user.avatar,
    ...(user.bot ? { bot: true } : {}),
    public_flags: user.public_flags ?? 0,
    flags: user.public_flags ?? 0,
    banner: null,
    accent_color: null,
  };
}

/** A user as it sees itself; `email` and `verified` come only with the scope email. */
export function selfJson(user: User, scopes: readonly string[]) {
  return {
    ...userJson(user),
    mfa_enabled: true,
    locale: "en-US",
    premium_type: 0,
    ...(scopes.includes("email") ? { email: `${user.id}@example.com`, verified: true } : {}),
  };
}

export function roleJson(role: Role) {
  return {
    ...role,
    colors: { primary_color: role.color, secondary_color: null, tertiary_color: null },
    icon: null,
    unicode_emoji: null,
    flags: 0,
  };
}

/** Roles by position, highest first; those at one position by id. */
export function sortedRoles(guild: Guild): Role[] {
  return [...guild.roles.values()].sort((a, b) => b.position - a.position || compareSnowflakes(a.id, b.id));
}

/** Members by user id, lowest first. */
export function sortedMembers(guild: Guild): Member[] {
  return [...guild.members.values()].sort((a, b) => compareSnowflakes(a.user_id, b.user_id));
}

export function memberJson(state: State, member: Member) {
  const { user_id, ...fields } = member;
  return {
    user: userJson(state.users.get(user_id)!),
    ...fields,
    avatar: null,
    banner: null,
    premium_since: null,
    deaf: false,
    mute: false,
  };
}

export function guildJson(guild: Guild, withCounts: boolean) {
  return {
    id: guild.id,
    name: guild.name,
    icon: guild.icon,
    description: null,
    owner_id: guild.owner_id,
    verification_level: 1,
    mfa_level: 0,
    preferred_locale: "en-US",
    features: [],
    emojis: [],
    stickers: [],
    roles: sortedRoles(guild).map(roleJson),
    ...(withCounts
      ? {
        approximate_member_count: guild.members.size,
        approximate_presence_count: Math.ceil(guild.members.size / 2),
      }
      : {}),
  };
}

const ALL_PERMISSIONS = ((1n << 55n) - 1n).toString();
const ADMINISTRATOR = 1n << 3n;

/** One guild in a caller's own list, with that caller's permissions. */
export function ownGuildJson(guild: Guild, userId: string) {
  const roles = [guild.id, ...guild.members.get(userId)?.roles ?? []];
  const base = roles.reduce((bits, id) => bits | BigInt(guild.roles.get(id)?.permissions ?? "0"), 0n);
  const owner = guild.owner_id === userId;
  return {
    id: guild.id,
    name: guild.name,
    icon: guild.icon,
    owner,
    permissions: owner || (base & ADMINISTRATOR) !== 0n ? ALL_PERMISSIONS : base.toString(),
    features: [],
  };
}
