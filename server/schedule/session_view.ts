import type { SessionRow, SessionState } from "../../db/stores/sessions.ts";
import { isoTime } from "../clock.ts";

/** A session as officers see it: contract section 8.1 and what is told beside it. */
export interface SessionView {
  readonly id: number;
  /** RunPod's present id of the pod. */
  readonly pod_id: string | null;
  readonly pod_name: string;
  readonly title: string | null;
  readonly start_at: string;
  readonly stop_at: string;
  readonly started: boolean;
  readonly finished: boolean;
  readonly state: SessionState;
  /** The last failure of the schedule, and what an officer can do about it. */
  readonly error: string | null;
  readonly error_at: string | null;
  readonly todo: string | null;
  /** The same for all sessions that were made by one call with `repeat`. */
  readonly series_id: string | null;
  readonly extended_minutes: number;
  readonly over_budget: boolean;
  readonly on_gpu_taken: "wait" | "fresh_pod";
  readonly created_by: string | null;
  readonly created_at: string;
}

export function sessionView(
  session: SessionRow,
  pod: { readonly runpod_id: string | null; readonly name: string },
): SessionView {
  return {
    id: session.id,
    pod_id: pod.runpod_id,
    pod_name: pod.name,
    title: session.title,
    start_at: isoTime(session.start_at),
    stop_at: isoTime(session.stop_at),
    started: session.started === 1,
    finished: session.finished === 1,
    state: session.state,
    error: session.error,
    error_at: session.error_at === null ? null : isoTime(session.error_at),
    todo: todoOf(session),
    series_id: session.series_id,
    extended_minutes: session.extended_minutes,
    over_budget: session.over_budget === 1,
    on_gpu_taken: session.on_gpu_taken,
    created_by: session.created_by,
    created_at: isoTime(session.created_at),
  };
}

/** What an officer can do about a session that did not go as planned; null when there is nothing to do. */
function todoOf(session: SessionRow): string | null {
  if (session.state === "missed") {
    return "Add a session anew if it is still wanted, and see in the server's log why it did not act at that time.";
  }
  const hasFailed = session.state === "failed";
  const isTriedAgain = session.finished === 0 && session.failing_since !== null;
  if (!hasFailed && !isTriedAgain) return null;
  if (session.started === 1) {
    return isTriedAgain
      ? "The stop is tried again at every turn. The pod may cost money until then: stop it by hand if it cannot wait."
      : "Look whether the pod still runs, and stop it by hand if it does: it costs money.";
  }
  return isTriedAgain
    ? `The start is tried again at every turn until ${isoTime(session.stop_at)}. Remove what the error names, or use ` +
      "another pod."
    : "Nothing is tried any more. Remove what the error names, and add a session anew if it is still wanted.";
}
