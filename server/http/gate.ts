import type { Context, MiddlewareHandler } from "hono";
import type { Database } from "../../db/database.ts";
import { orgByPrefix } from "../../db/stores/organizations.ts";
import { AppError } from "../errors.ts";
import type { Env } from "./env.ts";
import { page } from "./pages.ts";

/** Before everything: where the request comes from, and when. */
export function arrival(trustedProxies: ReadonlySet<string>): MiddlewareHandler<Env> {
  return (c, next) => {
    c.set("receivedAt", performance.now());
    c.set("addressOf", () => addressOf(c, trustedProxies));
    return next();
  };
}

/** The last address a trusted proxy added; headers of anybody else are not believed. */
function addressOf(c: Context<Env>, trustedProxies: ReadonlySet<string>): string {
  const peer = c.env.peer?.address ?? "";
  if (!trustedProxies.has(peer)) return peer;
  const hops = (c.req.header("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim()).filter(Boolean);
  while (hops.length > 1 && trustedProxies.has(hops.at(-1)!)) hops.pop();
  const last = hops.at(-1);
  return last !== undefined && /^[0-9a-fA-F.:]{2,45}$/.test(last) ? last : peer;
}

const MODULE_OFF = "The compute module is turned off for this organization";

/**
 * The module gate, before any sign-in check (contract 3.1): an org that exists with compute off answers 404. An unknown
 * org passes; the guard says 404 when its turn comes. Turning the module on again is exempt.
 */
export function moduleGate(db: Database): MiddlewareHandler<Env> {
  return async (c, next) => {
    const prefix = c.req.param("org") ?? "";
    const org = /^[a-z0-9_-]{2,20}$/.test(prefix) ? orgByPrefix(db, prefix) : undefined;
    if (org !== undefined) {
      c.set("org", org);
      const path = c.req.path.slice(`/api/compute/${prefix}`.length);
      if (!org.computeEnabled && !(path === "/module" && c.req.method === "PUT")) {
        if (/^\/(cli|officer|session)\/login$/.test(path)) {
          return await page({ title: "orgpods", paragraphs: ["Compute is turned off for this organization."] }, 404);
        }
        throw new AppError("module_off", MODULE_OFF);
      }
    }
    return await next();
  };
}
