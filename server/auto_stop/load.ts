import { sessionsOfRun, sessionsOfRuns, upPods } from "../../db/stores/activity.ts";
import type { Database } from "../../db/database.ts";
import { allOrgs, type Org, orgById } from "../../db/stores/organizations.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import type { SessionRow } from "../../db/stores/sessions.ts";
import { type OrgSettings, settingsOf } from "../identity/org_settings.ts";
import { type Standing, standingOf } from "./planned.ts";
import { type AutoStop, decideAutoStop, LEAD_MS, type StopFacts } from "./decide.ts";

export interface LoadDeps {
  readonly db: Database;
  /** Whether the org's budget of the month is spent. */
  readonly budgetReached: (org: Org, now: number) => boolean;
  /** How long before its start a session counts; 10 minutes. */
  readonly leadMs?: number;
}

/** A pod that is up with all that its stops are decided on. */
export interface LoadedPod {
  readonly org: Org;
  readonly pod: LivePod;
  readonly sessions: readonly SessionRow[];
  readonly settings: OrgSettings;
  readonly facts: StopFacts;
}

/** All pods that are up, of all orgs: two reads per org and its budget. */
export function loadUpPods(deps: LoadDeps, now: number): LoadedPod[] {
  return allOrgs(deps.db).flatMap((org) => {
    const pods = upPods(deps.db, org.id);
    if (pods.length === 0) return [];
    const sessions = sessionsOfRuns(deps.db, org.id);
    const settings = settingsOf(org);
    const facts = factsOf(deps, org, settings, now);
    return pods.map((pod) => ({ org, pod, sessions: sessions.get(pod.id) ?? [], settings, facts }));
  });
}

/** One pod as it is now; null when it is not up any more. */
export function loadUpPod(deps: LoadDeps, podId: string, now: number): LoadedPod | null {
  const pod = podById(deps.db, podId);
  const org = pod === undefined ? undefined : orgById(deps.db, pod.org_id);
  if (pod === undefined || org === undefined || pod.state !== "live" || pod.runpod_id === null) return null;
  if (pod.up_since === null) return null;
  const settings = settingsOf(org);
  const facts = factsOf(deps, org, settings, now);
  return { org, pod: pod as LivePod, sessions: sessionsOfRun(deps.db, pod.id), settings, facts };
}

export function decideLoaded(now: number, { pod, sessions, settings, facts }: LoadedPod): AutoStop {
  return decideAutoStop(now, pod, sessions, settings, facts);
}

function factsOf(deps: LoadDeps, org: Org, settings: OrgSettings, now: number): StopFacts {
  return {
    budgetReached: settings.stop_at_budget && deps.budgetReached(org, now),
    // Nothing runs jobs yet.
    hasRunningJob: false,
    leadMs: deps.leadMs ?? LEAD_MS,
  };
}

/** The standing of an org's pods, from two reads for all of them. */
export function standingReader(deps: LoadDeps, org: Org, now: number): (pod: LivePod) => Standing {
  const sessions = sessionsOfRuns(deps.db, org.id);
  const settings = settingsOf(org);
  const facts = factsOf(deps, org, settings, now);
  return (pod) => standingOf(now, pod, sessions.get(pod.id) ?? [], settings, facts);
}
