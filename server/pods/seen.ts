import { actionTouching, hasOpenTerminate, type IntentAction } from "../../db/stores/intents.ts";
import { orgById } from "../../db/stores/organizations.ts";
import {
  markTerminated,
  podById,
  type PodRow,
  type SeenState,
  storeMissing,
  storeSeen,
  storeStatusWhy,
} from "../../db/stores/pods.ts";
import { raise } from "../events/raise.ts";
import type { RunpodPod } from "../runpod/client.ts";
import { meterReading } from "../spend/meter.ts";
import { settingsOf } from "../identity/org_settings.ts";
import { publicKeysOf } from "../key_rotation/facts.ts";
import { noteAnswer } from "../key_rotation/note_answer.ts";
import { noteUse } from "../presence/use.ts";
import type { PodDeps } from "./deps.ts";
import { startKeyOf } from "./start_key.ts";
import { isUp, type Move, moveOf, upSince } from "./moves.ts";
import { lacksGpu } from "./gpu_count.ts";

/** A state can follow an action some minutes later; until then it is that action's doing. */
const ACTION_SHOWS_MS = 5 * 60_000;

type SeenDeps = Pick<PodDeps, "db" | "clock" | "audit" | "moved">;

/** What of RunPod's answer is kept with the pod. Its env is not. */
export function seenOf(row: PodRow, pod: RunpodPod, askedAt: number): SeenState {
  const startKey = startKeyOf(row.start_key, pod, askedAt);
  return {
    status: pod.status,
    host: pod.address?.host ?? null,
    port: pod.address?.port ?? null,
    machine: pod.machine === null ? null : JSON.stringify(pod.machine),
    costPerHour: pod.cost,
    gpuCount: pod.gpu === null ? null : pod.gpu.count ?? null,
    startKey,
    startedAt: pod.startedAt,
    upSince: upSince(row, { status: pod.status, startKey, startedAt: pod.startedAt }, askedAt),
  };
}

/**
 * Stores one pod's answer unless a call that began later has been stored already; what it cost and what it did without
 * being asked are stored with it. Call it in a transaction.
 */
export function recordAnswer(deps: SeenDeps, podId: string, answer: RunpodPod, askedAt: number): void {
  const row = podById(deps.db, podId);
  if (row === undefined || row.state === "terminated") return;
  // A time ahead of the clock is what a clock left behind that was wrong: it must not block what is seen now.
  if (row.as_of !== null && row.as_of > askedAt && row.as_of <= deps.clock.now()) return;
  const seen = seenOf(row, answer, askedAt);
  const move = moveOf(row, seen);
  storeSeen(deps.db, podId, seen, askedAt);
  noteAnswer(deps.db, row, answer, seen.startKey, publicKeysOf(deps.db, row.org_id));
  const { status, costPerHour, startedAt } = seen;
  const isWithoutGpu = costPerHour === 0 && isUp(status) && lacksGpu(row, answer);
  meterReading(deps.db, row, { runpodId: answer.id, status, costPerHour, startedAt, isWithoutGpu }, askedAt);
  const org = answer.cpuPercent === null ? undefined : orgById(deps.db, row.org_id);
  if (org !== undefined) noteUse(deps.db, row, answer, askedAt, settingsOf(org));
  if (move !== null) noteMove(deps, row, move, askedAt);
}

/**
 * Stores that RunPod did not show a pod; `isGone` when that is certain. A pod that we are terminating is not called gone:
 * the terminate is settled by it. Call it in a transaction.
 */
export function recordMissing(deps: SeenDeps, row: PodRow, isGone: boolean, askedAt: number): void {
  const gone = isGone && !(row.runpod_id !== null && hasOpenTerminate(deps.db, row.runpod_id));
  const before = podById(deps.db, row.id) ?? row;
  storeMissing(deps.db, row.id, gone, askedAt);
  if (!gone || before.status === "GONE" || podById(deps.db, row.id)?.status !== "GONE") return;
  meterReading(deps.db, before, null, askedAt);
  noteMove(deps, before, "gone", askedAt);
}

/** Stores that a pod was terminated. Call it in a transaction. */
export function recordTerminated(deps: SeenDeps, row: PodRow, by: string, now: number): void {
  const before = podById(deps.db, row.id) ?? row;
  markTerminated(deps.db, row.id, by, now);
  meterReading(deps.db, before, null, now);
}

/** Which actions of ours explain a move. */
const CAUSES: Readonly<Record<Move, readonly IntentAction[]>> = {
  started: ["start", "restart", "create"],
  restarted: ["start", "restart", "create"],
  stopped: ["stop", "terminate"],
  gone: ["terminate"],
};

/** A pod that moved although nobody asked for it here: in the audit, and told to whoever listens. */
function noteMove(deps: SeenDeps, row: PodRow, move: Move, askedAt: number): void {
  const { db, clock } = deps;
  if (actionTouching(db, row.id, (row.as_of ?? 0) - ACTION_SHOWS_MS, CAUSES[move])) return;
  const now = clock.now();
  const did = move === "gone" ? "deleted or moved" : move;
  deps.audit.write({
    source: "job",
    actorKind: "external",
    actorId: null,
    action: "RECONCILE",
    orgPrefix: orgById(db, row.org_id)?.prefix ?? null,
    podId: row.runpod_id,
    status: 200,
    outcome: move,
    details: { name: row.name, before: row.status, last_seen: row.as_of },
  });
  // A pod that is gone is told by what is wrong with it.
  if (move !== "gone") {
    raise(db, {
      orgId: row.org_id,
      kind: move === "stopped" ? "pod.stopped" : "pod.started",
      podId: row.id,
      runpodId: row.runpod_id,
      subject: row.name,
      actor: "somebody outside orgpods, or RunPod itself",
      details: { did, outside: true },
      onceKey: `outside:${row.runpod_id}:${move}:${askedAt}`,
    }, now);
  }
  storeStatusWhy(
    db,
    row.id,
    `${capital(did)} outside orgpods: by somebody in RunPod's console, or by RunPod itself`,
    now,
  );
  deps.moved?.(row.name, did);
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
