import { Hono } from "hono";
import { z } from "zod";
import type { Database } from "../../db/database.ts";
import { eventPage } from "../../db/stores/events.ts";
import { podIdText, wholeText } from "../audit/routes.ts";
import { query } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import { noticeOf } from "./notice.ts";
import { EVENT_KINDS } from "./kinds.ts";

const pageSchema = z.looseObject({
  limit: wholeText(1, 500, "limit must be a whole number from 1 to 500").default(100),
  before_id: wholeText(1, Number.MAX_SAFE_INTEGER, "before_id must be a whole number").optional(),
  kind: z.enum(EVENT_KINDS, `kind must be one of ${EVENT_KINDS.join(", ")}`).optional(),
  pod_id: podIdText.optional(),
});

/** `GET /events`: what happened in an org, newest first. */
export function eventRoutes(deps: { readonly db: Database; readonly guards: Guards }) {
  return new Hono<Env>().get("/events", deps.guards.officer, query(pageSchema), (c) => {
    const { limit, before_id, kind, pod_id } = c.req.valid("query");
    const rows = eventPage(deps.db, orgOf(c).id, {
      limit,
      beforeId: before_id ?? null,
      kind: kind ?? null,
      runpodId: pod_id ?? null,
    });
    return c.json({ events: rows.map(noticeOf) });
  });
}
