import { Hono } from "hono";
import { z } from "zod";
import { deliveryPage } from "../../db/stores/deliveries.ts";
import { webhooksOf } from "../../db/stores/webhooks.ts";
import { wholeText } from "../audit/routes.ts";
import { askerOf } from "../http/asker.ts";
import { json, query } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import { addWebhook, changeWebhook, findWebhook, type ManageDeps, removeWebhook } from "./manage.ts";
import { addSchema, changeSchema } from "./schema.ts";
import { resendDelivery, type SendNowDeps, testWebhook } from "./send_now.ts";
import { deliveryView, webhookView } from "./view.ts";

const pageSchema = z.looseObject({
  limit: wholeText(1, 500, "limit must be a whole number from 1 to 500").default(100),
  before_id: wholeText(1, Number.MAX_SAFE_INTEGER, "before_id must be a whole number").optional(),
});

/** Webhooks of an org and what was sent to them, under `/api/compute/<org>`; all for officers. */
export function webhookRoutes(deps: ManageDeps & SendNowDeps & { readonly guards: Guards }) {
  const { db, clock } = deps;
  const { officer } = deps.guards;
  return new Hono<Env>()
    .get("/webhooks", officer, (c) => {
      const now = clock.now();
      return c.json({ webhooks: webhooksOf(db, orgOf(c).id).map((hook) => webhookView(db, hook, now)) });
    })
    .post("/webhooks", officer, json(addSchema), (c) => {
      const { hook, secret } = addWebhook(deps, orgOf(c), askerOf(c), c.req.valid("json"));
      c.header("cache-control", "no-store");
      return c.json({ webhook: webhookView(db, hook, clock.now()), secret }, 201);
    })
    .get("/webhooks/:id", officer, (c) => {
      return c.json({ webhook: webhookView(db, findWebhook(db, orgOf(c), c.req.param("id")), clock.now()) });
    })
    .put("/webhooks/:id", officer, json(changeSchema), (c) => {
      const { hook, secret } = changeWebhook(deps, orgOf(c), askerOf(c), c.req.param("id"), c.req.valid("json"));
      c.header("cache-control", "no-store");
      return c.json({ webhook: webhookView(db, hook, clock.now()), secret });
    })
    .delete("/webhooks/:id", officer, (c) => {
      return c.json({ removed: removeWebhook(deps, orgOf(c), askerOf(c), c.req.param("id")).id });
    })
    .post("/webhooks/:id/test", officer, async (c) => {
      return c.json({ delivery: deliveryView(await testWebhook(deps, orgOf(c), askerOf(c), c.req.param("id"))) });
    })
    .get("/webhooks/:id/deliveries", officer, query(pageSchema), (c) => {
      const { limit, before_id } = c.req.valid("query");
      const hook = findWebhook(db, orgOf(c), c.req.param("id"));
      const rows = deliveryPage(db, hook.id, { limit, beforeId: before_id ?? null });
      return c.json({ deliveries: rows.map(deliveryView) });
    })
    .post("/webhooks/:id/deliveries/:delivery/resend", officer, (c) => {
      const { id, delivery } = c.req.param();
      return c.json({ delivery: deliveryView(resendDelivery(deps, orgOf(c), askerOf(c), id, delivery)) });
    });
}
