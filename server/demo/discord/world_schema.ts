import { z } from "zod";
import { isSnowflake } from "./snowflake.ts";

const id = z.string().refine(isSnowflake, "must be a snowflake: a decimal id of at most 64 bits, as a string");
const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)), "must be an ISO 8601 time");
const name = z.string().min(1).max(100);
/** A nickname, or null for one that was taken away. What Discord forbids in names is allowed: old names are odd. */
const nick = z.string().min(1).max(32).nullable();
const permissions = z.string().regex(/^\d{1,20}$/, "must be a decimal string");

const userFields = {
  username: z.string().min(1).max(32),
  discriminator: z.string().regex(/^(0|\d{4})$/).optional(),
  global_name: z.string().min(1).max(32).nullable().optional(),
  avatar: z.string().regex(/^(a_)?[0-9a-f]{32}$/).nullable().optional(),
  bot: z.boolean().optional(),
  public_flags: z.number().int().nonnegative().optional(),
};

const memberFields = {
  roles: z.array(id).max(250).optional(),
  nick: nick.optional(),
  pending: z.boolean().optional(),
  flags: z.number().int().nonnegative().optional(),
  joined_at: time.optional(),
  communication_disabled_until: time.nullable().optional(),
};

export const addUser = z.strictObject({ id, ...userFields });
export const setUser = z.strictObject({ id, ...userFields, username: userFields.username.optional() });
export const addGuild = z.strictObject({
  id,
  name,
  owner_id: id,
  icon: z.string().nullable().optional(),
  /** False for a guild that the bot is not in. Default true. */
  bot: z.boolean().optional(),
});
export const addRole = z.strictObject({
  guild_id: id,
  id,
  name,
  position: z.number().int().nonnegative().optional(),
  permissions: permissions.optional(),
  managed: z.boolean().optional(),
  hoist: z.boolean().optional(),
  mentionable: z.boolean().optional(),
  color: z.number().int().min(0).max(0xffffff).optional(),
});
export const addMember = z.strictObject({ guild_id: id, user_id: id, ...memberFields });
const ofMember = { guild_id: id, user_id: id };
const action = <A extends string, S extends z.ZodRawShape>(word: A, shape: S) =>
  z.strictObject({ action: z.literal(word), ...shape });

/** One change of the world, as `POST /_demo/world` takes it. Unknown fields are refused. */
export const worldChange = z.discriminatedUnion("action", [
  action("add_user", addUser.shape),
  action("set_user", setUser.shape),
  action("add_guild", addGuild.shape),
  action("set_owner", { guild_id: id, owner_id: id }),
  action("add_role", addRole.shape),
  action("set_role", { ...addRole.shape, name: name.optional() }),
  action("delete_role", { guild_id: id, role_id: id }),
  action("join", addMember.shape),
  action("leave", ofMember),
  action("set_roles", { ...ofMember, roles: z.array(id).max(250) }),
  action("set_nick", { ...ofMember, nick }),
  action("set_pending", { ...ofMember, pending: z.boolean() }),
  action("set_flags", { ...ofMember, flags: z.number().int().nonnegative() }),
  action("set_timeout", { ...ofMember, communication_disabled_until: time.nullable() }),
  action("add_bot", { guild_id: id }),
  action("remove_bot", { guild_id: id }),
  action("set_intent", { on: z.boolean() }),
]);

export type WorldChange = z.infer<typeof worldChange>;
export type NewUser = z.infer<typeof addUser>;
export type NewGuild = z.infer<typeof addGuild>;
export type NewRole = z.infer<typeof addRole>;
export type NewMember = z.infer<typeof addMember>;
