/** A person or bot with an account, in Discord's own field names. An optional field that is absent is not sent. */
export interface User {
  id: string;
  username: string;
  /** `"0"` for a name of the 2023 system, four digits for an older one. */
  discriminator: string;
  global_name: string | null;
  avatar: string | null;
  bot?: boolean;
  public_flags?: number;
}

/** A role of a guild. `permissions` is a decimal string, since the bits go beyond what a number holds. */
export interface Role {
  id: string;
  name: string;
  position: number;
  permissions: string;
  managed: boolean;
  hoist: boolean;
  mentionable: boolean;
  color: number;
}

/** One user in one guild. `roles` never holds @everyone; `nick` is absent, null or set. */
export interface Member {
  user_id: string;
  roles: string[];
  nick?: string | null;
  joined_at: string;
  pending: boolean;
  flags: number;
  communication_disabled_until?: string | null;
}

/** A Discord server. The bot is in it while its user is among the members. */
export interface Guild {
  id: string;
  name: string;
  icon: string | null;
  owner_id: string;
  roles: Map<string, Role>;
  members: Map<string, Member>;
}

/** Everything the stand-in knows about people and guilds. */
export interface State {
  /** The "Server Members Intent" switch of the application. */
  intent: boolean;
  users: Map<string, User>;
  guilds: Map<string, Guild>;
}

/** The bit of a member's `flags` that marks a guest of a voice channel. */
export const IS_GUEST = 1 << 4;
