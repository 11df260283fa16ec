import { Problem, problemOf } from "../client/problem.ts";
import { type Amount, amountLeftMs, type Sample, speedOf, withSample } from "../core/samples.ts";
import { defineScreen, type Ui } from "../core/screen.ts";
import { wrap } from "../text/cells.ts";
import { type Line, line, span } from "../text/line.ts";
import { duration, size, speed } from "../text/units.ts";
import { bar } from "./bars.ts";

interface Params {
  readonly title: string;
  cancel(): void;
}

interface State {
  /** Of the last seconds, oldest first. */
  readonly samples: readonly Sample[];
  readonly isStopping: boolean;
}

/** Frames of a progress a second: enough for the eye, little for the line. */
const EVERY_MS = 200;

const progressScreen = defineScreen<Params, State>({
  id: "progress",
  isDialog: true,
  title: (at) => at.params.title,
  init: () => ({ samples: [], isStopping: false }),
  actions: [
    {
      keys: ["esc", "c"],
      label: "cancel",
      about: "stop it; what was begun is undone where that can be",
      when: (at) => !at.state.isStopping,
      run: (at) => {
        at.set({ isStopping: true });
        at.params.cancel();
      },
    },
    // Nothing happens until it has stopped.
    { keys: ["esc"], label: "stopping", when: (at) => at.state.isStopping, run: () => {} },
  ],
  view: (at) => progressLines(at.state.samples, at.state.isStopping, at.width),
});

/** Bar, amounts, speed and the time that is left. */
export function progressLines(samples: readonly Sample[], isStopping: boolean, width: number): Line[] {
  const last = samples.at(-1);
  if (isStopping) return [line("Stopping …")];
  if (last === undefined) return [line("Beginning …")];
  const pace = speedOf(samples);
  const amount = last.total === null ? size(last.done) : `${size(last.done)} of ${size(last.total)}`;
  const left = amountLeftMs(samples);
  const text = [amount, ...(pace === null ? [] : [speed(pace)]), ...(left === null ? [] : [`${duration(left)} left`])];
  const share = last.total === null ? null : last.total === 0 ? 1 : last.done / last.total;
  const percent = share === null ? "" : ` ${Math.floor(share * 100)}%`.padStart(5);
  return [
    ...(share === null ? [] : [line(span(bar(share, Math.max(4, width - 5)), "accent"), percent)]),
    ...wrap(text.join("   "), width).map((part) => line(part)),
  ];
}

/**
 * Carries out something long with a dialog that shows how far it is and can cancel it. True when it is done; what kept it
 * from that has been said.
 */
export async function runWithProgress(
  ui: Ui,
  task: { readonly title: string; work(report: (amount: Amount) => void, signal: AbortSignal): Promise<void> },
): Promise<boolean> {
  const stop = new AbortController();
  const dialog = ui.open(progressScreen, { title: task.title, cancel: () => stop.abort() });
  let drawnAt = -Infinity;
  const report = (amount: Amount) => {
    const at = ui.clock.now();
    if (at - drawnAt < EVERY_MS && amount.done !== amount.total) return;
    drawnAt = at;
    dialog.set((state) => ({ ...state, samples: withSample(state.samples, { ...amount, at }) }));
  };
  try {
    await task.work(report, stop.signal);
    return true;
  } catch (error) {
    const problem = stop.signal.aborted ? new Problem("stopped", `${task.title}: cancelled`) : problemOf(error);
    if (problem === null) throw error;
    if (problem.kind !== "signed_out") {
      ui.say([problem.sentence, ...problem.notes].join(" "), stop.signal.aborted ? "warn" : "bad");
    }
    return false;
  } finally {
    dialog.close();
    ui.refresh();
  }
}
