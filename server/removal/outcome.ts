import { isoTime } from "../clock.ts";
import type { Ended } from "./script.ts";

/** What stands between a removal and its end. */
export interface RemovalFacts {
  /** The pod's last known state; null for one that is gone. */
  readonly status: string | null;
  /** Why the revocation list is not on the pod; null when it is. */
  readonly listFailure: string | null;
  /** What was ended on the pod; a sentence's end for why nothing could be; null when it was not tried. */
  readonly ended: Ended | string | null;
  /** Until when a certificate works where the list is not; null when none does. */
  readonly worksUntil: number | null;
  readonly which: "all" | "root";
}

export interface Outcome {
  readonly isDone: boolean;
  /** What was done, in sentences. */
  readonly report: string;
  /** What was not, and what follows from it; null when nothing is left. */
  readonly error: string | null;
}

const plural = (count: number, word: string) =>
  `${count} ${word}${count === 1 ? "" : word.endsWith("ss") ? "es" : "s"}`;

/** Says what came of taking somebody's access to a pod away. */
export function outcomeOf(facts: RemovalFacts, now: number): Outcome {
  const { status, listFailure, ended, worksUntil } = facts;
  if (status === null || status === "GONE" || status === "EXITED") {
    const report = status === "EXITED"
      ? "The pod is stopped, so nothing of theirs runs; the revocation list reaches it as soon as it starts"
      : "The pod is gone, and everything on it with it";
    return { isDone: true, report: `${report}.`, error: null };
  }
  const done: string[] = [];
  const left: string[] = [];
  if (listFailure === null) done.push("Their certificates are refused on the pod.");
  else if (worksUntil !== null && worksUntil > now) {
    left.push(
      `The pod has not the revocation list: ${listFailure}. A certificate works there until ${isoTime(worksUntil)}`,
    );
  }
  if (ended === null || typeof ended === "string") {
    left.push(`What they have running on the pod was not ended: ${ended ?? "it was not reached"}`);
  } else {
    done.push(endedSentence(ended, facts.which));
    if (ended.leftConnections + ended.leftProcesses > 0) {
      left.push(
        `${plural(ended.leftConnections, "connection")} and ${plural(ended.leftProcesses, "process")} are left`,
      );
    }
    if (!ended.accountExpired) left.push("Their account on the pod could not be locked against cron jobs");
  }
  return {
    isDone: left.length === 0,
    report: done.join(" "),
    error: left.length === 0 ? null : `${left.join(". ")}.`,
  };
}

function endedSentence(ended: Ended, which: "all" | "root"): string {
  const { connections, processes } = ended;
  if (connections + processes === 0) return "Nothing of theirs was running.";
  const parts = [
    ...(connections > 0 ? [plural(connections, "SSH connection")] : []),
    ...(processes > 0 ? [plural(processes, "process")] : []),
  ];
  const rest = which === "root" ? " What they may do as a member stays." : "";
  return `${parts.join(" and ")} of theirs ${connections + processes === 1 ? "was" : "were"} ended.${rest}`;
}
