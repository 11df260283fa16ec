/** What the schedule does under each fault of the stand-in RunPod that can be switched on. */
import assert from "node:assert/strict";
import type { ScheduleCase, ScheduleLook } from "./fault_schedule_scene.ts";

const ACTION = { on: "POST /pods/{id}/action" } as const;
const START = { ...ACTION, action: "start" } as const;
const CREATE = { on: "POST /pods" } as const;
const READ = { on: "GET /pods/{id}" } as const;
const LIST = { on: "GET /pods" } as const;
const GPU = { use_cpu_only: false, cloud_type: "SECURE" } as const;

export const STARTED: ScheduleLook = { asked: "start", session: "starting started", up: true };
const RUNS: ScheduleLook = { asked: "", session: "running started", up: true };
export const DONE: ScheduleLook = { asked: "", session: "done started finished", up: false };

/** The fault makes no difference to a start. */
export const UNHARMED: ScheduleCase = {
  step: "start",
  during: STARTED,
  after: RUNS,
  events: ["pod.started", "pod.stopped"],
};

/** The start is refused, said so once, and made again at the next turn. */
export const refused = (error: RegExp): ScheduleCase => ({
  step: "start",
  on: START,
  during: { asked: "start", session: "starting", error, up: false },
  after: STARTED,
  events: ["session.failed", "pod.started", "pod.stopped"],
});

/** The answer is lost and the pod did not start: that is found out first, then the start is made again. */
const lostAndNotDone = (also: Partial<ScheduleCase> = {}): ScheduleCase => ({
  step: "start",
  on: START,
  during: { asked: "start", session: "starting", error: /Whether the start happened is not known yet/, up: false },
  after: STARTED,
  events: ["pod.failed", "pod.started", "pod.stopped"],
  attention: ["action_not_done"],
  ...also,
});

/** The answer is lost and the pod did start: it is read and that is all. */
const lostAndDone: ScheduleCase = { ...UNHARMED, on: START };

/** The list cannot be read: the last known state is acted on, and what RunPod says to that. */
const LIST_LOST: ScheduleCase = { ...UNHARMED, on: LIST };

/** A fresh pod is refused like the start before it; both are tried again. */
export const freshRefused = (error: RegExp): ScheduleCase => ({
  step: "fresh_pod",
  on: CREATE,
  during: { asked: "start create", session: "starting", error, up: false },
  after: { asked: "start create", session: "starting started", up: true },
  events: ["session.failed", "pod.created", "pod.stopped"],
});

/** The answer of the create is lost: the pod is found by its name, once, and nothing else is asked meanwhile. */
const freshLost = (also: Partial<ScheduleCase> = {}): ScheduleCase => ({
  step: "fresh_pod",
  on: CREATE,
  during: {
    asked: "start create",
    session: "starting",
    error: /Whether a fresh pod was made in its place is not known yet/,
    up: true,
  },
  after: { asked: "delete", session: "running started", up: true },
  events: ["pod.created", "pod.stopped"],
  ...also,
});

/** No pod was made: the search ends, and the window with it; nobody makes a second one. */
const freshNeverMade: ScheduleCase = {
  ...freshLost(),
  during: { ...freshLost().during, up: false },
  after: { asked: "", session: "starting", error: /is not known yet/, up: false },
  ends: "failed finished",
  events: ["session.failed"],
  attention: ["create_unsettled"],
};

export const FRESH: ScheduleCase = {
  step: "fresh_pod",
  during: { asked: "start create", session: "starting started", up: true },
  after: { asked: "delete", session: "running started", up: true },
  events: ["pod.created", "pod.stopped"],
};

const limited = (wait: number): ScheduleCase => ({
  ...refused(/rate limit/),
  on: { ...START, ms: wait },
});

