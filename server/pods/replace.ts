import { randomBytes } from "node:crypto";
import {
  insertIntent,
  intentById,
  type IntentRow,
  markSent,
  markUnsettled,
  settleIntent,
} from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import { actorOf } from "../audit/write.ts";
import { AppError, asClause } from "../errors.ts";
import { actorName, type Asker, callerId } from "../identity/callers.ts";
import { withKeys } from "../key_rotation/env_keys.ts";
import { type CreateBody, RunpodError, type RunpodPod, toAppError } from "../runpod/client.ts";
import { adoptCreated } from "./adopt.ts";
import type { PodDeps } from "./deps.ts";

/**
 * Puts a fresh RunPod pod in the place of one that cannot start because its host's GPU is taken (decision 39): the same
 * image, env, hardware and network volume on another machine. The pod keeps its name, access, sessions and money; the
 * old RunPod pod is terminated once the new one is known. Only where nothing is lost: a pod with a volume disk of its own
 * is refused with `conflict`. Call it while no other action is on its way for the pod.
 */
export async function replacePod(
  deps: PodDeps,
  org: Org,
  asker: Asker,
  podId: string,
  onDone: () => void,
): Promise<void> {
  const { db, clock } = deps;
  const row = podById(db, podId);
  if (row === undefined || row.state !== "live" || row.runpod_id === null) {
    throw new AppError("pod_not_found", "Pod not found");
  }
  const old = await readOld(deps, org, row as LivePod);
  const keys = await deps.keys.ensure(org.id);
  const intent = save(deps, org, asker, row as LivePod, old);
  const body = bodyLike(old, requestOf(intent).runpod_name!, keys);
  deps.inFlight.add(intent.id);
  const askedAt = clock.now();
  try {
    db.tx(() => markSent(db, intent.id, askedAt));
    const made = await deps.runpod.clientOf(org).create(body, { timeoutMs: deps.timings.createCallMs });
    db.tx(() => {
      adoptCreated(deps, org, intent, made, askedAt, "in place of a pod whose host had no free GPU");
      onDone();
    });
  } catch (error) {
    if (!(error instanceof RunpodError)) throw error;
    const refusal = toAppError(error);
    if (!error.ambiguous) {
      db.tx(() => {
        const outcome = { state: "failed", errorCode: refusal.code, error: refusal.message } as const;
        settleIntent(db, intent.id, outcome, clock.now());
      });
      throw new AppError(refusal.code, `A fresh pod in its place was refused too: ${refusal.message}`, {
        cause: error,
      });
    }
    markUnsettled(db, intent.id, asClause(refusal.message));
    throw new AppError(
      "runpod_unavailable",
      `${
        asClause(refusal.message)
      }. Whether a fresh pod was made in its place is not known yet: it is being looked for`,
      { extra: { attention_id: intent.id }, cause: error },
    );
  } finally {
    deps.inFlight.delete(intent.id);
  }
}

/** What the intent of a create says beside the pod's row. */
export interface CreateIntentRequest {
  /** Set when the pod takes the place of another one: that one's RunPod id, and the new one's name there. */
  readonly replaces?: string;
  readonly runpod_name?: string;
}

export function requestOf(intent: IntentRow): CreateIntentRequest {
  return JSON.parse(intent.request) as CreateIntentRequest;
}

async function readOld(deps: PodDeps, org: Org, row: LivePod): Promise<RunpodPod> {
  let old: RunpodPod;
  try {
    old = await deps.runpod.clientOf(org).get(row.runpod_id, { timeoutMs: 8_000 });
  } catch (error) {
    if (error instanceof RunpodError) throw toAppError(error);
    throw error;
  }
  const why = (old.volumeGb ?? 0) > 0
    ? "it has a volume disk, which would be lost"
    : old.networkVolume && old.networkMount === null
    ? "RunPod does not tell which network volume it has"
    : old.env === null || old.image === null || old.gpu?.id === null || old.gpu === null || old.disk === null
    ? "RunPod does not tell how it was made"
    : null;
  if (why !== null) throw new AppError("conflict", `The pod cannot be replaced by a fresh one: ${why}`);
  return old;
}

function save(deps: PodDeps, org: Org, asker: Asker, row: LivePod, old: RunpodPod): IntentRow {
  const id = crypto.randomUUID();
  const suffix = randomBytes(4).toString("hex");
  deps.db.tx(() =>
    insertIntent(deps.db, {
      id,
      orgId: org.id,
      podId: row.id,
      runpodId: null,
      action: "create",
      request: {
        replaces: old.id,
        runpod_name: `${row.name.slice(0, 150)}-${org.prefix}-${suffix}`,
        actor: actorName(asker.caller),
        audit: { ...actorOf(asker.caller), address: asker.address, action: asker.action },
      },
      askedBy: callerId(asker.caller),
    }, deps.clock.now())
  );
  return intentById(deps.db, id)!;
}

/** `readOld` has made sure that nothing of it is missing. The keys are today's: the old pod's may be replaced by now. */
function bodyLike(
  old: RunpodPod,
  name: string,
  keys: { readonly backend: string; readonly userCa: string },
): CreateBody {
  const env = Object.fromEntries(Object.entries(old.env!).filter(([key]) => !key.startsWith("RUNPOD_")));
  return {
    name,
    image: old.image!,
    cloud: old.cloud === "COMMUNITY" ? "COMMUNITY" : "SECURE",
    disk: old.disk!,
    ports: ["22/tcp"],
    env: withKeys(env, { backend: keys.backend, user_ca: keys.userCa }) ?? env,
    gpu: { id: old.gpu!.id!, count: Math.max(1, old.gpu!.count ?? 1) },
    ...(old.networkMount === null ? {} : { mounts: { network: [old.networkMount] } }),
  };
}
