/** What is done to a pod, with the question before it; the list of pods and the screen of one share it. */
import { read } from "../../client/api.ts";
import { problemOf } from "../client/problem.ts";
import type { Action, At, Ui } from "../core/screen.ts";
import { canRestart, canStart, canStop, filesAtStop, whoIsOn } from "../data/pod_words.ts";
import { connectedSince, type Pod, podsResource } from "../data/pods.ts";
import { confirmScreen } from "../widgets/confirm.ts";

type PodAction = "start" | "stop" | "restart" | "terminate";

const DONE: Readonly<Record<PodAction, string>> = {
  start: "is starting",
  stop: "is stopping",
  restart: "is restarting",
  terminate: "is terminated",
};

/** Asks the server for an action. A refusal is said; a start over the budget becomes a question. */
async function act(ui: Ui, pod: Pod, action: PodAction, overBudget = false): Promise<boolean> {
  const json = { action, ...(overBudget ? { over_budget: true } : {}) };
  const title = action.charAt(0).toUpperCase() + action.slice(1);
  const done = await ui.call(
    `${title} ${pod.name}`,
    (api, org) =>
      read(api.org.pods[":id"].action.$post({ param: { org, id: pod.id }, json })).then(
        ({ value }) => value,
        (error) => {
          const problem = problemOf(error);
          if (problem?.code !== "budget_reached" || overBudget) throw error;
          return problem;
        },
      ),
  );
  if (done === null) return false;
  if (!("warnings" in done)) {
    confirmOverBudget(ui, pod, done.sentence);
    return false;
  }
  if (done.warnings.length === 0) ui.say(`${pod.name} ${DONE[action]}`);
  return true;
}

/** Starts a pod at once. Over the budget it asks whether to start all the same. */
export function startPod(ui: Ui, pod: Pod): Promise<void> {
  return act(ui, pod, "start").then(() => {});
}

/** Asks whether to start although the budget is spent; `refusal` is the server's sentence, where it has refused. */
function confirmOverBudget(ui: Ui, pod: Pod, refusal?: string): void {
  ui.open(confirmScreen, {
    title: `Start ${pod.name} over the budget`,
    lines: () => [
      // What an API client would have to send is what the question is about.
      ...(refusal === undefined ? [] : [{ text: refusal.replace(/; send .*/, ""), isWarning: true as const }]),
      "It is started even if the month's budget is spent, and the audit says that you did it.",
    ],
    yes: "start it",
    onYes: async (at) => void await act(at, pod, "start", true),
  });
}

type Said = string | { readonly text: string; readonly isWarning: true };

const NOT_LISTED: Said = {
  text: "It is not in the list of pods any more: it was terminated, or RunPod moved it.",
  isWarning: true,
};

/**
 * The pod as it is now, not as it was when the question was opened: another officer may have started it meanwhile, say. Null
 * when it is not listed any more.
 */
function podNow(ui: Ui, pod: Pod): Pod | null {
  const { value } = ui.read(podsResource);
  return value === undefined ? pod : value.pods.find(({ id }) => id === pod.id) ?? null;
}

/** Who is on the pod now; when that cannot be told any more, why, and not who was. */
export function whoIsOnNow(ui: Ui, pod: Pod, openedAt: number): string {
  const none = { value: undefined, at: null, problem: null, isLoading: false };
  if (pod.status !== "RUNNING") return whoIsOn(pod, none);
  if (ui.link.kind === "lost") return `Who is on it is not known: ${ui.link.sentence}`;
  const reading = ui.read(connectedSince(pod.id, openedAt));
  return whoIsOn(pod, reading.problem === null ? reading : { ...none, problem: reading.problem });
}

/** Who is disconnected and what becomes of the files at a stop, while the question stands there. */
function stopLines(pod: Pod, openedAt: number): (at: Ui) => readonly Said[] {
  return (at) => {
    const now = podNow(at, pod);
    return now === null ? [NOT_LISTED] : [whoIsOnNow(at, now, openedAt), filesAtStop(now)];
  };
}

function confirmStop(ui: Ui, pod: Pod): void {
  ui.open(confirmScreen, {
    title: `Stop ${pod.name}`,
    lines: stopLines(pod, ui.clock.now()),
    yes: "stop it",
    onYes: async (at) => void await act(at, pod, "stop"),
  });
}

function confirmRestart(ui: Ui, pod: Pod): void {
  ui.open(confirmScreen, {
    title: `Restart ${pod.name}`,
    lines: stopLines(pod, ui.clock.now()),
    yes: "restart it",
    onYes: async (at) => void await act(at, pod, "restart"),
  });
}

/** The name must be typed. `onGone` is called when the pod is off the list. */
function confirmTerminate(ui: Ui, pod: Pod, onGone: () => void): void {
  const isGone = pod.status === "GONE";
  const openedAt = ui.clock.now();
  ui.open(confirmScreen, {
    title: `Terminate ${pod.name}`,
    lines: (at) => {
      const now = podNow(at, pod);
      if (now === null) return [NOT_LISTED];
      if (now.status === "GONE") {
        return ["RunPod does not have this pod any more. This only takes it off the list, with its sessions."];
      }
      return [
        whoIsOnNow(at, now, openedAt),
        { text: "The volume, ALL files and the sessions of this pod go. It cannot be undone.", isWarning: true },
      ];
    },
    yes: isGone ? "take it off the list" : "terminate it",
    name: pod.name,
    onYes: async (at) => {
      if (await act(at, pod, "terminate")) onGone();
    },
  });
}

/** Start, stop, restart and terminate for whatever pod a screen has at hand. */
export function podActions<P, S>(
  podOf: (at: At<P, S>) => Pod | undefined,
  onGone: (at: At<P, S>) => void = () => {},
): Action<P, S>[] {
  const offered = (at: At<P, S>, can: (pod: Pod) => boolean) => {
    const pod = podOf(at);
    return pod !== undefined && can(pod);
  };
  const withPod = (at: At<P, S>, work: (pod: Pod) => unknown) => {
    const pod = podOf(at);
    return pod === undefined ? undefined : work(pod);
  };
  return [
    {
      keys: ["s"],
      word: "start",
      label: "start",
      about: "start the pod; it costs money from then on",
      when: (at) => offered(at, canStart),
      run: (at) => withPod(at, (pod) => startPod(at, pod)),
    },
    {
      word: "start-over-budget",
      label: "start over budget",
      about: "start the pod although the month's budget is spent",
      when: (at) => offered(at, canStart),
      run: (at) => withPod(at, (pod) => confirmOverBudget(at, pod)),
    },
    {
      keys: ["x"],
      word: "stop",
      label: "stop",
      about: "stop the pod; asks first, and says who is on it and what is lost",
      when: (at) => offered(at, canStop),
      run: (at) => withPod(at, (pod) => confirmStop(at, pod)),
    },
    {
      keys: ["R"],
      word: "restart",
      label: "restart",
      about: "restart the pod's container; asks first",
      when: (at) => offered(at, canRestart),
      run: (at) => withPod(at, (pod) => confirmRestart(at, pod)),
    },
    {
      keys: ["D"],
      word: "terminate",
      label: "terminate",
      about: "delete the pod and its files for good; its name must be typed",
      when: (at) => podOf(at) !== undefined,
      run: (at) => withPod(at, (pod) => confirmTerminate(at, pod, () => onGone(at))),
    },
  ];
}
