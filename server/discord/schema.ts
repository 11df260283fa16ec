/** What orgpods reads of Discord's answers. Unknown fields are dropped; a field of the wrong type refuses the answer. */
import { z } from "zod";

const snowflake = z.string().regex(/^[0-9]{15,20}$/);

/** A user object (identity of a sign-in, or inside a member). */
export const userSchema = z.object({
  id: snowflake,
  username: z.string(),
  global_name: z.string().nullish(),
  avatar: z.string().nullish(),
  bot: z.boolean().optional(),
});

/** A guild member as the member, search and list routes give it; `roles` is without @everyone. */
export const memberSchema = z.object({
  user: userSchema,
  nick: z.string().nullish(),
  roles: z.array(snowflake),
  pending: z.boolean().optional(),
  flags: z.number().int().optional(),
});
export type MemberBody = z.infer<typeof memberSchema>;

export const memberListSchema = z.array(memberSchema);

const colour = z.number().int().min(0).max(0xffffff);

/** A role; `color` is deprecated in favour of `colors`, so either may be missing. */
export const roleSchema = z.object({
  id: snowflake,
  name: z.string(),
  color: colour.optional(),
  colors: z.object({ primary_color: colour }).optional(),
  position: z.number().int(),
  managed: z.boolean().optional(),
});
export type RoleBody = z.infer<typeof roleSchema>;

export const roleListSchema = z.array(roleSchema);

export const guildSchema = z.object({ id: snowflake, name: z.string() });

/** The error body of the REST routes: a number that says what is wrong. */
export const errorSchema = z.object({ code: z.number().int() });

/** The body of a 429: how long to wait in seconds, and whether for every route. */
export const rateLimitSchema = z.object({ retry_after: z.number(), global: z.boolean().optional() });
