import { isoTime } from "../clock.ts";
import type { Ended } from "./script.ts";

/** What stands between a removal and its end. */
export interface RemovalFacts {
  /** The pod's last known state; null for one that is gone for good. */
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
  /** Something of theirs was found and ended. */
  readonly hasEnded: boolean;
  /** Nothing they had on the pod is left, and their account is closed. */
  readonly hasEndedAll: boolean;
  /** What was done, in sentences. */
  readonly report: string;
  /** What was not, and what follows from it; null when nothing is left. */
  readonly error: string | null;
}

const REFUSED = "Their certificates are refused on the pod.";

const plural = (count: number, word: string) =>
  `${count} ${word}${count === 1 ? "" : word.endsWith("ss") ? "es" : "s"}`;

/** Says what came of taking somebody's access to a pod away. */
export function outcomeOf(facts: RemovalFacts, now: number): Outcome {
  const { status, listFailure, ended, worksUntil } = facts;
  const works = worksUntil !== null && worksUntil > now;
  if (status === null || status === "EXITED") {
    const report = status === "EXITED"
      ? "The pod is stopped, so nothing of theirs runs; the revocation list reaches it as soon as it starts"
      : "The pod is gone, and everything on it with it";
    return { isDone: true, hasEnded: false, hasEndedAll: false, report: `${report}.`, error: null };
  }
  if (status === "GONE") {
    const report = "RunPod does not show the pod any more.";
    // It may only be out of RunPod's sight for a while, with them on it; a connection outlives its certificate.
    const until = works ? ` Until ${isoTime(worksUntil)} a certificate may work there.` : "";
    const error = `Should it come back, what they have on it ends; terminate it if it will not.${until}`;
    return { isDone: false, hasEnded: false, hasEndedAll: false, report, error };
  }
  const done: string[] = [];
  const left: string[] = [];
  if (listFailure === null) done.push(REFUSED);
  else if (works) {
    left.push(
      `The pod has not the revocation list: ${listFailure}. A certificate works there until ${isoTime(worksUntil)}`,
    );
  }
  const isCounted = ended !== null && typeof ended !== "string";
  if (!isCounted) {
    left.push(`What they have running on the pod was not ended: ${ended ?? "it was not reached"}`);
  } else {
    done.push(endedSentence(ended, facts.which));
    if (ended.unknownConnections > 0) done.push(unknownSentence(ended.unknownConnections));
    if (ended.unrecordedConnections > 0) left.push(unrecordedSentence(ended.unrecordedConnections));
    if (ended.leftConnections + ended.leftProcesses > 0) {
      left.push(
        `${plural(ended.leftConnections, "connection")} and ${plural(ended.leftProcesses, "process")} are left`,
      );
    }
    if (!ended.accountExpired) left.push("Their account on the pod could not be locked against cron jobs and keys");
  }
  return {
    isDone: left.length === 0,
    hasEnded: isCounted && ended.connections + ended.processes > 0,
    hasEndedAll: isCounted && ended.leftConnections + ended.leftProcesses === 0 && ended.accountExpired,
    report: done.join(" "),
    error: left.length === 0 ? null : `${left.join(". ")}.`,
  };
}

/** The report to be kept after one more look: what an earlier look ended is not forgotten when a later finds nothing. */
export function reportAfter(before: string | null, { report, hasEnded }: Outcome): string | null {
  if (before === null || before === "" || hasEnded) return report === "" ? before : report;
  return report.startsWith(REFUSED) && !before.startsWith(REFUSED) ? `${REFUSED} ${before}` : before;
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

/** Only where nobody wrote down who came in: there a bare tunnel or a root shell tells nothing about its owner. */
function unknownSentence(count: number): string {
  return `${plural(count, "SSH connection")} ${
    count === 1 ? "is" : "are"
  } open whose certificate the pod did not write ` +
    "down, the server's own among them: a restart of the pod ends them all.";
}

/** Where each connection is written down, one that is not is somebody's whose record failed, or was taken away. */
function unrecordedSentence(count: number): string {
  const [are, them] = count === 1 ? ["is", "it"] : ["are", "them"];
  return `${
    plural(count, "SSH connection")
  } ${are} open whose certificate is not written down although the pod does so, ` +
    `and may be theirs: a restart of the pod ends ${them}`;
}
