import type { Clock } from "../../clock.ts";
import { parsed } from "./parsed.ts";
import type { State } from "./state.ts";
import { createTimeline } from "./timeline.ts";
import { applyChange } from "./world_changes.ts";
import {
  type NewGuild,
  type NewMember,
  type NewRole,
  type NewUser,
  type WorldChange,
  worldChange,
} from "./world_schema.ts";

/**
 * The people and guilds of the stand-in, with one function for what tests do most. `change` takes every change that
 * `POST /_demo/world` takes. All refuse with AppError `invalid_request` what could not be in the real world.
 */
export interface World {
  /** The user id of the bot: the application's id, as for each newer application. */
  readonly botId: string;
  change(change: WorldChange): void;
  addUser(user: NewUser): void;
  /** Makes the guild with its @everyone role, the owner as a member, and the bot unless `bot` is false. */
  addGuild(guild: NewGuild): void;
  addRole(role: NewRole): void;
  deleteRole(guildId: string, roleId: string): void;
  addMember(member: NewMember): void;
  removeMember(guildId: string, userId: string): void;
  setRoles(guildId: string, userId: string, roles: string[]): void;
  setNick(guildId: string, userId: string, nick: string | null): void;
  setPending(guildId: string, userId: string, pending: boolean): void;
  addBot(guildId: string): void;
  removeBot(guildId: string): void;
  /** Switches the "Server Members Intent". It is off at the start, as for a new application. */
  setIntent(on: boolean): void;
  /** The state that the API answers from; changes made with a delay are not in it yet. */
  visible(): State;
  /** The state with all changes. */
  truth(): State;
}

export interface WorldOptions {
  readonly clock: Clock;
  readonly botId: string;
  readonly botName: string;
  /** How long a change made now stays unseen, in milliseconds. */
  delay(): number;
  /** Called after each change that was made. */
  changed(): void;
}

export function createWorld(options: WorldOptions): World {
  const { clock, botId } = options;
  const bot = { id: botId, username: options.botName, discriminator: "0417", global_name: null, avatar: null };
  const timeline = createTimeline(clock, new Map([[botId, { ...bot, bot: true }]]));

  function change(input: WorldChange): void {
    const change = parsed(worldChange, input);
    applyChange(timeline.edit(options.delay()), change, { botId, now: clock.now() });
    options.changed();
  }

  return {
    botId,
    change,
    addUser: (user) => change({ action: "add_user", ...user }),
    addGuild: (guild) => change({ action: "add_guild", ...guild }),
    addRole: (role) => change({ action: "add_role", ...role }),
    deleteRole: (guild_id, role_id) => change({ action: "delete_role", guild_id, role_id }),
    addMember: (member) => change({ action: "join", ...member }),
    removeMember: (guild_id, user_id) => change({ action: "leave", guild_id, user_id }),
    setRoles: (guild_id, user_id, roles) => change({ action: "set_roles", guild_id, user_id, roles }),
    setNick: (guild_id, user_id, nick) => change({ action: "set_nick", guild_id, user_id, nick }),
    setPending: (guild_id, user_id, pending) => change({ action: "set_pending", guild_id, user_id, pending }),
    addBot: (guild_id) => change({ action: "add_bot", guild_id }),
    removeBot: (guild_id) => change({ action: "remove_bot", guild_id }),
    setIntent: (on) => change({ action: "set_intent", on }),
    visible: timeline.visible,
    truth: timeline.truth,
  };
}
