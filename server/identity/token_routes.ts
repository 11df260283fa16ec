import { Hono } from "hono";
import { z } from "zod";
import type { Database } from "../../db/database.ts";
import { liveTokens, revokeToken, tokenById, type TokenRow } from "../../db/stores/tokens.ts";
import { actorOf, type Audit } from "../audit/write.ts";
import { type Clock, isoTime } from "../clock.ts";
import { AppError } from "../errors.ts";
import { askerOf } from "../http/asker.ts";
import { json } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import type { Removals } from "../removal/carry_out.ts";
import { takeOfToken } from "../removal/of_token.ts";
import { carryOutAll } from "../removal/view.ts";
import { callerId } from "./callers.ts";
import { issueToken } from "./tokens.ts";

export interface TokenDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly guards: Guards;
  readonly removals: Removals;
}

const issueSchema = z.strictObject({
  kind: z.enum(["cli", "officer"], "kind must be cli or officer"),
  discord_id: z.string("discord_id must be a Discord id").regex(/^\d{5,25}$/, "discord_id must be a Discord id"),
  name: z.string("name must be text").trim().min(1, "name must be text").max(100, "name must be at most 100 characters")
    .default("made by the operator"),
  days: z.int("days must be a whole number from 1 to 365").min(1, "days must be a whole number from 1 to 365")
    .max(365, "days must be a whole number from 1 to 365").default(90),
});

const view = (row: TokenRow) => ({
  id: row.id,
  kind: row.kind,
  name: row.name,
  display: row.display,
  discord_id: row.discord_id,
  created_by: row.created_by,
  created_at: isoTime(row.created_at),
  expires_at: isoTime(row.expires_at),
  last_used_at: row.last_used_at === null ? null : isoTime(row.last_used_at),
});

/** Tokens of an org, under `/api/compute/<org>`. Values are never shown again. */
export function tokenRoutes(deps: TokenDeps) {
  const { db, clock, audit, guards } = deps;
  return new Hono<Env>()
    .get("/tokens", guards.officer, (c) => {
      return c.json({ tokens: liveTokens(db, orgOf(c).id, clock.now()).map(view) });
    })
    .delete("/tokens/:token", guards.officer, async (c) => {
      const org = orgOf(c);
      const asker = askerOf(c);
      const id = /^\d{1,15}$/.test(c.req.param("token")) ? Number(c.req.param("token")) : -1;
      const taken = db.tx(() => {
        const row = tokenById(db, org.id, id);
        if (row === undefined || !revokeToken(db, org.id, id, callerId(asker.caller), clock.now())) {
          throw new AppError("token_not_found", "Token not found");
        }
        audit.write({
          ...actorOf(asker.caller),
          address: asker.address,
          action: asker.action,
          orgPrefix: org.prefix,
          status: 200,
          outcome: "ok",
          details: { token: row.display, kind: row.kind, owner: row.discord_id },
        });
        return takeOfToken(deps, org, asker, { id, discordId: row.discord_id }, clock.now());
      });
      return c.json({ revoked: id, removals: await carryOutAll(deps.removals, taken) });
    })
    .post("/tokens", guards.operator, json(issueSchema), (c) => {
      const org = orgOf(c);
      const asker = askerOf(c);
      const request = c.req.valid("json");
      const by = callerId(asker.caller);
      const issued = db.tx(() => {
        const token = issueToken(
          db,
          { orgId: org.id, kind: request.kind, discordId: request.discord_id, name: request.name, days: request.days },
          by,
          clock.now(),
        );
        audit.write({
          ...actorOf(asker.caller),
          address: asker.address,
          action: `compute ${request.kind} token issued`,
          orgPrefix: org.prefix,
          status: 201,
          outcome: "ok",
          details: { kind: request.kind, owner: request.discord_id, revoked: token.revoked },
        });
        return token;
      });
      c.header("cache-control", "no-store");
      return c.json({
        id: issued.id,
        token: issued.token,
        kind: request.kind,
        discord_id: request.discord_id,
        expires_at: isoTime(issued.expiresAt),
        revoked: issued.revoked,
      }, 201);
    })
    .delete("/me/token", guards.tokenOwner, async (c) => {
      const org = orgOf(c);
      const asker = askerOf(c);
      const { caller } = asker;
      if (caller.kind === "operator" || caller.tokenId === null) {
        throw new AppError("sign_in_required", "Send the CLI token that is to be revoked");
      }
      const { tokenId } = caller;
      const taken = db.tx(() => {
        revokeToken(db, org.id, tokenId, callerId(caller), clock.now());
        audit.write({
          ...actorOf(caller),
          address: asker.address,
          action: asker.action,
          orgPrefix: org.prefix,
          status: 200,
          outcome: "ok",
        });
        return takeOfToken(deps, org, asker, { id: tokenId, discordId: caller.discordId }, clock.now());
      });
      const removals = await carryOutAll(deps.removals, taken);
      return c.json({ revoked: tokenId, ended: removals.map(({ state, report, left }) => ({ state, report, left })) });
    });
}
