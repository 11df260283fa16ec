import { Hono } from "hono";
import { z } from "zod";
import { query } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import type { RunpodAccounts } from "./accounts.ts";
import { RunpodError, toAppError } from "./errors.ts";

const CATALOG_MS = 10_000;

const cloudSchema = z.looseObject({
  cloud: z.enum(["SECURE", "COMMUNITY"], "cloud must be SECURE or COMMUNITY").optional(),
});

/** What RunPod offers, with prices and stock: a hint, never a promise. */
export function catalogRoutes(deps: { readonly runpod: RunpodAccounts; readonly guards: Guards }) {
  const { officer } = deps.guards;
  return new Hono<Env>()
    .get("/catalog/gpus", officer, query(cloudSchema), async (c) => {
      const { cloud } = c.req.valid("query");
      const options = { timeoutMs: CATALOG_MS, ...(cloud === undefined ? {} : { cloud }) };
      return c.json({ gpus: await asked(deps.runpod.clientOf(orgOf(c)).gpus(options)) });
    })
    .get("/catalog/cpus", officer, async (c) => {
      return c.json({ cpus: await asked(deps.runpod.clientOf(orgOf(c)).cpus({ timeoutMs: CATALOG_MS })) });
    });
}

async function asked<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RunpodError) throw toAppError(error);
    throw error;
  }
}
