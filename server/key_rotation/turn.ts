import { openEnvChange } from "../../db/stores/env_changes.ts";
import { openRotations, orgsWithKeyWork, type RotationRow } from "../../db/stores/key_rotations.ts";
import { type Org, orgById } from "../../db/stores/organizations.ts";
import { type LivePod, livePods } from "../../db/stores/pods.ts";
import { atMost } from "../at_most.ts";
import { MINUTE, SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { describeError } from "../log.ts";
import { createOrgTurns, type OrgTurns } from "../org_turns.ts";
import type { Actions } from "../pods/act.ts";
import type { PodDeps } from "../pods/deps.ts";
import type { Refresher } from "../pods/refresh.ts";
import { isOver, type Wait } from "../wait.ts";
import { changeEnv } from "./change_env.ts";
import type { OrgPublicKeys } from "./env_keys.ts";
import { publicKeysOf } from "./facts.ts";
import { finishIfReady } from "./finish.ts";
import { lookAtFiles } from "./look.ts";
import { standingOf } from "./standing.ts";

const LIST_MS = 15 * SECOND;
const LONGEST_WAIT_MS = 30 * MINUTE;
/** Pods of one org that are worked on at the same time. */
const AT_ONCE = 4;

/** Waits of the turns; milliseconds. */
export interface KeyTimings {
  /** Between two turns. */
  readonly turnMs: number;
  /** How old RunPod's list may be for a rotation to go on. */
  readonly listAgeMs: number;
  /** After an attempt on a pod that failed the next one waits, doubled each time up to half an hour. */
  readonly firstWaitMs: number;
}

export const KEY_TIMINGS: KeyTimings = { turnMs: 10 * SECOND, listAgeMs: 20 * SECOND, firstWaitMs: 30 * SECOND };

export interface KeyTurnDeps extends PodDeps {
  readonly refresher: Refresher;
  readonly actions: Actions;
  /** Brings the keys that pods are to trust to those that run. */
  readonly bringUpToDate: (org: Org) => Promise<void>;
  /** Why the server does nothing by itself; null: it does. */
  readonly isPaused: () => string | null;
}

/** Which stopped pods get another env: those of an open rotation, and latecomers with a key that was replaced before. */
export function wantsEnvChange(
  pod: LivePod,
  rotations: readonly RotationRow[],
  keys: OrgPublicKeys,
): boolean {
  if (pod.status !== "EXITED") return false;
  if (rotations.some((rotation) => standingOf(pod, rotation) === "env_next")) return true;
  if (pod.env_of !== pod.runpod_id) return false;
  // The last key of each kind is the present one.
  const isOld = (kind: keyof OrgPublicKeys) =>
    keys[kind].slice(0, -1).some((key) => key.fingerprint === pod[`env_${kind}`]);
  return isOld("backend") || isOld("user_ca");
}

/**
 * Makes the turns that carry rotations on: env of stopped pods, files of running ones, then the end. Each step begins
 * from what is stored, so a turn that was cut off is no different from one that never began.
 */
export function createKeyTurns(deps: KeyTurnDeps, timings: KeyTimings): OrgTurns {
  const { db, clock, log } = deps;
  const failed = new Map<string, Wait & { readonly waitMs: number }>();
  const isDue = (key: string) => isOver(failed.get(key), clock.now());
  const noteFailure = (key: string) => {
    const waitMs = Math.min((failed.get(key)?.waitMs ?? timings.firstWaitMs / 2) * 2, LONGEST_WAIT_MS);
    const from = clock.now();
    failed.set(key, { from, until: from + waitMs, waitMs });
  };

  const attempt = async (key: string, what: string, pod: LivePod, work: () => Promise<string | null>) => {
    if (!isDue(key)) return;
    let why: string | null;
    try {
      why = await work();
    } catch (error) {
      if (!(error instanceof AppError)) {
        log.error(what, { pod: pod.id, error: describeError(error) });
        return noteFailure(key);
      }
      why = error.message;
    }
    if (why === null) return void failed.delete(key);
    noteFailure(key);
    log.warn(what, { pod: pod.id, reason: why });
  };

  const changeEnvs = async (org: Org, rotations: readonly RotationRow[]) => {
    const keys = publicKeysOf(db, org.id);
    const pods = livePods(db, org.id).filter((pod) =>
      wantsEnvChange(pod, rotations, keys) || openEnvChange(db, pod.id) !== undefined
    );
    await atMost(
      AT_ONCE,
      pods,
      (pod) =>
        attempt(`env/${pod.id}`, "A pod's environment could not be changed", pod, () => changeEnv(deps, org, pod.id)),
    );
  };

  const lookAtPods = async (org: Org) => {
    const pods = livePods(db, org.id).filter((pod) =>
      pod.status === "RUNNING" && pod.host !== null && pod.start_key !== null && pod.keys_start === pod.start_key &&
      pod.files_backend === null
    );
    await atMost(
      AT_ONCE,
      pods,
      (pod) =>
        attempt(`look/${pod.id}/${pod.start_key}`, "A pod could not be asked which keys it has", pod, async () => {
          await lookAtFiles(deps, pod);
          return null;
        }),
    );
  };

  const turnOf = async (orgId: number) => {
    const org = orgById(db, orgId);
    if (org === undefined) return;
    for (const [key, { until }] of failed) if (clock.now() - until > LONGEST_WAIT_MS) failed.delete(key);
    const rotations = openRotations(db, org.id);
    let isFresh = livePods(db, org.id).every((pod) => pod.status === "GONE");
    if (!isFresh && rotations.length > 0 && deps.runpod.hasKey(org)) {
      isFresh = (await deps.refresher.refresh(org, { maxAgeMs: timings.listAgeMs, timeoutMs: LIST_MS })).fresh;
    }
    await changeEnvs(org, rotations);
    await deps.bringUpToDate(org);
    if (rotations.length === 0) return;
    await lookAtPods(org);
    if (!isFresh) return;
    const finished = rotations.filter((rotation) => finishIfReady(deps, org, rotation));
    if (finished.length > 0) await deps.bringUpToDate(org);
  };

  const orgIds = () => deps.isPaused() === null ? orgsWithKeyWork(db) : [];
  return createOrgTurns("keys", orgIds, turnOf, log);
}
