import { Hono } from "hono";
import { z } from "zod";
import { setKeepUntil } from "../../db/stores/activity.ts";
import { openIntentsOf } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { actorOf } from "../audit/write.ts";
import { isoTime, MINUTE } from "../clock.ts";
import { AppError } from "../errors.ts";
import { askerOf } from "../http/asker.ts";
import { json } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import { type Asker, isSystemId } from "../identity/callers.ts";
import type { Actions } from "../pods/act.ts";
import type { PodDeps } from "../pods/deps.ts";
import { findPod } from "../pods/list.ts";
import { isDown } from "../pods/moves.ts";
import { LONGEST_KEEP_MS } from "./rules.ts";

const MOST_KEEP_MINUTES = LONGEST_KEEP_MS / MINUTE;
const MINUTES = `minutes must be a whole number from 1 to ${MOST_KEEP_MINUTES}`;
const keepSchema = z.strictObject({ minutes: z.int(MINUTES).min(1, MINUTES).max(MOST_KEEP_MINUTES, MINUTES) });

const BEING_STOPPED =
  "The pod was asked to stop before this, and it is not known yet whether it did. If it did, start it again";

/** What officers do about stops by themselves, under `/api/compute/<org>`. */
export function autoStopRoutes(deps: KeepDeps & { readonly guards: Guards }) {
  return new Hono<Env>().post("/pods/:id/keep", deps.guards.officer, json(keepSchema), async (c) => {
    const { minutes } = c.req.valid("json");
    return c.json(await keepPod(deps, orgOf(c), askerOf(c), c.req.param("id"), minutes));
  });
}

interface KeepDeps extends PodDeps {
  readonly actions: Actions;
}

/**
 * Puts the idle stop and the limit on hours of one run off, from now on for so many minutes (decision 38). Waits for a stop
 * that is on its way, and throws `conflict` for a pod that is stopped.
 */
async function keepPod(deps: KeepDeps, org: Org, asker: Asker, runpodId: string, minutes: number) {
  const { id } = findPod(deps, org, runpodId);
  return await deps.actions.exclusive(id, () => Promise.resolve(keepNow(deps, org, asker, runpodId, minutes)));
}

function keepNow(deps: KeepDeps, org: Org, asker: Asker, runpodId: string, minutes: number) {
  const { db, clock } = deps;
  return db.tx(() => {
    const pod = findPod(deps, org, runpodId);
    if (isDown(pod.status)) {
      throw new AppError(
        "conflict",
        `The pod is not running (${pod.status}), so there is no stop to put off; start it`,
      );
    }
    const isBeingStopped = openIntentsOf(db, pod.id).some((one) => one.action === "stop" && isSystemId(one.asked_by));
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
    return { id: pod.runpod_id, keep_until: isoTime(until), warnings: isBeingStopped ? [BEING_STOPPED] : [] };
  });
}
