import { read } from "../../client/api.ts";
import { type At, defineScreen } from "../core/screen.ts";
import { isUp } from "../../../server/pods/moves.ts";
import { type Event, eventsResource, type Pod, podSessionsResource, podsResource } from "../data/pods.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { localTime } from "../text/units.ts";
import { formScreen } from "../widgets/form/screen.ts";
import { problemLines } from "../widgets/reading.ts";
import { inSight, scrollAction, type ScrollState } from "../widgets/scroll.ts";
import { accessScreen } from "./access.ts";
import { peopleScreen } from "./people.ts";
import { eventsScreen } from "./events.ts";
import { filesAction } from "./files/browse.ts";
import { podActions } from "./pod_actions.ts";
import { podDetails } from "./pod_details.ts";
import type { PodParams } from "./pod_params.ts";
import { extendSession } from "./session_actions.ts";
import { sessionsScreen } from "./sessions.ts";

type PodAt = At<PodParams, ScrollState>;

const podOf = (at: PodAt): Pod | undefined => at.read(podsResource).value?.pods.find(({ id }) => id === at.params.id);

/** The session that keeps the pod up now. */
const runningSession = (at: PodAt) => {
  const sessions = at.read(podSessionsResource(at.params.id)).value ?? [];
  return sessions.find(({ started, finished, state }) => !finished && (started || state === "starting"));
};

/** One pod: what is known of it, what is wrong with it, what happened, and everything that is done to it. */
export const podScreen = defineScreen<PodParams, ScrollState>({
  id: "pod",
  title: (at) => podOf(at)?.name ?? at.params.name,
  about: "One pod. What is wrong with it stands first, with what to do; below are its last events.",
  init: () => ({ from: 0 }),
  actions: [
    ...podActions<PodParams, ScrollState>(podOf, (at) => at.close()),
    filesAction<PodParams, ScrollState>(podOf),
    {
      keys: ["a"],
      word: "access",
      label: "access",
      about: "who may enter the pod",
      when: (at) => podOf(at) !== undefined,
      run: (at) => at.open(accessScreen, at.params),
    },
    {
      keys: ["p"],
      word: "people",
      label: "people",
      about: "who is on the pod now, and the recent certificates",
      when: (at) => podOf(at) !== undefined,
      run: (at) => at.open(peopleScreen, at.params),
    },
    {
      keys: ["e"],
      word: "extend",
      label: "extend",
      about: "put the stop of the running session off, by 2 hours in all",
      when: (at) => runningSession(at) !== undefined,
      run: (at) => extendSession(at, at.params.id, runningSession(at)!),
    },
    {
      keys: ["c"],
      word: "pod-sessions",
      label: "sessions",
      about: "the pod's calendar: sessions to come and past ones",
      when: (at) => podOf(at) !== undefined,
      run: (at) => at.open(sessionsScreen, { pod: { id: at.params.id, name: podOf(at)!.name } }),
    },
    {
      keys: ["K"],
      word: "keep",
      label: "keep up",
      about: "keep the pod from stopping by itself for a while",
      when: (at) => isUp(podOf(at)?.status ?? null),
      run: (at) => keep(at),
    },
    {
      keys: ["E"],
      word: "pod-events",
      label: "events",
      about: "all saved events of the pod, with their details",
      run: (at) => at.open(eventsScreen, { pod: { id: at.params.id, name: podOf(at)?.name ?? at.params.name } }),
    },
    scrollAction({ lines: bodyLines }),
  ],
  view: (at) => inSight({ lines: bodyLines }, at),
});

function bodyLines(at: PodAt): Line[] {
  const { value, problem } = at.read(podsResource);
  const pod = podOf(at);
  const width = at.width - 2;
  if (value === undefined) return problem === null ? [line(span("  Loading …", "dim"))] : problemLines(problem, width);
  if (pod === undefined) {
    return [BLANK, line(span("  ! This pod is not in the list any more; esc goes back.", "warn")), ...eventLines(at)];
  }
  const details = podDetails(at, pod, width).map((one) => [span(" "), ...one]);
  return [...details, BLANK, ...eventLines(at)];
}

/** The newest events of the pod. */
function eventLines(at: PodAt): Line[] {
  const { value, problem } = at.read(eventsResource);
  const heading = line(span(" Events", "strong"));
  if (value === undefined) return problem === null ? [] : [heading, ...problemLines(problem, at.width)];
  const events = value.filter(({ pod_id }) => pod_id === at.params.id);
  if (events.length === 0) return [heading, line(span("   none yet", "dim"))];
  return [
    heading,
    ...events.slice(0, 50).map((event) =>
      line("   ", span(localTime(event.created_at, at.zone, at.now).padEnd(18), "dim"), eventText(event))
    ),
  ];
}

/** An event in one line: what, who, and the reason where it has one. */
export function eventText(event: Event): string {
  const { reason, error, why } = event.details as Record<string, unknown>;
  const because = [reason, error, why].find((one) => typeof one === "string" && one !== "");
  const by = event.actor === null ? "" : ` by ${event.actor}`;
  return `${event.kind}${by}${because === undefined ? "" : `: ${String(because)}`}`;
}

function keep(at: PodAt): void {
  const id = at.params.id;
  at.open(formScreen, {
    title: `Keep ${podOf(at)?.name ?? at.params.name} up`,
    fields: [{
      name: "minutes",
      label: "Minutes",
      kind: "number",
      initial: 90,
      unit: "min",
      hint: "From now on; 1 to 1440. Sessions still stop it.",
    }],
    send: "Keep it up",
    work: (body) => (api, org) =>
      read(api.org.pods[":id"].keep.$post({ param: { org, id }, json: body as { minutes: number } })),
    done: (_, ui) => ui.say("It is kept from stopping by itself"),
  });
}
