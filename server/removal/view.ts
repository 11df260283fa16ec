import type { RemovalRow } from "../../db/stores/removals.ts";
import { isoTime } from "../clock.ts";
import { within } from "../within.ts";
import type { Removals } from "./carry_out.ts";
import type { Outcome } from "./outcome.ts";
import type { Taken } from "./take.ts";
import { RECREATE } from "./tell.ts";

/** What became of taking one person's access away, for the answer of the change that took it. */
export interface RemovalView {
  readonly id: number;
  readonly discord_id: string;
  /** `done`: nothing of theirs is left on the pod, and nothing lets them in. `open`: it goes on in the background. */
  readonly state: "done" | "open";
  /** How many certificates that still worked were taken back. */
  readonly certificates: number;
  readonly report: string;
  readonly left: string | null;
  /** What is to be done by hand; null when nothing is. */
  readonly todo: string | null;
}

/** An answer waits so long for the pods; what is not done then goes on. */
const WAIT_MS = 9_000;
const ON_ITS_WAY: Outcome = {
  isDone: false,
  hasEnded: false,
  hasEndedAll: false,
  report: "",
  error: "The pod has not answered yet; it goes on.",
};

/** Carries removals out side by side, as far as they come within one answer. */
export async function carryOutAll(removals: Removals, taken: readonly Taken[]): Promise<RemovalView[]> {
  return await Promise.all(taken.map(async (one) => {
    const outcome = await within(removals.carryOut(one.id), WAIT_MS, () => ON_ITS_WAY);
    return {
      id: one.id,
      discord_id: one.discordId,
      state: outcome.isDone ? "done" as const : "open" as const,
      certificates: one.certificates,
      report: outcome.report,
      left: outcome.error,
      todo: one.hadRoot ? RECREATE : null,
    };
  }));
}

/** The same in one sentence after the other. */
export function removalSentence({ discord_id, report, left, todo }: RemovalView): string {
  return [`${discord_id}:`, report, left, todo].filter((part) => part !== null && part !== "").join(" ");
}

/** A removal as lists show it. `podId`: RunPod's. */
export const removalView = (row: RemovalRow, podId: string | null) => ({
  id: row.id,
  pod_id: podId,
  discord_id: row.discord_id,
  only_root: row.which === "root",
  had_root: row.had_root === 1,
  reason: row.reason,
  asked_by: row.asked_by,
  asked_at: isoTime(row.asked_at),
  state: row.state,
  tried_at: row.tried_at === null ? null : isoTime(row.tried_at),
  settled_at: row.settled_at === null ? null : isoTime(row.settled_at),
  report: row.report,
  left: row.error,
  todo: row.had_root === 1 ? RECREATE : null,
});
