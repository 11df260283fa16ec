import type { Database } from "../../db/database.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { isoTime } from "../clock.ts";
import { raise } from "../events/raise.ts";
import { settingsOf } from "../identity/org_settings.ts";
import { type BudgetState, budgetState, usd } from "./budget.ts";
import { monthOf } from "./months.ts";

/** Events name this many sessions; how many more there are is said. */
const MOST_NAMED = 20;

/**
 * Raises `budget.warning` at 80 % of the month's budget and `budget.reached` at 100 %, each once for a month and an
 * amount of budget. They name the sessions of the rest of the month that may not start.
 */
export function tellOfBudget(db: Database, org: Org, now: number): void {
  const state = budgetState(db, org, now);
  if (state.state !== "warning" && state.state !== "reached") return;
  db.tx(() => {
    tell(db, org, state, "budget.warning", now);
    if (state.state === "reached") tell(db, org, state, "budget.reached", now);
  });
}

function tell(
  db: Database,
  org: Org,
  state: BudgetState,
  kind: "budget.warning" | "budget.reached",
  now: number,
): void {
  const onceKey = `${kind}:${state.month}:${state.monthlyUsd}`;
  if (db.get("select 1 from events where org_id = ? and once_key = ?", org.id, onceKey) !== undefined) return;
  const sessions = sessionsAtRisk(db, org.id, now, monthOf(now).to);
  raise(db, {
    orgId: org.id,
    kind,
    subject: org.name,
    details: {
      month: state.month,
      budget_usd: state.monthlyUsd,
      spent_usd: usd(state.spentUsd),
      percent: Math.floor(state.percent ?? 0),
      stops_pods: settingsOf(org).stop_at_budget,
      sessions_at_risk: sessions.slice(0, MOST_NAMED),
      sessions_at_risk_count: sessions.length,
    },
    onceKey,
  }, now);
}

/** Sessions that have not started, begin before `until`, and have no leave to start over budget; by start. */
function sessionsAtRisk(
  db: Database,
  orgId: number,
  now: number,
  until: number,
): { pod: string; title: string | null; start_at: string }[] {
  return db.all<{ pod: string; title: string | null; start_at: number }>(
    "select p.name as pod, s.title, s.start_at from compute_sessions s join compute_pods p on p.id = s.pod_id " +
      "where s.org_id = ? and s.finished = 0 and s.started = 0 and s.over_budget = 0 and s.stop_at > ? " +
      "and s.start_at < ? order by s.start_at, s.id",
    orgId,
    now,
    until,
  ).map((session) => ({ ...session, start_at: isoTime(session.start_at) }));
}
