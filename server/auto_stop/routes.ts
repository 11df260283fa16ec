import { Hono } from "hono";
import { z } from "zod";
import { setKeepUntil } from "../../db/stores/activity.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { actorOf } from "../audit/write.ts";
import { isoTime, MINUTE } from "../clock.ts";
import { askerOf } from "../http/asker.ts";
import { json } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import type { Asker } from "../identity/callers.ts";
import type { PodDeps } from "../pods/deps.ts";
import { findPod } from "../pods/list.ts";

const MOST_KEEP_MINUTES = 24 * 60;
const MINUTES = `minutes must be a whole number from 1 to ${MOST_KEEP_MINUTES}`;
const keepSchema = z.strictObject({ minutes: z.int(MINUTES).min(1, MINUTES).max(MOST_KEEP_MINUTES, MINUTES) });

/** What officers do about stops by themselves, under `/api/compute/<org>`. */
export function autoStopRoutes(deps: PodDeps & { readonly guards: Guards }) {
  return new Hono<Env>().post("/pods/:id/keep", deps.guards.officer, json(keepSchema), (c) => {
    const { minutes } = c.req.valid("json");
    return c.json(keepPod(deps, orgOf(c), askerOf(c), c.req.param("id"), minutes));
  });
}

/** Puts the idle stop and the limit on hours of one run off, from now on for so many minutes (decision 38). */
function keepPod(deps: PodDeps, org: Org, asker: Asker, runpodId: string, minutes: number) {
  const { db, clock } = deps;
  return db.tx(() => {
    const pod = findPod(deps, org, runpodId);
    const until = clock.now() + minutes * MINUTE;
    setKeepUntil(db, pod.id, until);
    deps.audit.write({
      ...actorOf(asker.caller),
      address: asker.address,
      action: asker.action,
      orgPrefix: org.prefix,
      podId: pod.runpod_id,
      status: 200,
      outcome: "ok",
      details: { name: pod.name, minutes, keep_until: isoTime(until) },
    });
    return { id: pod.runpod_id, keep_until: isoTime(until) };
  });
}
