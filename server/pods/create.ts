import { createHash, randomBytes } from "node:crypto";
import { isDiskFailure } from "../../db/database.ts";
import {
  insertIntent,
  intentById,
  intentByIdempotencyKey,
  type IntentRow,
  markSent,
  markUnsettled,
  openCreateNamed,
  settleIntent,
} from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { insertPod, type LivePod, markFailed, podById } from "../../db/stores/pods.ts";
import { actorOf } from "../audit/write.ts";
import { AppError, asClause, isErrorCode } from "../errors.ts";
import { actorName, callerId, discordIdOf } from "../identity/callers.ts";
import type { Asker } from "../identity/callers.ts";
import { describeError } from "../log.ts";
import { type CreateBody, createBody } from "../runpod/client.ts";
import { RunpodError, toAppError } from "../runpod/errors.ts";
import { refuseOverBudget } from "../spend/budget.ts";
import { adoptCreated } from "./adopt.ts";
import type { CreateRequest } from "./create_request.ts";
import type { PodDeps } from "./deps.ts";
import type { Refresher } from "./refresh.ts";

export interface CreatedPod {
  readonly pod: LivePod;
  readonly warnings: string[];
}

/**
 * Makes a pod at RunPod. The intent and the pod's row are written first; the call is sent once and never again. A lost
 * answer is looked for by the unique name in RunPod's list, for up to 20 s; after that the caller gets 424 with
 * `attention_id`, and the search goes on in the background.
 *
 * With an idempotency key the same request gets the pod of the first one.
 */
export async function createPod(
  deps: PodDeps & { readonly refresher: Refresher },
  org: Org,
  asker: Asker,
  request: CreateRequest,
  idempotencyKey: string | null,
): Promise<CreatedPod> {
  deps.runpod.clientOf(org);
  const keys = await deps.keys.ensure(org.id);
  const warnings = warningsOf(org, request);
  // Of env only the names: a hash over values that are easy to guess would give them away.
  // An officer who says so after a refusal asks for the same pod.
  const asked = { ...request, env: Object.keys(request.env).sort(), over_budget: undefined };
  const hash = createHash("sha256").update(JSON.stringify(asked)).digest("hex");
  const earlier = idempotencyKey === null ? undefined : intentByIdempotencyKey(deps.db, org.id, idempotencyKey);
  if (earlier !== undefined) return { pod: replay(deps, earlier, hash), warnings };
  refuseOverBudget(deps.db, org, deps.clock.now(), request.over_budget);

  const { intent, body } = save(deps, org, asker, request, { keys, hash, idempotencyKey });
  deps.inFlight.add(intent.id);
  try {
    await send(deps, org, intent, body);
  } finally {
    deps.inFlight.delete(intent.id);
  }
  return { pod: podById(deps.db, intent.pod_id) as LivePod, warnings };
}

/** Sends the create once and stores what came of it. */
async function send(
  deps: PodDeps & { readonly refresher: Refresher },
  org: Org,
  intent: IntentRow,
  body: CreateBody,
): Promise<void> {
  const client = deps.runpod.clientOf(org);
  deps.db.tx(() => markSent(deps.db, intent.id, deps.clock.now()));
  const askedAt = deps.clock.now();
  try {
    const made = await client.create(body, { timeoutMs: deps.timings.createCallMs });
    adoptCreated(deps, org, intent, made, askedAt, "answered by RunPod");
  } catch (error) {
    if (error instanceof RunpodError && !error.ambiguous) throw refused(deps, org, intent, error);
    await lost(deps, org, intent, error);
  }
}

/** Writes the pod and the intent down. The request keeps env names only (decision 18). */
function save(
  deps: PodDeps,
  org: Org,
  asker: Asker,
  request: CreateRequest,
  more: {
    readonly keys: { readonly backend: string; readonly userCa: string };
    readonly hash: string;
    readonly idempotencyKey: string | null;
  },
): { intent: IntentRow; body: CreateBody } {
  const { db, clock } = deps;
  const suffix = randomBytes(4).toString("hex");
  const name = request.name ?? `pod-${suffix}`;
  const runpodName = `${name.slice(0, 150)}-${org.prefix}-${suffix}`;
  const isCpu = request.hardware.kind === "cpu";
  const cloud = request.cloud_type ?? (isCpu ? "SECURE" : "COMMUNITY");
  const volumeGb = isCpu ? 0 : request.volume_in_gb;
  const image = request.image_name ?? org.podImage ?? deps.deploymentImage;
  const config = {
    name,
    image_name: image,
    cloud_type: cloud,
    use_cpu_only: isCpu,
    volume_in_gb: volumeGb,
    container_disk_in_gb: request.container_disk_in_gb,
    volume_mount_path: request.volume_mount_path,
    env_names: Object.keys(request.env).sort(),
    ...(request.hardware.kind === "cpu"
      ? { cpu_flavor: request.hardware.cpu_flavor, vcpu_count: request.hardware.vcpu_count }
      : { gpu_type_id: request.hardware.gpu_type_id }),
  };
  const podId = crypto.randomUUID();
  const intentId = crypto.randomUUID();
  const now = clock.now();
  try {
    db.tx(() => {
      const pending = openCreateNamed(db, org.id, name);
      if (pending !== undefined) throw createPending(pending);
      insertPod(db, {
        id: podId,
        orgId: org.id,
        name,
        runpodName,
        isPublic: request.is_public,
        allowedUsers: request.allowed_users,
        config,
        keepsFiles: volumeGb > 0,
        createdBy: discordIdOf(asker.caller),
      }, now);
      insertIntent(db, {
        id: intentId,
        orgId: org.id,
        podId,
        runpodId: null,
        action: "create",
        request: {
          config,
          actor: actorName(asker.caller),
          ...(request.over_budget ? { over_budget: true } : {}),
          audit: { ...actorOf(asker.caller), address: asker.address, action: asker.action },
        },
        idempotencyKey: more.idempotencyKey,
        requestHash: more.hash,
        askedBy: callerId(asker.caller),
      }, now);
    });
  } catch (error) {
    if (!isDiskFailure(error)) throw error;
    throw new AppError("disk_full", "The server's disk is full, so the pod was not created", { cause: error });
  }
  const body = createBody({
    name: runpodName,
    image,
    cloud,
    diskGb: request.container_disk_in_gb,
    env: {
      ...request.env,
      GODFATHER_SSH_PUBLIC_KEY: more.keys.backend,
      GODFATHER_SSH_CA_PUBLIC_KEY: more.keys.userCa,
      GODFATHER_SETUP: "true",
    },
    hardware: request.hardware.kind === "cpu"
      ? { kind: "cpu", flavor: request.hardware.cpu_flavor, vcpuCount: request.hardware.vcpu_count }
      : { kind: "gpu", gpuTypeId: request.hardware.gpu_type_id, minCudaVersion: org.minCudaVersion },
    volume: { sizeGb: volumeGb, path: request.volume_mount_path },
  });
  return { intent: intentById(db, intentId)!, body };
}

