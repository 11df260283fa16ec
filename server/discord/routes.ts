import { Hono } from "hono";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { query } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import type { Directory } from "./directory.ts";

const LONGEST_QUERY = 100;
const MOST_IDS = 50;
/** For all names together. */
const NAMES_MS = 8_000;

/** The member picker of officers is lenient, as the contract says: a wrong role or limit takes the default. */
const membersSchema = z.looseObject({
  q: z.string().optional().transform((text) => (text ?? "").trim().slice(0, LONGEST_QUERY)),
  role: z.string().optional().transform((text) => text !== undefined && /^\d+$/.test(text) ? text : null),
  limit: z.string().optional().transform((text) => {
    const limit = Number(text ?? 50);
    return Number.isInteger(limit) && limit >= 1 ? Math.min(limit, 500) : 50;
  }),
  ids: z.string().optional().transform((text) =>
    text === undefined
      ? null
      : text.split(",").map((id) => id.trim()).filter((id) => /^\d{5,25}$/.test(id)).slice(0, MOST_IDS)
  ),
});

/** Officers look up members and roles, under `/api/compute/<org>`. */
export function discordRoutes(deps: { readonly directory: Directory; readonly guards: Guards }) {
  const { directory, guards } = deps;
  return new Hono<Env>()
    .get("/members", guards.officer, query(membersSchema), async (c) => {
      const { guildId } = orgOf(c);
      const { q, role, limit, ids } = c.req.valid("query");
      if (ids !== null) return c.json({ members: await named(directory, guildId, ids) });
      return c.json(await found(directory, guildId, { q, role, limit }));
    })
    .get("/members/roles", guards.officer, async (c) => {
      const { guildId } = orgOf(c);
      const roles = (await directory.roles(guildId)).filter((role) => role.id !== guildId && !role.managed);
      return c.json({ roles: roles.map(({ id, name, color }) => ({ id, name, color })) });
    });
}

function unavailable(reason: "not_set_up" | "misconfigured" | "down", hint: string): AppError {
  return reason === "not_set_up"
    ? new AppError("discord_not_set_up", "Discord is not set up, so members cannot be looked up. Enter Discord ids.", {
      hint,
    })
    : new AppError("discord_unavailable", "Discord is not available; try again shortly", { hint });
}

const order = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0;

/** Members whose name begins with `q`, and who have the role, sorted by name; bots are left out. */
async function found(
  directory: Directory,
  guildId: string,
  { q, role, limit }: { readonly q: string; readonly role: string | null; readonly limit: number },
) {
  const rows = q === "" ? await directory.list(guildId) : await directory.search(guildId, q);
  const fitting = rows
    .filter((row) => !row.bot && (role === null || row.roles.includes(role)))
    .map((row) => ({
      id: row.id,
      name: row.name,
      username: row.username,
      avatar: row.avatar,
      roles: [...row.roles],
      bot: false as const,
    }))
    .sort((a, b) => order(a.name.toLowerCase(), b.name.toLowerCase()) || order(a.id, b.id));
  return { members: fitting.slice(0, limit), total: fitting.length };
}

/** The answer of `GET /members` without `ids`. */
export type FoundMembers = Awaited<ReturnType<typeof found>>;

async function named(directory: Directory, guildId: string, ids: readonly string[]) {
  const members: { id: string; name: string }[] = [];
  const until = performance.now() + NAMES_MS;
  for (const id of new Set(ids)) {
    const answer = await directory.member(guildId, id, { timeoutMs: Math.max(1, until - performance.now()) });
    if (answer.kind === "unknown") throw unavailable(answer.reason, answer.hint);
    if (answer.kind === "member") members.push({ id, name: answer.name });
  }
  return members;
}
