import type { Database } from "../../db/database.ts";
import { confirmPods, type LivePod } from "../../db/stores/pods.ts";
import { confirmStretches, podsWithOpenStretch } from "../../db/stores/spend.ts";
import { publicKeysOf } from "../key_rotation/facts.ts";
import { tellsNothingNew } from "../key_rotation/note_answer.ts";
import type { RunpodPod } from "../runpod/client.ts";
import { isDown } from "./moves.ts";
import { seenOf } from "./seen.ts";

/**
 * Most pods of an org stand still most of the time, and all that one list says of them is that they still do. Those are
 * stored by two statements for all of them together instead of several for each.
 */
export interface Standstill {
  /** True when nothing of the pod has changed and no more than that needs to be stored; it is then stored by `store`. */
  takes(row: LivePod, answer: RunpodPod): boolean;
  store(): void;
}

/** `askedAt` is when the list was asked for. Use it within one transaction. */
export function createStandstill(db: Database, orgId: number, askedAt: number): Standstill {
  const metered = podsWithOpenStretch(db, orgId);
  const keys = publicKeysOf(db, orgId);
  const ids: string[] = [];
  return {
    takes(row, answer) {
      if (!isDown(row.status) || row.status === "GONE" || row.missing_count > 0) return false;
      if (row.as_of === null || row.as_of > askedAt || row.runpod_id !== answer.id) return false;
      // Without an open stretch of cost only a pod is in order that costs nothing while it is stopped.
      if (!metered.has(row.id) && row.keeps_files === 1) return false;
      const seen = seenOf(row, answer, askedAt);
      const isSame = seen.status === row.status && seen.host === row.host && seen.port === row.port &&
        seen.machine === row.machine && seen.costPerHour === row.cost_per_hour && seen.gpuCount === row.gpu_count &&
        seen.startKey === row.start_key && seen.startedAt === row.started_at && seen.upSince === row.up_since &&
        row.env_unsure === 0 && tellsNothingNew(row, answer, keys);
      if (isSame) ids.push(row.id);
      return isSame;
    },
    store() {
      if (ids.length === 0) return;
      confirmPods(db, ids, askedAt);
      confirmStretches(db, ids, askedAt);
    },
  };
}
