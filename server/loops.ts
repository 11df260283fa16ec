import { pruneAudit } from "../db/stores/audit.ts";
import { pruneConnections } from "../db/stores/connections.ts";
import { failTestsBefore, pruneDeliveries } from "../db/stores/deliveries.ts";
import { pruneEnvChanges } from "../db/stores/env_changes.ts";
import { pruneEvents } from "../db/stores/events.ts";
import { openIntents } from "../db/stores/intents.ts";
import { allOrgs, orgById } from "../db/stores/organizations.ts";
import { type LivePod, livePods } from "../db/stores/pods.ts";
import { pruneRemovals } from "../db/stores/removals.ts";
import { pruneRevocations } from "../db/stores/revocations.ts";
import { pruneSessions } from "../db/stores/sessions.ts";
import type { AutoStopJobs, AutoStopTimings } from "./auto_stop/jobs.ts";
import { DAY, HOUR, MINUTE, SECOND } from "./clock.ts";
import { every } from "./every.ts";
import { createOrgTurns, type OrgTurns } from "./org_turns.ts";
import type { PodDeps } from "./pods/deps.ts";
import type { Refresher } from "./pods/refresh.ts";
import type { AccessTurns } from "./removal/turns.ts";
import type { Schedule } from "./schedule/turn.ts";
import type { MoneyTurn } from "./spend/turn.ts";
import type { Deliverer } from "./webhooks/deliver.ts";

/** What the loops run, each also for whoever wants a turn at once. */
export interface Jobs {
  readonly schedule: Schedule;
  readonly autoStop: AutoStopJobs;
  /** Looks after actions and creates whose outcome is not known. */
  readonly settle: () => Promise<void>;
  readonly money: MoneyTurn;
  readonly access: AccessTurns;
  readonly webhooks: Deliverer;
  /** Carries rotations of keys on. */
  readonly keys: OrgTurns;
}

const TURN_MS = 2 * SECOND;
/** A pod that is on its way is looked at often, but not for ever: a pod without a public address stays that way. */
const STARTING_MS = 20 * MINUTE;
/** Somebody who left keeps what they have open at most so long, and what Discord takes to answer. */
const ACCESS_MS = 3 * MINUTE;
const CONNECTIONS_KEPT_MS = 90 * DAY;
const EVENTS_KEPT_MS = 365 * DAY;
const DELIVERIES_KEPT_MS = 30 * DAY;
const SESSIONS_KEPT_MS = 365 * DAY;

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

export interface Loops {
  /** Ends all loops after the turns that run now. */
  stop(): Promise<void>;
  /** Lets the schedule have a turn at once. */
  wakeSchedule(): void;
}

/** The loops of a running server: RunPod's states, open intents, the schedule, housekeeping. */
export function startLoops(
  deps: PodDeps & {
    readonly refresher: Refresher;
    readonly jobs: Jobs;
    readonly settler: OrgTurns;
    readonly scheduleTurnMs: number;
    readonly keysTurnMs: number;
    readonly autoStopTimings: Pick<AutoStopTimings, "turnMs" | "warnTurnMs">;
    readonly auditRetentionDays: number;
    /** Removes what broken-off writes left on pods. */
    readonly tidyPods: () => Promise<void>;
  },
): Loops {
  const { db, clock, log } = deps;
  const { autoStop } = deps.jobs;

  const refreshOf = async (orgId: number) => {
    const org = orgById(db, orgId);
    if (org === undefined || !deps.runpod.hasKey(org)) return;
    const hasOpenCreate = openIntents(db, orgId).some((intent) => intent.action === "create");
    const maxAgeMs = refreshAge(clock.now(), livePods(db, orgId), hasOpenCreate);
    await deps.refresher.refresh(org, { maxAgeMs, timeoutMs: 15 * SECOND });
  };
  const refreshes = createOrgTurns("refresh", () => allOrgs(db).map((org) => org.id), refreshOf, log);

  const housekeeping = () => {
    const now = clock.now();
    const rows = pruneAudit(db, now - deps.auditRetentionDays * DAY);
    const revocations = pruneRevocations(db, now);
    const connections = pruneConnections(db, now - CONNECTIONS_KEPT_MS);
    const removals = pruneRemovals(db, now - CONNECTIONS_KEPT_MS);
    const envChanges = pruneEnvChanges(db, now - CONNECTIONS_KEPT_MS);
    const sessions = pruneSessions(db, now - SESSIONS_KEPT_MS);
    const deliveries = pruneDeliveries(db, now - DELIVERIES_KEPT_MS);
    const events = pruneEvents(db, now - EVENTS_KEPT_MS);
    const removed = { audit: rows, revocations, connections, removals, envChanges, sessions, deliveries, events };
    if (Object.values(removed).some((count) => count > 0)) log.info("Old rows were removed", removed);
    failTestsBefore(db, now - MINUTE, "The server stopped before the answer came", now);
  };

  const schedule = every("schedule", deps.scheduleTurnMs, deps.jobs.schedule.begin, log);
  const loops = [
    every("refresh", TURN_MS, refreshes.begin, log),
    every("settle", TURN_MS, deps.settler.begin, log),
    schedule,
    every("auto stop", deps.autoStopTimings.turnMs, autoStop.stops.begin, log),
    every("presence", deps.autoStopTimings.turnMs, autoStop.watch, log),
    every("warning", deps.autoStopTimings.warnTurnMs, autoStop.warn, log),
    every("money", MINUTE, deps.jobs.money.turn, log),
    every("removals", TURN_MS, deps.jobs.access.removals.begin, log),
    every("pod keys", MINUTE, deps.jobs.access.deliveries.begin, log),
    every("keys", deps.keysTurnMs, deps.jobs.keys.begin, log),
    every("access", ACCESS_MS, deps.jobs.access.checks.begin, log),
    every("webhooks", TURN_MS, deps.jobs.webhooks.turn, log),
    every("housekeeping", HOUR, housekeeping, log),
    every("tidy pods", HOUR, deps.tidyPods, log),
  ];
  return {
    async stop() {
      deps.jobs.money.close();
      await Promise.all(loops.map((loop) => loop.stop()));
      const { removals, deliveries, checks } = deps.jobs.access;
      const turns = [
        ...[refreshes, deps.jobs.schedule, deps.settler, deps.jobs.keys],
        ...[removals, deliveries, checks],
      ];
      await Promise.all([autoStop.stops.idle(), ...turns.map((one) => one.close())]);
    },
    wakeSchedule: schedule.wake,
  };
}
