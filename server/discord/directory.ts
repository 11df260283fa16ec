/** Who is in an org's Discord server: membership for access, and lookups for officers. All answers are cached here. */
import type { z } from "zod";
import { type Clock, SECOND } from "../clock.ts";
import { AppError, shown } from "../errors.ts";
import type { Log } from "../log.ts";
import { createBot } from "./bot.ts";
import { createCache } from "./cache.ts";
import type { Route } from "./client.ts";
import { within } from "./deadline.ts";
import { checkedEndpoint } from "./endpoint.ts";
import { type MemberRow, memberRow, type Membership, membershipOf, type Role, roleRows } from "./members.ts";
import { plainName } from "./names.ts";
import { INVALID_FORM } from "./outcome.ts";
import { type Lookup, lookupFailed, lookupRefused } from "./refusals.ts";
import { guildSchema, memberListSchema, memberSchema, roleListSchema, userSchema } from "./schema.ts";
import { compareIds, isSnowflake } from "./snowflake.ts";

export type { MemberRow, Membership, Role } from "./members.ts";

const SEARCH_LIMIT = 100;
const LONGEST_QUERY = 100;
const PAGE = 1_000;
const MOST_MEMBERS = 10_000;
const UNEXPECTED = "Discord answered in an unexpected form.";

export interface LookupOptions {
  /** How long this caller waits, in ms; the question itself goes on for other callers and for the cache. */
  readonly timeoutMs?: number;
}

export interface Directory {
  /** Whether the user is in the server; kept for 60 s, "unknown" never. Does not throw for what Discord does. */
  member(guildId: string, userId: string, o?: LookupOptions): Promise<Membership>;
  /** The kept answer of `member` (at most 60 s old), without asking; for names. */
  cachedMember(guildId: string, userId: string): Membership | null;
  /**
   * Drops what is kept of one user, or of the whole server. For a whole server it also lets calls go again after a
   * refused bot token.
   */
  forget(guildId: string, userId?: string): void;
  /** At most 100 members whose username or nickname starts with the query (cut at 100 characters; empty: none). */
  search(guildId: string, query: string, o?: LookupOptions): Promise<MemberRow[]>;
  /** All members, at most 10,000; needs the Server Members Intent. */
  list(guildId: string, o?: LookupOptions): Promise<MemberRow[]>;
  /** All roles, highest first, @everyone (its id is the server's) and managed ones included. */
  roles(guildId: string, o?: LookupOptions): Promise<Role[]>;
  guild(guildId: string, o?: LookupOptions): Promise<{ id: string; name: string }>;
  /** The bot's own account; asked anew each time, so it tells whether the token works. */
  self(o?: LookupOptions): Promise<{ id: string; username: string }>;
}

export interface DirectoryOptions {
  /** Base of the REST API, ending in /api/v10. */
  readonly apiUrl: string;
  readonly botToken: string | null;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetch?: typeof fetch;
}

/**
 * Makes the directory of one bot token. `search`, `list`, `roles`, `guild` and `self` throw AppError
 * `discord_not_set_up`, `discord_search_failed`, `discord_intent_missing` or `discord_unavailable`, with the hint for
 * officers in `details.hint`; `search` also `invalid_request` for a query that Discord does not accept.
 *
 * @throws AppError `usage` for an `apiUrl` that a token must not be sent to
 */
