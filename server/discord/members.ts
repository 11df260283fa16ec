/** Discord's member and role objects as orgpods uses them. */
import { plainName, shownName } from "./names.ts";
import type { MemberBody, RoleBody } from "./schema.ts";
import { compareIds } from "./snowflake.ts";

/**
 * Whether a Discord user is in a server. `unknown` is neither yes nor no: callers answer 503, and only officers and
 * the operator see the hint.
 */
export type Membership =
  | {
    readonly kind: "member";
    readonly userId: string;
    readonly username: string;
    /** Nickname, else global name, else username; safe to show. */
    readonly name: string;
    /** Role ids, without @everyone. */
    readonly roles: readonly string[];
    /** Has not passed the server's membership screening. */
    readonly pending: boolean;
    /** Came by a voice invitation only. */
    readonly guest: boolean;
    readonly bot: boolean;
    /** Address of the picture, 64 pixels. */
    readonly avatar: string | null;
  }
  | { readonly kind: "not_member" }
  | {
    readonly kind: "unknown";
    readonly reason: "not_set_up" | "misconfigured" | "down";
    readonly hint: string;
  };

/** A row of the member search or list; bots are in it and marked. */
export interface MemberRow {
  readonly id: string;
  readonly username: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly pending: boolean;
  readonly guest: boolean;
  readonly bot: boolean;
  readonly avatar: string | null;
}

export interface Role {
  readonly id: string;
  readonly name: string;
  /** `#rrggbb`; `#000000` is Discord's "no colour". */
  readonly color: string;
  readonly position: number;
  /** Belongs to a bot or an integration; people cannot be given it. */
  readonly managed: boolean;
}

const IS_GUEST = 1 << 4;

function avatarAddress(userId: string, hash: string | null | undefined): string | null {
  if (!hash || !/^[0-9A-Za-z_]{1,64}$/.test(hash)) return null;
  return `https://cdn.discordapp.com/avatars/${userId}/${hash}.png?size=64`;
}

export function memberRow(body: MemberBody): MemberRow {
  const { user } = body;
  return {
    id: user.id,
    username: plainName(user.username) || user.id,
    name: shownName({ id: user.id, username: user.username, globalName: user.global_name, nick: body.nick }),
    roles: body.roles,
    pending: body.pending ?? false,
    guest: ((body.flags ?? 0) & IS_GUEST) !== 0,
    bot: user.bot ?? false,
    avatar: avatarAddress(user.id, user.avatar),
  };
}

export function membershipOf(body: MemberBody): Membership {
  const { id, ...row } = memberRow(body);
  return { kind: "member", userId: id, ...row };
}

/** Roles with the highest position first; of two with the same position the older one is higher, as in Discord. */
export function roleRows(bodies: readonly RoleBody[]): Role[] {
  return bodies.map((body) => ({
    id: body.id,
    name: plainName(body.name) || body.id,
    color: `#${(body.colors?.primary_color ?? body.color ?? 0).toString(16).padStart(6, "0")}`,
    position: body.position,
    managed: body.managed ?? false,
  })).sort((a, b) => b.position - a.position || compareIds(a.id, b.id));
}
