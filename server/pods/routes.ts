import { Hono } from "hono";
import { z } from "zod";
import type { PodAction } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import { AppError } from "../errors.ts";
import { askerOf } from "../http/asker.ts";
import { json, parseOrRefuse, readJsonObject } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import type { Removals } from "../removal/carry_out.ts";
import { carryOutAll, removalSentence } from "../removal/view.ts";
import { accessSchema, changeAccess } from "./access.ts";
import type { Actions } from "./act.ts";
import { listAttention, resolveAttention } from "./attention.ts";
import { attentionActionSchema } from "./attention_request.ts";
import { createPod } from "./create.ts";
import { createRequestSchema } from "./create_request.ts";
import type { PodDeps } from "./deps.ts";
import { findPod, listPods, readPod } from "./list.ts";
import { podMembers } from "./members.ts";
import type { Refresher } from "./refresh.ts";
import { podViewer, type ViewDeps } from "./view.ts";

const ACTION = "action must be one of start, stop, restart, terminate";
const actionSchema = z.strictObject({
  action: z.enum(["start", "stop", "restart", "terminate"], ACTION),
  /** Start it although the month's budget is spent. */
  over_budget: z.boolean("over_budget must be true or false").default(false),
});

const LOST = "The pod had no volume: every file on it is lost.";

/** Officer routes about pods, under `/api/compute/<org>`. */
export function podRoutes(
  deps: PodDeps & ViewDeps & {
    readonly refresher: Refresher;
    readonly actions: Actions;
    readonly removals: Removals;
    readonly superadmins: ReadonlySet<string>;
    readonly guards: Guards;
  },
) {
  const { officer } = deps.guards;
  return new Hono<Env>()
    .get("/pods", officer, async (c) => c.json(await listPods(deps, orgOf(c))))
    .post("/pods", officer, async (c) => {
      const org = orgOf(c);
      deps.runpod.clientOf(org);
      await deps.keys.ensure(org.id);
      const request = parseOrRefuse(createRequestSchema, await readJsonObject(c.req.raw));
      const { pod, warnings } = await createPod(deps, org, askerOf(c), request, idempotencyKeyOf(c.req.raw));
      return c.json({ pod: podViewer(deps, org, deps.clock.now())(pod, false), warnings }, 201);
    })
    .get("/pods/:id", officer, async (c) => c.json({ pod: await readPod(deps, orgOf(c), c.req.param("id")) }))
    .put("/pods/:id", officer, json(accessSchema), async (c) => {
      const change = c.req.valid("json");
      const { taken, warnings, pod } = await changeAccess(deps, orgOf(c), askerOf(c), c.req.param("id"), change);
      const removals = await carryOutAll(deps.removals, taken);
      return c.json({ pod, warnings: [...warnings, ...removals.map(removalSentence)], removals });
    })
    .post("/pods/:id/action", officer, json(actionSchema), async (c) => {
      const { action, over_budget }: { action: PodAction; over_budget: boolean } = c.req.valid("json");
      const pod = findPod(deps, orgOf(c), c.req.param("id"));
      if (action === "restart") await refuseStopped(deps, orgOf(c), pod);
      const warnings = await deps.actions.act(orgOf(c), askerOf(c), pod.id, action, {
        overBudget: action === "start" && over_budget,
      });
      const loses = (action === "stop" || action === "restart") && pod.keeps_files === 0;
      return c.json({ id: pod.runpod_id, action, warnings: loses ? [LOST, ...warnings] : warnings });
    })
    .get("/pods/:id/members", officer, async (c) => c.json(await podMembers(deps, orgOf(c), c.req.param("id"))))
    .get("/attention", officer, (c) => c.json({ attention: listAttention(deps, orgOf(c)) }))
    .post("/attention/:id", officer, json(attentionActionSchema), async (c) => {
      const request = c.req.valid("json");
      await resolveAttention(deps, orgOf(c), askerOf(c), c.req.param("id"), request);
      return c.json({ id: c.req.param("id"), action: request.action });
    });
}

/** RunPod restarts only what runs. Where the pod is known to be stopped, RunPod's present word decides. */
async function refuseStopped(
  deps: PodDeps & { readonly refresher: Refresher },
  org: Org,
  pod: LivePod,
): Promise<void> {
  if (pod.status !== "EXITED") return;
  await deps.refresher.refresh(org, { maxAgeMs: 2_000, timeoutMs: 8_000 });
  if (podById(deps.db, pod.id)?.status !== "EXITED") return;
  throw new AppError("conflict", "The pod is stopped, so there is nothing to restart; start it");
}

/** The `Idempotency-Key` header: 1 to 200 printable characters. */
function idempotencyKeyOf(request: Request): string | null {
  const key = request.headers.get("idempotency-key");
  if (key === null) return null;
  if (!/^[\x21-\x7e]{1,200}$/.test(key)) {
    throw new AppError("invalid_request", "Idempotency-Key must be 1 to 200 printable characters without spaces");
  }
  return key;
}
