import { Hono } from "hono";
import { z } from "zod";
import { podById } from "../../db/stores/pods.ts";
import { recentRemovals } from "../../db/stores/removals.ts";
import { askerOf } from "../http/asker.ts";
import { json, parseOrRefuse, query } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import type { PodDeps } from "../pods/deps.ts";
import { findPod } from "../pods/list.ts";
import {
  block,
  blockSchema,
  disconnect,
  disconnectSchema,
  discordIdSchema,
  listBlocked,
  refuseOfficer,
  unblock,
} from "./block.ts";
import type { Removals } from "./carry_out.ts";
import { carryOutAll, removalView } from "./view.ts";

const LIMIT = "limit must be a whole number from 1 to 200";
const listSchema = z.strictObject({
  limit: z.coerce.number(LIMIT).int(LIMIT).min(1, LIMIT).max(200, LIMIT).default(50),
});
const whereSchema = z.strictObject({ pod_id: z.string().optional() });

/** Taking access away, under `/api/compute/<org>`, for officers. */
export function removalRoutes(
  deps: PodDeps & {
    readonly removals: Removals;
    readonly superadmins: ReadonlySet<string>;
    readonly guards: Guards;
  },
) {
  const { officer } = deps.guards;
  return new Hono<Env>()
    .post("/pods/:id/members/:discordId/disconnect", officer, json(disconnectSchema), async (c) => {
      const discordId = parseOrRefuse(discordIdSchema, c.req.param("discordId"));
      const pod = findPod(deps, orgOf(c), c.req.param("id"));
      const { block } = c.req.valid("json");
      const warnings = block ? await refuseOfficer(deps, orgOf(c), discordId) : [];
      const taken = disconnect(deps, orgOf(c), askerOf(c), { podId: pod.runpod_id, discordId, block });
      const [removal] = await carryOutAll(deps.removals, taken);
      return c.json({
        pod_id: pod.runpod_id,
        discord_id: discordId,
        blocked: block,
        removal: removal ?? null,
        warnings,
      });
    })
    .get("/blocked", officer, (c) => c.json({ blocked: listBlocked(deps, orgOf(c)) }))
    .post("/blocked", officer, json(blockSchema), async (c) => {
      const request = c.req.valid("json");
      const warnings = await refuseOfficer(deps, orgOf(c), request.discord_id);
      const taken = block(deps, orgOf(c), askerOf(c), request);
      const removals = await carryOutAll(deps.removals, taken);
      return c.json({ discord_id: request.discord_id, removals, warnings }, 201);
    })
    .delete("/blocked/:discordId", officer, query(whereSchema), (c) => {
      const discordId = parseOrRefuse(discordIdSchema, c.req.param("discordId"));
      unblock(deps, orgOf(c), askerOf(c), discordId, c.req.valid("query").pod_id);
      return c.json({ unblocked: discordId });
    })
    .get("/removals", officer, query(listSchema), (c) => {
      const rows = recentRemovals(deps.db, orgOf(c).id, c.req.valid("query").limit);
      return c.json({ removals: rows.map((row) => removalView(row, podById(deps.db, row.pod_id)?.runpod_id ?? null)) });
    });
}