export function createDirectory(o: DirectoryOptions): Directory {
  const endpoint = checkedEndpoint("DISCORD_API_URL", o.apiUrl);
  const bot = createBot({ ...o, endpoint, token: o.botToken, fetch: o.fetch ?? fetch });
  const cache = <T>(ttlMs: number, max: number, keep?: (value: T) => boolean) =>
    createCache<T>({ clock: o.clock, ttlMs, max, ...(keep ? { keep } : {}) });
  const members = cache<Membership>(60 * SECOND, 20_000, (answer) => answer.kind !== "unknown");
  const searches = cache<MemberRow[]>(30 * SECOND, 200);
  const lists = cache<MemberRow[]>(120 * SECOND, 20);
  const roleLists = cache<Role[]>(300 * SECOND, 200);
  const guilds = cache<{ id: string; name: string }>(300 * SECOND, 200);

  const memberKey = (guildId: string, userId: string) => `${guildId}/${userId}`;

  async function askMember(guildId: string, userId: string): Promise<Membership> {
    const path = ["guilds", guildId, "members", userId];
    const outcome = await bot.ask({ route: "member", guildId, path });
    if (outcome.kind === "absent") return { kind: "not_member" };
    if (outcome.kind !== "ok") return { kind: "unknown", reason: outcome.kind, hint: outcome.hint };
    const body = memberSchema.safeParse(outcome.body);
    if (!body.success || body.data.user.id !== userId) {
      o.log.warn("Discord sent a member in an unexpected form", { guild_id: guildId });
      return { kind: "unknown", reason: "down", hint: UNEXPECTED };
    }
    return membershipOf(body.data);
  }

  async function lookUp<T>(lookup: Lookup, schema: z.ZodType<T>, route: Route): Promise<T> {
    if (route.guildId !== null && o.botToken !== null && !isSnowflake(route.guildId)) {
      throw lookupFailed(lookup, badGuild(route.guildId));
    }
    const outcome = await bot.ask(route);
    if (outcome.kind !== "ok") {
      if (lookup === "search" && outcome.kind === "misconfigured" && outcome.code === INVALID_FORM) {
        throw new AppError("invalid_request", `Discord does not accept this search: ${shown(route.query?.query)}`);
      }
      throw lookupRefused(lookup, outcome);
    }
    const body = schema.safeParse(outcome.body);
    if (body.success) return body.data;
    o.log.warn("Discord answered in an unexpected form", { route: route.route, guild_id: route.guildId });
    throw lookupFailed(lookup, UNEXPECTED);
  }

  async function askSearch(guildId: string, query: string): Promise<MemberRow[]> {
    const path = ["guilds", guildId, "members", "search"];
    const route = { route: "member search", guildId, path, query: { query, limit: String(SEARCH_LIMIT) } };
    return (await lookUp("search", memberListSchema, route)).map(memberRow);
  }

  async function askList(guildId: string): Promise<MemberRow[]> {
    const rows: MemberRow[] = [];
    const path = ["guilds", guildId, "members"];
    let after = "0";
    while (rows.length < MOST_MEMBERS) {
      const route = { route: "member list", guildId, path, query: { limit: String(PAGE), after } };
      const page = await lookUp("list", memberListSchema, route);
      rows.push(...page.map(memberRow));
      if (page.length < PAGE) break;
      after = page.map((member) => member.user.id).reduce((a, b) => compareIds(a, b) > 0 ? a : b);
    }
    return rows.slice(0, MOST_MEMBERS);
  }

  async function askGuild(guildId: string): Promise<{ id: string; name: string }> {
    const body = await lookUp("other", guildSchema, { route: "guild", guildId, path: ["guilds", guildId] });
    return { id: body.id, name: plainName(body.name) || body.id };
  }

  async function askRoles(guildId: string): Promise<Role[]> {
    const path = ["guilds", guildId, "roles"];
    return roleRows(await lookUp("other", roleListSchema, { route: "roles", guildId, path }));
  }

  async function askSelf(): Promise<{ id: string; username: string }> {
    const body = await lookUp("other", userSchema, { route: "self", guildId: null, path: ["users", "@me"] });
    return { id: body.id, username: plainName(body.username) || body.id };
  }

  async function member(guildId: string, userId: string, options: LookupOptions = {}): Promise<Membership> {
    if (!isSnowflake(userId)) return { kind: "not_member" };
    if (!isSnowflake(guildId)) return { kind: "unknown", reason: "misconfigured", hint: badGuild(guildId) };
    const flight = members.load(memberKey(guildId, userId), () => askMember(guildId, userId));
    return await within(flight, options.timeoutMs, (ms) => ({ kind: "unknown", reason: "down", hint: lateHint(ms) }));
  }

  /** A lookup as one caller sees it: with their own time limit. */
  function timed<T>(lookup: Lookup, flight: Promise<T>, options: LookupOptions = {}): Promise<T> {
    return within(flight, options.timeoutMs, (ms) => {
      throw lookupFailed(lookup, lateHint(ms));
    });
  }

  return {
    member,
    cachedMember: (guildId, userId) => members.peek(memberKey(guildId, userId)) ?? null,
    forget(guildId, userId) {
      if (userId !== undefined) return members.forget((key) => key === memberKey(guildId, userId));
      const prefix = `${guildId}/`;
      for (const kept of [members, searches, lists, roleLists, guilds]) kept.forget((key) => key.startsWith(prefix));
      bot.resume();
    },
    async search(guildId, query, options) {
      const cut = [...query.trim()].slice(0, LONGEST_QUERY).join("");
      if (cut === "") return [];
      const flight = searches.load(`${guildId}/${cut}`, () => askSearch(guildId, cut));
      return [...await timed("search", flight, options)];
    },
    list: async (guildId, options) => [
      ...await timed("list", lists.load(`${guildId}/`, () => askList(guildId)), options),
    ],
    roles: async (guildId, options) => [
      ...await timed("other", roleLists.load(`${guildId}/`, () => askRoles(guildId)), options),
    ],
    guild: (guildId, options) => timed("other", guilds.load(`${guildId}/`, () => askGuild(guildId)), options),
    self: (options) => timed("other", askSelf(), options),
  };
}

function badGuild(guildId: string): string {
  return `The server id is not a Discord id: ${shown(guildId)}.`;
}

function lateHint(ms: number): string {
  return `Discord did not answer within ${ms} ms.`;
}
