import { pruneAudit } from "../db/stores/audit.ts";
import { pruneConnections } from "../db/stores/connections.ts";
import { openIntents } from "../db/stores/intents.ts";
import { allOrgs } from "../db/stores/organizations.ts";
import { type LivePod, livePods } from "../db/stores/pods.ts";
import { DAY, HOUR, MINUTE, SECOND } from "./clock.ts";
import { every, type Loop } from "./every.ts";
import type { PodDeps } from "./pods/deps.ts";
import type { Refresher } from "./pods/refresh.ts";
import { createSettler } from "./pods/settle.ts";

const TURN_MS = 2 * SECOND;
/** A pod that is on its way is looked at often, but not for ever: a pod without a public address stays that way. */
const STARTING_MS = 20 * MINUTE;
const CONNECTIONS_KEPT_MS = 90 * DAY;

/**
 * How old the states of an org's pods may get in the background: a few seconds while something is on its way, a minute
 * while a pod runs, five minutes otherwise.
 */
export function refreshAge(now: number, pods: readonly LivePod[], hasOpenCreate: boolean): number {
  const onTheWay = (pod: LivePod) => {
    if (pod.status === "RUNNING" && pod.host !== null && pod.reachable_start === pod.start_key) return false;
    if (pod.status === "EXITED" || pod.status === "GONE" || pod.status === "ERROR") return false;
    return now - Math.max(pod.created_at, pod.started_at ?? 0) < STARTING_MS;
  };
  if (hasOpenCreate || pods.some(onTheWay)) return 4 * SECOND;
  return pods.some((pod) => pod.status === "RUNNING") ? MINUTE : 5 * MINUTE;
}

/** The loops of a running server: RunPod's states, open intents, housekeeping. */
export function startLoops(
  deps: PodDeps & {
    readonly refresher: Refresher;
    readonly auditRetentionDays: number;
    /** Removes what broken-off writes left on pods. */
    readonly tidyPods: () => Promise<void>;
  },
): Loop {
  const { db, clock, log } = deps;

  const refreshTurn = async () => {
    const creates = new Set(openIntents(db).filter((i) => i.action === "create").map((i) => i.org_id));
    const turns = allOrgs(db).map(async (org) => {
      if (!deps.runpod.hasKey(org)) return;
      const pods = livePods(db, org.id);
      const maxAgeMs = refreshAge(clock.now(), pods, creates.has(org.id));
      await deps.refresher.refresh(org, { maxAgeMs, timeoutMs: 15 * SECOND });
    });
    await Promise.all(turns);
  };

  const housekeeping = () => {
    const now = clock.now();
    const rows = pruneAudit(db, now - deps.auditRetentionDays * DAY);
    const connections = pruneConnections(db, now - CONNECTIONS_KEPT_MS);
    if (rows + connections > 0) log.info("Old rows were removed", { audit: rows, connections });
  };

  const loops = [
    every("refresh", TURN_MS, refreshTurn, log),
    every("settle", TURN_MS, createSettler(deps), log),
    every("housekeeping", HOUR, housekeeping, log),
    every("tidy pods", HOUR, deps.tidyPods, log),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
