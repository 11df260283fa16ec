import { Hono } from "hono";
import { z } from "zod";
import type { Database } from "../../db/database.ts";
import { auditPage } from "../../db/stores/audit.ts";
import { isoTime } from "../clock.ts";
import { query } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";

/** A whole number in a query string; the sentence is the refusal. */
export const wholeText = (min: number, max: number, sentence: string) =>
  z.string(sentence).regex(/^\d{1,15}$/, sentence).transform(Number)
    .refine((value) => value >= min && value <= max, sentence);

const pageSchema = z.looseObject({
  limit: wholeText(1, 500, "limit must be a whole number from 1 to 500").default(100),
  before_id: wholeText(1, Number.MAX_SAFE_INTEGER, "before_id must be a whole number").optional(),
});

export function auditRoutes(deps: { readonly db: Database; readonly guards: Guards }) {
  return new Hono<Env>().get("/audit", deps.guards.officer, query(pageSchema), (c) => {
    const { limit, before_id } = c.req.valid("query");
    const rows = auditPage(deps.db, orgOf(c).id, { limit, beforeId: before_id ?? null });
    return c.json({
      audit: rows.map((row) => ({
        id: row.id,
        at: isoTime(row.created_at),
        source: row.source,
        action: row.action,
        pod_id: row.pod_id,
        actor_kind: row.actor_kind,
        actor_id: row.actor_id,
        actor_name: row.actor_name,
        address: row.address,
        status: row.status,
        outcome: row.outcome,
        details: JSON.parse(row.details) as Record<string, unknown>,
      })),
    });
  });
}
