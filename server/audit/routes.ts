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

/** RunPod's id of a pod in a query string, to keep a list to that pod; it may be one that is gone. */
export const podIdText = z.string("pod_id must be a pod's id").regex(
  /^[A-Za-z0-9_-]{1,64}$/,
  "pod_id must be a pod's id",
);

const pageSchema = z.looseObject({
  limit: wholeText(1, 500, "limit must be a whole number from 1 to 500").default(100),
  before_id: wholeText(1, Number.MAX_SAFE_INTEGER, "before_id must be a whole number").optional(),
  pod_id: podIdText.optional(),
});

export function auditRoutes(deps: { readonly db: Database; readonly guards: Guards }) {
  return new Hono<Env>().get("/audit", deps.guards.officer, query(pageSchema), (c) => {
    const { limit, before_id, pod_id } = c.req.valid("query");
    const rows = auditPage(deps.db, orgOf(c).id, { limit, beforeId: before_id ?? null, podId: pod_id ?? null });
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
