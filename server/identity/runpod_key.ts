import type { z } from "zod";
import type { Database } from "../../db/database.ts";
import { openIntents } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { type LivePod, livePods } from "../../db/stores/pods.ts";
import { actorOf, type Audit } from "../audit/write.ts";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import { raiseSettingsChanged } from "../events/settings_changed.ts";
import type { RunpodAccounts } from "../runpod/accounts.ts";
import { RunpodError, toAppError } from "../runpod/errors.ts";
import { actorName, type Asker, callerId } from "./callers.ts";
import type { OrgSecrets } from "./org_secrets.ts";
import type { runpodKeySchema } from "./runpod_key_request.ts";

export interface RunpodKeyDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly secrets: OrgSecrets;
  readonly runpod: RunpodAccounts;
  readonly audit: Audit;
}

const live = (db: Database, org: Org): LivePod[] => livePods(db, org.id).filter((pod) => pod.status !== "GONE");

/** The refusal of something that would lose sight of pods that may cost money (decision 19). */
export function livePodsRefusal(pods: readonly LivePod[], what: string): AppError {
  const names = pods.slice(0, 10).map((pod) => `${pod.name} (${pod.runpod_id})`).join(", ");
  return new AppError("live_pods", `${what}: ${names}`, {
    extra: { pods: pods.map((pod) => ({ id: pod.runpod_id, name: pod.name, status: pod.status })) },
  });
}

/** A create whose answer was lost is looked for in the account of the key: the key must stay until that is over. */
function refuseUnsettledCreates(db: Database, org: Org): void {
  const open = openIntents(db, org.id).filter((intent) => intent.action === "create");
  if (open.length === 0) return;
  throw new AppError(
    "live_pods",
    "A create is not settled yet: its pod is being looked for with the present key. See what needs attention",
    { extra: { attention_ids: open.map((intent) => intent.id) } },
  );
}

export function livePodsOf(db: Database, org: Org): LivePod[] {
  return live(db, org);
}

/**
 * Stores the org's RunPod key after RunPod accepted it. A key that does not see the org's live pods is of another
 * account: 409 `live_pods` unless `replace`. Returns how many pods the account has.
 */
export async function saveRunpodKey(
  deps: RunpodKeyDeps,
  org: Org,
  asker: Asker,
  request: z.output<typeof runpodKeySchema>,
): Promise<{ pods: number; last4: string }> {
  const list = await listWith(deps, request.api_key);
  if (!request.replace) refuseUnsettledCreates(deps.db, org);
  const seen = new Set(list.map((pod) => pod.id));
  const unseen = live(deps.db, org).filter((pod) => !seen.has(pod.runpod_id));
  if (unseen.length > 0 && !request.replace) {
    throw livePodsRefusal(
      unseen,
      'The account of this key does not have pods of this organization; send "replace": true',
    );
  }
  deps.db.tx(() => {
    deps.secrets.write(org, "runpod_api_key", request.api_key, callerId(asker.caller));
    note(deps, org, asker, { secret: "runpod_api_key", last4: request.api_key.slice(-4) });
    tell(deps, org, asker, "set");
  });
  return { pods: list.length, last4: request.api_key.slice(-4) };
}

/** Removes the key. With live pods 409 `live_pods` unless forced: nobody could stop them from here any more. */
export function removeRunpodKey(deps: RunpodKeyDeps, org: Org, asker: Asker, force: boolean): boolean {
  if (!force) refuseUnsettledCreates(deps.db, org);
  const pods = live(deps.db, org);
  if (pods.length > 0 && !force) throw livePodsRefusal(pods, "Pods of this organization could not be stopped any more");
  return deps.db.tx(() => {
    const removed = deps.secrets.remove(org, "runpod_api_key");
    if (!removed) return false;
    note(deps, org, asker, { secret: "runpod_api_key", removed: true });
    tell(deps, org, asker, "removed");
    return true;
  });
}

/** How many pods the account of the stored key has. Throws RunPod's refusal. */
export async function testRunpodKey(deps: RunpodKeyDeps, org: Org): Promise<{ pods: number }> {
  const key = deps.secrets.read(org, "runpod_api_key");
  if (key === null) deps.runpod.clientOf(org);
  return { pods: (await listWith(deps, key!)).length };
}

async function listWith(deps: RunpodKeyDeps, apiKey: string) {
  try {
    return await deps.runpod.clientFor(apiKey).list({ timeoutMs: 10_000 });
  } catch (error) {
    if (error instanceof RunpodError) throw toAppError(error);
    throw error;
  }
}

function tell(deps: RunpodKeyDeps, org: Org, asker: Asker, did: "set" | "removed"): void {
  const who = actorName(asker.caller);
  raiseSettingsChanged(deps.db, org.id, who, { changed: ["runpod_api_key"], did }, deps.clock.now());
}

function note(deps: RunpodKeyDeps, org: Org, asker: Asker, details: Record<string, unknown>): void {
  deps.audit.write({
    ...actorOf(asker.caller),
    address: asker.address,
    action: asker.action,
    orgPrefix: org.prefix,
    status: 200,
    outcome: "ok",
    details,
  });
}
