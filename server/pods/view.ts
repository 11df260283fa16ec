import type { Database } from "../../db/database.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { allowedUsersByPod } from "../../db/stores/pod_access.ts";
import type { LivePod } from "../../db/stores/pods.ts";
import { standingReader } from "../auto_stop/load.ts";
import type { Standing } from "../auto_stop/planned.ts";
import { keptUntil } from "../auto_stop/rules.ts";
import { isoTime } from "../clock.ts";
import { changedOutsideReader } from "../key_rotation/changed_outside.ts";
import { clockOffsetOf } from "../presence/clock_offset.ts";
import { type Planned, plannedOf } from "../schedule/planned.ts";
import type { MonthCosts } from "../spend/month_costs.ts";
import { type Trouble, TROUBLES } from "./trouble.ts";

/** The pod as officers see it (contract section 4). */
export interface PodView extends Standing {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly status: string | null;
  readonly is_public: boolean;
  readonly allowed_users: string[];
  readonly created_by: string | null;
  readonly created_at: string;
  readonly machine: Record<string, unknown> | null;
  readonly cost_per_hour: number | null;
  readonly stale: boolean;
  readonly as_of: string | null;
  /** Whether the server could log in during this start of the container; null when it was not tried. */
  readonly reachable: boolean | null;
  readonly unreachable_reason: string | null;
  /** Whether members get port forwarding on this pod in this start. */
  readonly port_forwarding: boolean | null;
  /**
   * Whether it keeps the rules about who comes in, in this start: `image` and `pushed` do; `refused` for `setup_reason`,
   * `behind` while the present revocation list or keys could not be brought to it. Null while it is not known.
   */
  readonly setup: "image" | "pushed" | "refused" | "behind" | null;
  readonly setup_reason: string | null;
  /** How far its clock is ahead of the server's. */
  readonly clock_offset_seconds: number | null;
  /** False when a stop loses every file. */
  readonly keeps_files: boolean;
  readonly started_at: string | null;
  /** The pod's own rules for stops by themselves: null takes the organization's, 0 is never. */
  readonly auto_stop_after_minutes: number | null;
  readonly max_run_hours: number | null;
  /** Until then an officer keeps it up. */
  readonly keep_until: string | null;
  /** Since when it is up without a break. */
  readonly up_since: string | null;
  /** Why it is in its state, and since when: what was done to it last, here or elsewhere. */
  readonly status_why: string | null;
  readonly status_since: string | null;
  /** What is wrong with it, and what to do. */
  readonly trouble:
    | { readonly code: Trouble; readonly since: string | null; readonly what: string; readonly todo: string }
    | null;
  /** What RunPod shows otherwise than it was asked for: its image, its start arguments, the keys in its environment. */
  readonly changed_outside: string[];
  readonly next_session: Planned["next_session"];
  /** USD in this calendar month (UTC), storage included; up to half a minute old. */
  readonly cost_this_month: number;
}

/** Pods of a kind have the same machine, and lists of pods are asked for often. */
const machines = new Map<string, Record<string, unknown>>();

function machineOf(json: string): Record<string, unknown> {
  let machine = machines.get(json);
  if (machine === undefined) {
    if (machines.size > 1_000) machines.clear();
    machine = Object.freeze(JSON.parse(json) as Record<string, unknown>);
    machines.set(json, machine);
  }
  return machine;
}

const timeOrNull = (ms: number | null) => ms === null ? null : isoTime(ms);

/** What the answers about an org's pods are made from. */
export interface ViewDeps {
  readonly db: Database;
  /** Whether the org's budget of the month is spent. */
  readonly budgetReached: (org: Org, now: number) => boolean;
  readonly leadMs: number;
  readonly monthCosts: MonthCosts;
}

/** Makes answers of stored pods; `stale` says that RunPod was not heard for this answer. */
export type PodViewer = (pod: LivePod, stale: boolean) => PodView;

/** Reads what the views of an org's pods have in common, by a few queries for all of them. */
export function podViewer(deps: ViewDeps, org: Org, now: number): PodViewer {
  const { db } = deps;
  const allowed = allowedUsersByPod(db, org.id);
  const planned = plannedOf(db, org.id, now);
  const costs = deps.monthCosts(org.id, now);
  const standing = standingReader(deps, org, now);
  const changedOutside = changedOutsideReader(db, org.id);
  return (pod, stale) => ({
    ...stateOf(pod, stale, now),
    allowed_users: allowed.get(pod.id) ?? [],
    changed_outside: changedOutside(pod).map((change) => change.sentence),
    next_session: planned(pod.id).next_session,
    cost_this_month: costs.get(pod.id) ?? 0,
    ...standing(pod),
  });
}

function stateOf(
  pod: LivePod,
  stale: boolean,
  now: number,
): Omit<PodView, "allowed_users" | "changed_outside" | "next_session" | "cost_this_month" | keyof Standing> {
  const thisStart = pod.start_key !== null && pod.status === "RUNNING" ? pod.start_key : null;
  const reached = thisStart !== null && pod.reachable_start === thisStart && pod.unreachable_reason === null;
  return {
    id: pod.runpod_id,
    name: pod.name,
    provider: pod.provider,
    status: pod.status ?? "UNKNOWN",
    is_public: pod.is_public === 1,
    created_by: pod.created_by,
    created_at: isoTime(pod.created_at),
    machine: pod.machine === null ? null : machineOf(pod.machine),
    cost_per_hour: pod.cost_per_hour,
    stale: stale || pod.missing_count > 0 && pod.status !== "GONE",
    as_of: timeOrNull(pod.as_of),
    reachable: thisStart === null ? null : reached ? true : pod.unreachable_reason === null ? null : false,
    unreachable_reason: thisStart === null ? null : pod.unreachable_reason,
    port_forwarding: thisStart !== null && pod.forwarding_start === thisStart ? pod.forwarding === "refused" : null,
    ...setupView(pod),
    keeps_files: pod.keeps_files === 1,
    started_at: timeOrNull(pod.started_at),
    auto_stop_after_minutes: pod.auto_stop_after_minutes,
    max_run_hours: pod.max_run_hours,
    keep_until: timeOrNull(keptUntil(now, pod)),
    up_since: timeOrNull(pod.up_since),
    status_why: pod.status_why,
    status_since: timeOrNull(pod.status_since),
    trouble: troubleView(pod),
  };
}

function setupView(pod: LivePod): Pick<PodView, "setup" | "setup_reason" | "clock_offset_seconds"> {
  if (pod.status !== "RUNNING" || pod.setup_start === null || pod.setup_start !== pod.start_key) {
    return { setup: null, setup_reason: null, clock_offset_seconds: null };
  }
  const behind = pod.setup_state !== "refused" && pod.trust_error !== null;
  return {
    setup: behind ? "behind" : pod.setup_state,
    setup_reason: behind ? pod.trust_error : pod.setup_reason,
    clock_offset_seconds: clockOffsetOf(pod),
  };
}

function troubleView(pod: LivePod): PodView["trouble"] {
  const code = pod.trouble as Trouble | null;
  return code === null ? null : { code, since: timeOrNull(pod.trouble_since), ...TROUBLES[code] };
}
