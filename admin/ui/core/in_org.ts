import { type Problem, problemOf } from "../client/problem.ts";
import { ACTION_MS } from "../client/session.ts";
import type { Calls } from "./calls.ts";
import type { Ui } from "./screen.ts";
import type { Transfers } from "./transfers.ts";

/** What of a screen's `Ui` belongs to one org. */
type InOrg = Pick<Ui, "org" | "say" | "call" | "calls" | "transfers">;

type Say = (text: string, tone?: "good" | "warn" | "bad") => void;

/**
 * What a screen of one org asks and says: it asks nothing of another org, and its messages name the org when another one
 * is shown by then.
 */
export function createInOrg(deps: {
  /** The org that is shown now. */
  org(): string;
  readonly say: Say;
  readonly calls: Calls;
  readonly transfers: Transfers;
  isBusy(what: string): boolean;
  /** Loads again what is shown. */
  refresh(): void;
}): (org: string) => InOrg {
  return (org) => {
    const say: Ui["say"] = (text, tone, about = org) =>
      deps.say(about === deps.org() ? text : `${about}: ${text}`, tone);
    const calls: Calls = { ...deps.calls, make: (what, work, how) => deps.calls.make(what, work, { org, ...how }) };
    const call: Ui["call"] = async (what, work, how = {}) => {
      if (deps.isBusy(what)) {
        say(`${what} is under way already`, "warn");
        return null;
      }
      try {
        const value = await calls.make(what, work, { deadlineMs: ACTION_MS, ...how });
        for (const warning of warningsOf(value)) say(warning, "warn");
        return value;
      } catch (error) {
        const problem = problemOf(error);
        if (problem === null) throw error;
        sayProblem(problem, say);
        return null;
      } finally {
        deps.refresh();
      }
    };
    const transfers: Transfers = { ...deps.transfers, start: (task) => deps.transfers.start({ org, ...task }) };
    return { org, say, call, calls, transfers };
  };
}

/** Says why something did not succeed. */
export function sayProblem(problem: Problem, say: Say): void {
  if (problem.kind === "signed_out") return; // The sign-in dialog says it.
  say([problem.sentence, ...problem.notes].join(" "), problem.kind === "stopped" ? "warn" : "bad");
}

function warningsOf(value: unknown): string[] {
  const isWarned = typeof value === "object" && value !== null && "warnings" in value && Array.isArray(value.warnings);
  return isWarned ? (value.warnings as unknown[]).map(String) : [];
}
