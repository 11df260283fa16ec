import type { Context } from "hono";
import { routePath } from "hono/route";
import type { Asker, Caller } from "../identity/callers.ts";
import { callerOf, type Env, personOf } from "./env.ts";

/** Who asks for a change, from where, by which route. */
export function askerOf(c: Context<Env>): Asker & { readonly caller: Caller } {
  return { caller: callerOf(c), address: c.get("addressOf")(), action: `${c.req.method} ${routePath(c)}` };
}

export function personAskerOf(c: Context<Env>) {
  return { ...askerOf(c), caller: personOf(c) };
}
