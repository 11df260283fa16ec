import { closeAttention, openAttention, openAttentionRows, wasForgotten } from "../../db/stores/attention.ts";
import { type IntentRow, openIntents } from "../../db/stores/intents.ts";
import type { Org } from "../../db/stores/organizations.ts";
import {
  incarnationKnown,
  incarnationSince,
  isLatestIncarnation,
  isPresentIncarnation,
  livePods,
  podById,
  reviveTerminated,
} from "../../db/stores/pods.ts";
import { caLinesOf } from "../../db/stores/revocations.ts";
import type { RunpodPod } from "../runpod/client.ts";
import { adoptCreated } from "./adopt.ts";
import { raise } from "../events/raise.ts";
import type { PodDeps } from "./deps.ts";
import { requestOf } from "./replace.ts";
import { isUp } from "./moves.ts";
import { recordAnswer, recordMissing } from "./seen.ts";
import { createStandstill } from "./standstill.ts";

/**
 * May a pod that RunPod does not show be called gone? A fresh pod can be missing for some seconds, so never early
 * (contract 5.1). `since` is when it was made; `misses` counts this one.
 */
export function isGone(since: number, misses: number, now: number, freshPodMs: number): boolean {
  return misses >= 2 && now - since > freshPodMs;
}

/**
 * True when the pod carries a CA key that this org has or had: it was made by this org's orgpods, or a copy of its
 * database. A pod that was out of sight while the key was replaced still carries the old one.
 */
export function carriesOurKey(pod: RunpodPod, caLines: readonly string[]): boolean {
  const line = pod.env?.GODFATHER_SSH_CA_PUBLIC_KEY;
  return line !== undefined && caLines.includes(line);
}

/**
 * Applies one complete list of RunPod to the database, in one transaction: last known states, pods that are gone,
 * creates whose answer was lost, and pods of ours that the database does not know. `askedAt` is when the call began.
 */
export function applyList(deps: PodDeps, org: Org, list: readonly RunpodPod[], askedAt: number): void {
  const { db } = deps;
  db.tx(() => {
    const byId = new Map(list.map((pod) => [pod.id, pod]));
    const present = livePods(db, org.id);
    const ours = new Set(present.map((pod) => pod.runpod_id));
    const standstill = createStandstill(db, org.id, askedAt);
    for (const pod of present) {
      const answer = byId.get(pod.runpod_id);
      if (answer !== undefined && standstill.takes(pod, answer)) continue;
      if (answer !== undefined) recordAnswer(deps, pod.id, answer, askedAt);
      else if ((pod.as_of ?? 0) <= askedAt && pod.status !== "GONE") {
        const since = incarnationSince(db, pod);
        recordMissing(deps, pod, isGone(since, pod.missing_count + 1, askedAt, deps.timings.freshPodMs), askedAt);
      }
    }
    standstill.store();
    const caLines = caLinesOf(db, org.id).map((ca) => ca.line);
    const creates = openIntents(db, org.id).filter((intent) => intent.action === "create");
    for (const pod of list) {
      if (ours.has(pod.id)) continue;
      if (incarnationKnown(db, pod.id)) {
        noteUnfinishedTerminate(deps, org, pod, askedAt);
        if (isLeftBehind(deps, org, pod)) noteOrphan(deps, org, pod);
        continue;
      }
      if (!carriesOurKey(pod, caLines)) continue;
      const intent = createOf(deps, creates, pod);
      if (intent !== undefined) adoptCreated(deps, org, intent, pod, askedAt, "found in RunPod's list by its name");
      else noteOrphan(deps, org, pod);
    }
    closeSettledOrphans(deps, org, byId);
  });
}

/**
 * Is this an earlier RunPod pod of one of ours, which nobody is terminating any more? It costs money and no list of ours
 * shows it.
 */
function isLeftBehind(deps: PodDeps, org: Org, pod: RunpodPod): boolean {
  if (pod.status === "TERMINATED" || isLatestIncarnation(deps.db, pod.id)) return false;
  return !openIntents(deps.db, org.id).some((one) => one.runpod_id === pod.id && one.action === "terminate");
}

/** A stray pod that RunPod no longer has, or that is in our list by now, needs nobody's attention. */
function closeSettledOrphans(deps: PodDeps, org: Org, byId: ReadonlyMap<string, RunpodPod>): void {
  for (const row of openAttentionRows(deps.db, org.id)) {
    if (row.kind !== "orphan" || row.runpod_id === null) continue;
    const isThere = byId.get(row.runpod_id)?.status !== "TERMINATED" && byId.has(row.runpod_id);
    if (isThere && !isPresentIncarnation(deps.db, row.runpod_id)) continue;
    closeAttention(deps.db, row.id, "server", isThere ? "in the list" : "gone", deps.clock.now());
  }
}

function createOf(deps: PodDeps, creates: readonly IntentRow[], pod: RunpodPod): IntentRow | undefined {
  return creates.find((intent) => {
    const row = podById(deps.db, intent.pod_id);
    const { replaces, runpod_name } = requestOf(intent);
    if (replaces === undefined) return row?.state === "creating" && row.runpod_name === pod.name;
    // A fresh pod that shows up late must not take the place of an old one that runs by now: officers decide.
    return row?.state === "live" && runpod_name === pod.name && !isUp(row.status);
  });
}

/** RunPod took a terminate and still has the pod minutes later: it costs money, so it must not stay out of sight. */
function noteUnfinishedTerminate(deps: PodDeps, org: Org, pod: RunpodPod, askedAt: number): void {
  if (pod.status === "TERMINATED") return;
  const podId = reviveTerminated(deps.db, org.id, pod.id, askedAt - deps.timings.freshPodMs);
  if (podId === undefined) return;
  recordAnswer(deps, podId, pod, askedAt);
  openAttention(deps.db, {
    id: crypto.randomUUID(),
    orgId: org.id,
    kind: "action_not_done",
    runpodId: pod.id,
    podId,
    details: { action: "terminate", error: "RunPod still has the pod, so it is back in the list" },
  }, deps.clock.now());
}

function noteOrphan(deps: PodDeps, org: Org, pod: RunpodPod): void {
  if (pod.status === "TERMINATED" || wasForgotten(deps.db, org.id, "orphan", pod.id)) return;
  const migrated = deps.db.get<{ id: string }>(
    "select id from compute_pods where org_id = ? and runpod_name = ?",
    org.id,
    pod.name,
  );
  deps.moved?.(pod.name, "created");
  raise(deps.db, {
    orgId: org.id,
    kind: "pod.failed",
    podId: migrated?.id ?? null,
    runpodId: pod.id,
    subject: pod.name,
    details: {
      trouble: "orphan",
      error: "The RunPod account has a pod with this organization's keys that is not in the list",
    },
    onceKey: `orphan:${pod.id}`,
  }, deps.clock.now());
  openAttention(deps.db, {
    id: crypto.randomUUID(),
    orgId: org.id,
    kind: "orphan",
    runpodId: pod.id,
    podId: migrated?.id ?? null,
    details: { name: pod.name, status: pod.status, cost_per_hour: pod.cost },
  }, deps.clock.now());
}
