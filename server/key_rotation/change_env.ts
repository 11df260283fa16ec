import {
  type EnvChangeRow,
  insertEnvChange,
  lastSettledChange,
  markEnvUnsettled,
  openEnvChange,
  settleEnvChange,
} from "../../db/stores/env_changes.ts";
import { openIntentsOf } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { storeEnvUnsure } from "../../db/stores/pod_keys.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import { currentKey, type KeyRow } from "../../db/stores/secrets.ts";
import { actorOf } from "../audit/write.ts";
import { asClause } from "../errors.ts";
import type { Actions } from "../pods/act.ts";
import type { PodDeps } from "../pods/deps.ts";
import { recordAnswer } from "../pods/seen.ts";
import type { RunpodClient, RunpodPod } from "../runpod/client.ts";
import { RunpodError, toAppError } from "../runpod/errors.ts";
import { ENV_NAMES, withKeys } from "./env_keys.ts";
import { ROTATION } from "./names.ts";

const READ_MS = 8_000;
const PATCH_MS = 10_000;
/** How often a pod is read after the answer of a change was lost, before that is left to the next turn. */
const READ_BACK_TRIES = 3;

interface Keys {
  readonly backend: KeyRow;
  readonly userCa: KeyRow;
}

/**
 * Puts the org's present public keys into the env of a stopped pod: reads the env, changes the two names, writes it
 * back, and keeps nothing of it. RunPod builds the container of a pod that is up anew when its env changes, so nothing is
 * sent unless the pod was read as stopped a moment before, and no action of ours can come in between. An earlier change
 * whose outcome is not known is settled by the same read. Why it did not come about, or null. Throws `AppError` where
 * RunPod cannot be asked for the org at all.
 */
export function changeEnv(
  deps: PodDeps & { readonly actions: Actions },
  org: Org,
  podId: string,
): Promise<string | null> {
  return deps.actions.exclusive(podId, async () => {
    const pod = podById(deps.db, podId);
    const keys = keysOfOrg(deps, org);
    if (keys === null || pod === undefined || pod.state !== "live" || pod.runpod_id === null) return null;
    if (openIntentsOf(deps.db, podId).length > 0) return "Another action on it is not settled yet";
    const client = deps.runpod.clientOf(org);
    try {
      return await change(deps, org, client, pod as LivePod, keys);
    } catch (error) {
      if (error instanceof RunpodError) return asClause(toAppError(error).message);
      throw error;
    }
  });
}

function keysOfOrg({ db }: PodDeps, org: Org): Keys | null {
  const [backend, userCa] = [currentKey(db, org.id, "backend"), currentKey(db, org.id, "user_ca")];
  return backend === undefined || userCa === undefined ? null : { backend, userCa };
}

const linesOf = ({ backend, userCa }: Keys) => ({ backend: backend.public_key, user_ca: userCa.public_key });

async function change(
  deps: PodDeps,
  org: Org,
  client: RunpodClient,
  row: LivePod,
  keys: Keys,
): Promise<string | null> {
  const read = await readPod(deps, client, row);
  const open = openEnvChange(deps.db, row.id);
  if (open !== undefined) settleByRead(deps, org, row, open, read, keys);
  if (read.env === null) return "RunPod does not show its environment";
  const env = withKeys(read.env, linesOf(keys));
  if (env === null) return null;
  if (read.status !== "EXITED") return null;
  const id = crypto.randomUUID();
  deps.db.tx(() =>
    insertEnvChange(deps.db, {
      id,
      orgId: org.id,
      podId: row.id,
      runpodId: row.runpod_id,
      backend: keys.backend.fingerprint,
      userCa: keys.userCa.fingerprint,
    }, deps.clock.now())
  );
  const askedAt = deps.clock.now();
  try {
    const answer = await client.patch(row.runpod_id, { env }, { timeoutMs: PATCH_MS });
    finish(deps, org, row, id, answer, askedAt, keys);
    return null;
  } catch (error) {
    if (!(error instanceof RunpodError)) throw error;
    const why = asClause(toAppError(error).message);
    if (!error.ambiguous) {
      settle(deps, org, row, id, why);
      return why;
    }
    return await readBack(deps, org, client, row, id, why, keys);
  }
}

async function readPod(deps: PodDeps, client: RunpodClient, row: LivePod): Promise<RunpodPod> {
  const askedAt = deps.clock.now();
  const read = await client.get(row.runpod_id, { timeoutMs: READ_MS });
  deps.db.tx(() => recordAnswer(deps, row.id, read, askedAt));
  return read;
}

/** The answer was lost: whether the change was made shows the pod itself. */
async function readBack(
  deps: PodDeps,
  org: Org,
  client: RunpodClient,
  row: LivePod,
  id: string,
  why: string,
  keys: Keys,
): Promise<string | null> {
  deps.db.tx(() => markEnvUnsettled(deps.db, id, why));
  for (let tries = 0; tries < READ_BACK_TRIES; tries++) {
    if (tries > 0) await new Promise((done) => setTimeout(done, deps.timings.settleEveryMs / 2));
    try {
      const askedAt = deps.clock.now();
      const read = await client.get(row.runpod_id, { timeoutMs: READ_MS });
      if (read.env === null || withKeys(read.env, linesOf(keys)) !== null) continue;
      finish(deps, org, row, id, read, askedAt, keys);
      return null;
    } catch (error) {
      if (!(error instanceof RunpodError)) throw error;
    }
  }
  return why;
}

/** A change that an earlier turn, or an earlier run of the server, left open. */
function settleByRead(
  deps: PodDeps,
  org: Org,
  row: LivePod,
  open: EnvChangeRow,
  read: RunpodPod,
  keys: Keys,
): void {
  if (read.env === null) return;
  const isDone = open.runpod_id !== row.runpod_id || withKeys(read.env, linesOf(keys)) === null;
  if (isDone) finish(deps, org, row, open.id, read, deps.clock.now(), keys);
  else settle(deps, org, row, open.id, open.error ?? "The server stopped before the answer came, and it was not made");
}

/** The env has the keys. A pod that is not stopped any more began with this env or with the one before. */
function finish(
  deps: PodDeps,
  org: Org,
  row: LivePod,
  id: string,
  answer: RunpodPod,
  askedAt: number,
  keys: Keys,
): void {
  deps.db.tx(() => {
    recordAnswer(deps, row.id, answer, askedAt);
    if (answer.status !== "EXITED") storeEnvUnsure(deps.db, row.id, true);
    settle(deps, org, row, id, null, keys);
  });
}

/** A refusal that comes again and again is in the audit once. */
function settle(deps: PodDeps, org: Org, row: LivePod, id: string, error: string | null, keys?: Keys): void {
  const { db, clock } = deps;
  db.tx(() => {
    const before = lastSettledChange(db, row.id);
    settleEnvChange(db, id, { state: error === null ? "done" : "failed", error }, clock.now());
    if (error !== null && before?.state === "failed" && before.error === error) return;
    deps.audit.write({
      ...actorOf(ROTATION),
      action: "KEYS",
      orgPrefix: org.prefix,
      podId: row.runpod_id,
      status: error === null ? 200 : 424,
      outcome: error === null ? "ok" : "failed",
      details: {
        name: row.name,
        changed: Object.values(ENV_NAMES),
        ...(keys === undefined ? {} : { backend: keys.backend.fingerprint, user_ca: keys.userCa.fingerprint }),
        ...(error === null ? {} : { error }),
      },
    });
  });
}
