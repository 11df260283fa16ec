import { Hono } from "hono";
import { type Database } from "../../db/database.ts";
import { orgByPrefix } from "../../db/stores/organizations.ts";
import type { Env } from "./env.ts";
import type { Guards } from "./guards.ts";
import { page } from "./pages.ts";

/** Health, and the pages that tell a member what to type. */
export function publicRoutes(deps: {
  readonly db: Database;
  readonly guards: Guards;
  readonly version: string;
  readonly baseUrl: string | null;
}) {
  const open = deps.guards.public;
  const addressOf = (url: string) => deps.baseUrl ?? new URL(url).origin;
  return new Hono<Env>()
    .get("/health", open, (c) => {
      deps.db.get("select 1");
      return c.json({ status: "ok", version: deps.version });
    })
    .get("/", open, (c) =>
      page({
        title: "orgpods",
        paragraphs: [
          "Install the client with pip install godfather-cli, then sign in with your organization's prefix:",
        ],
        box: `godfather auth --api-url ${addressOf(c.req.url)} --org <prefix>`,
      }))
    .get("/:org", open, (c) => {
      const prefix = c.req.param("org");
      const org = /^[a-z0-9_-]{2,20}$/.test(prefix) ? orgByPrefix(deps.db, prefix) : undefined;
      if (org === undefined || !org.isActive) {
        return page({ title: "orgpods", paragraphs: ["Organization not found."] }, 404);
      }
      return page({
        title: `Pods of ${org.name}`,
        paragraphs: ["Install the client with pip install godfather-cli, then sign in with:"],
        box: `godfather auth --api-url ${addressOf(c.req.url)} --org ${org.prefix}`,
      });
    });
}