/** By fault and variant. */
export const SWITCHED_CASES: Readonly<Record<string, ScheduleCase>> = {
  "F1 401": { ...refused(/RunPod answered 401: missing bearer token/), on: {} },
  "F1 403": refused(/RunPod answered 403: access denied/),
  "F7 absent": UNHARMED,
  "F7 one-window": UNHARMED,
  "F9 empty-runtime": UNHARMED,
  "F10 refresh": freshRefused(/A fresh pod in its place was refused too: .*no longer any instances available/),
  "F10 plain": freshRefused(/A fresh pod in its place was refused too: .*no longer any instances available/),
  "F10 currently": freshRefused(/A fresh pod in its place was refused too: .*no instances currently available/),
  "F10 resources": freshRefused(/A fresh pod in its place was refused too: .*does not have the resources/),
  "F11 balance": freshRefused(/RunPod answered 402: Your balance is too low/),
  "F11 forbidden": freshRefused(/RunPod answered 403: access denied: this account may not use SECURE pods/),
  // The schedule always sends the count, so this refusal never comes.
  "F12 count-refused": FRESH,
  "F13 cut": freshLost(),
  "F13 hang": freshLost(),
  "F13 500": freshLost(),
  "F13 502": freshLost({ on: { ...CREATE, ms: 90_000 } }),
  "F13 cut-body": freshLost(),
  "F14 500": freshNeverMade,
  "F14 cut": freshNeverMade,
  // A pod that was made a minute ago and is in no answer yet is not gone.
  "F15 invisible": {
    ...FRESH,
    on: { ms: 90_000 },
    async check({ world }) {
      for (let looks = 0; looks < 4; looks++) {
        world.clock.advance(10_000);
        await world.app.jobs.schedule.turn();
      }
      const pod = world.db.get<{ status: string; missing_count: number }>("select * from compute_pods")!;
      assert.ok(pod.missing_count > 2, "the list was asked and did not show it");
      assert.notEqual(pod.status, "GONE");
    },
  },
  // It runs, and that nobody can log in is another matter.
  "F16 never-address": UNHARMED,
  "F16 runtime-only": UNHARMED,
  "F16 late-address": UNHARMED,
  "F17 http-entry": UNHARMED,
  "F17 null-entries": UNHARMED,
  // A stopped pod that shows an address is stopped all the same.
  "F18 stale-runtime": UNHARMED,
  "F19 missing-parts": UNHARMED,
  "F19 null-parts": UNHARMED,
  // It is not known whether a word that nobody knows means up.
  "F19 unknown-status": UNHARMED,
  "F19 extra-fields": UNHARMED,
  "F19 cost-zero": UNHARMED,
  "F20 short-pages": manyPods(UNHARMED),
  "F20 empty-page": manyPods(UNHARMED),
  "F20 no-pagination": manyPods(UNHARMED),
  "F20 endless": manyPods(LIST_LOST),
  "F24 conflict": refused(/RunPod answered 409: action start is not valid for a pod with status EXITED/),
  "F26 stale-reads": UNHARMED,
  "F26 ip": UNHARMED,
  "F27 problem": refused(/RunPod answered 400: There are not enough free GPUs on the host machine/),
  "F27 plain": refused(/RunPod answered 400: not enough free GPUs on the host machine/),
  "F27 other": refused(/RunPod answered 400: The pod is being moved to another machine/),
  "F28 zero": withoutGpu(),
  "F28 absent": withoutGpu(),
  "F29 500-but-done": lostAndDone,
  // RunPod says yes to a stop and the pod runs on: the session is over only when the pod is seen stopped.
  "F29 200-but-not-yet": {
    step: "stop",
    on: { ...ACTION, ms: 60_000 },
    during: { asked: "stop", session: "running started", up: true },
    after: DONE,
    events: ["pod.stopped"],
  },
  "F31 minute": limited(12_000),
  "F31 hour": limited(200_000),
  "F31 retry-after-only": limited(100_000),
  "F31 bare": limited(0),
  "F32 html-502": lostAndNotDone(),
  "F32 html-524": lostAndDone,
  "F32 empty-503": lostAndNotDone(),
  "F32 agent-403": refused(/RunPod answered 403: .*Access denied/),
  "F33 error": lostAndNotDone(),
  "F33 message": lostAndNotDone(),
  "F33 not-json": lostAndDone,
  "F33 html-200": lostAndDone,
  "F34 slow": lostAndDone,
  // Nothing can be read either: what became of it shows when RunPod is back.
  "F34 cut": {
    ...lostAndDone,
    also: [{ fault: "F34", variant: "refused-like", ...READ }],
    during: { asked: "start", session: "starting", error: /Whether the start happened is not known yet/, up: true },
  },
  "F34 refused-like": lostAndNotDone({ on: {} }),
  "F34 410": refused(/RunPod answered 410: This version of the API has been retired/),
};

/** The pod is the last of a long list. */
function manyPods(one: ScheduleCase): ScheduleCase {
  return {
    ...one,
    prepare({ world }) {
      const others = [1, 2, 3, 4].map((n) => world.runpod.pods.addForeign({ name: `theirs-${n}`, cpu: true }));
      return () => others.forEach((pod) => world.runpod.pods.deleteOutside(pod.id));
    },
  };
}

/** A pod that came up without its GPU is stopped at once, and started again at the next turn. */
function withoutGpu(): ScheduleCase {
  return {
    step: "start",
    pod: GPU,
    during: {
      asked: "start stop",
      session: "starting",
      error: /started without its GPU, because its host has no free one, and was stopped again/,
      up: false,
    },
    after: STARTED,
    events: ["session.failed", "pod.started", "pod.stopped"],
    containers: 3,
  };
}