/** RunPod said no: nothing was made. */
function refused(deps: PodDeps, org: Org, intent: IntentRow, error: RunpodError): AppError {
  const refusal = toAppError(error);
  const now = deps.clock.now();
  deps.db.tx(() => {
    markFailed(deps.db, intent.pod_id);
    settleIntent(deps.db, intent.id, { state: "failed", errorCode: refusal.code, error: refusal.message }, now);
    deps.audit.write({
      ...JSON.parse(intent.request).audit,
      orgPrefix: org.prefix,
      status: refusal.status,
      outcome: refusal.code,
      details: { error: refusal.message },
    });
  });
  return refusal;
}

/** The answer is lost: looks for the pod by its name until it is found or the caller has waited long enough. */
async function lost(
  deps: PodDeps & { readonly refresher: Refresher },
  org: Org,
  intent: IntentRow,
  error: unknown,
): Promise<void> {
  const { db, timings } = deps;
  deps.log.warn("The outcome of a create is not known", {
    org: org.prefix,
    intent: intent.id,
    error: describeError(error),
  });
  try {
    if (intentById(db, intent.id)?.state === "sent") {
      markUnsettled(
        db,
        intent.id,
        error instanceof RunpodError ? asClause(toAppError(error).message) : "The answer could not be stored",
      );
    }
  } catch (failure) {
    if (!isDiskFailure(failure)) throw failure; // The intent stays "sent", which is looked after in the same way.
  }
  const until = performance.now() + timings.settleWaitMs;
  for (let left = timings.settleWaitMs; left > 0; left = until - performance.now()) {
    await deps.refresher.refresh(org, { maxAgeMs: 0, timeoutMs: left });
    if (intentById(db, intent.id)?.state === "done") return;
    await new Promise((resolve) => setTimeout(resolve, timings.settleEveryMs));
  }
  const cause = error instanceof RunpodError ? toAppError(error) : new AppError("runpod_unavailable", "");
  throw new AppError(
    "runpod_unavailable",
    `${
      asClause(cause.message) || "RunPod's answer was lost"
    }. Whether the pod exists is not known yet: it is being looked for. ` +
      "Do not create it again; see what needs attention",
    { extra: { attention_id: intent.id }, cause: error },
  );
}

function createPending(intent: IntentRow): AppError {
  return new AppError(
    "create_pending",
    "A create with this name is not settled yet: RunPod's answer was lost and the pod is being looked for",
    { extra: { attention_id: intent.id } },
  );
}

function replay(deps: PodDeps, earlier: IntentRow, hash: string): LivePod {
  if (earlier.request_hash !== hash) {
    throw new AppError("idempotency_conflict", "The Idempotency-Key was used before with another request");
  }
  if (earlier.state === "failed") {
    const code = earlier.error_code !== null && isErrorCode(earlier.error_code) ? earlier.error_code : "runpod_refused";
    throw new AppError(code, earlier.error ?? "The create failed");
  }
  if (earlier.state === "forgotten") {
    throw new AppError("conflict", "An officer gave this create up; send a new Idempotency-Key to create a pod");
  }
  const pod = podById(deps.db, earlier.pod_id);
  if (earlier.state !== "done" || pod === undefined || pod.runpod_id === null) {
    throw createPending(earlier);
  }
  return pod as LivePod;
}

function warningsOf(org: Org, request: CreateRequest): string[] {
  const warnings: string[] = [];
  if (request.hardware.kind === "cpu") {
    warnings.push("A CPU pod has no volume: stopping it loses every file on it.");
  } else if (request.volume_in_gb === 0) {
    warnings.push("The pod has no volume: stopping it loses every file on it.");
  }
  if (request.is_public && org.memberRoleIds.length === 0) warnings.push(PUBLIC_WARNING);
  return warnings;
}

/** Decision 5: a public pod in an org without a member role. */
export const PUBLIC_WARNING =
  "The organization names no member role, so anyone who joins the Discord server gets a shell on this pod.";
