import { problemOf } from "../client/problem.ts";
import type { Problem } from "../client/problem.ts";
import type { Work } from "../client/session.ts";
import type { Ui } from "../core/screen.ts";
import { confirmScreen } from "../widgets/confirm.ts";

/** A change that the server refuses while pods of the org are live, unless it is forced. */
export interface Forceable<T> {
  /** What is said while it is done, and the title of the question. */
  readonly what: string;
  work(force: boolean): Work<T>;
  /** What becomes of the live pods. */
  readonly warning: string;
  readonly yes: string;
  done(answer: T, ui: Ui): void;
}

/**
 * Tries without force. Where live pods stand against it, the server's list of them is shown, and it is forced once the org's
 * prefix was typed.
 */
export async function askThenForce<T>(ui: Ui, change: Forceable<T>): Promise<void> {
  const first = await ui.call(change.what, (...at) => answerOrLivePods(change.work(false)(...at)));
  if (first === null) return;
  if ("value" in first) return change.done(first.value, ui);
  ui.open(confirmScreen, {
    title: change.what,
    lines: () => [first.refusal.sentence, { text: change.warning, isWarning: true }],
    yes: change.yes,
    name: ui.org,
    onYes: async (at) => {
      const done = await at.call(change.what, async (...parts) => ({ value: await change.work(true)(...parts) }));
      if (done !== null) change.done(done.value, at);
    },
  });
}

async function answerOrLivePods<T>(answer: Promise<T>): Promise<{ value: T } | { refusal: Problem }> {
  try {
    return { value: await answer };
  } catch (error) {
    const problem = problemOf(error);
    if (problem?.code !== "live_pods") throw error;
    return { refusal: problem };
  }
}
