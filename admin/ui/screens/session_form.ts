/** The forms that add and change sessions. Heavy to load, because of the world's clocks: import it where one is opened. */
import { HOUR, MINUTE } from "../../../server/clock.ts";
import { SCHEDULE_TIMINGS } from "../../../server/schedule/decide.ts";
import { read } from "../../client/api.ts";
import type { Ui } from "../core/screen.ts";
import { spanText } from "../data/session_words.ts";
import { podSessionsResource, podsResource, type Session } from "../data/pods.ts";
import { wrap } from "../text/cells.ts";
import { type Line, line, span } from "../text/line.ts";
import type { Field } from "../widgets/form/fields.ts";
import { formScreen } from "../widgets/form/screen.ts";
import { meanwhileLines } from "./meanwhile.ts";
import {
  type ChangeBody,
  changeDraft,
  type Draft,
  draftSchema,
  type NewBody,
  newDraft,
  nextHour,
  proposedStop,
  understood,
  wallText,
} from "./session_draft.ts";

export interface PodOfSession {
  readonly id: string;
  readonly name: string;
}

const zones = () => ["UTC", ...Intl.supportedValuesOf("timeZone")].map((value) => ({ value }));

const START: Omit<Field & { kind: "text" }, "initial"> = {
  name: "start_at",
  label: "Start",
  kind: "text",
  hint: "Such as 18:00, tomorrow 18:00 or 2026-12-07 18:00, in the time zone below.",
};
const STOP: Omit<Field & { kind: "text" }, "initial"> = {
  name: "stop_at",
  label: "Stop",
  kind: "text",
  hint: "Such as 20:00, the first after the start; or with a day. At most 24 hours later.",
};

function commonFields(session: Pick<Session, "over_budget" | "on_gpu_taken"> | null, zone: string): Field[] {
  return [
    {
      name: "time_zone",
      label: "Time zone",
      kind: "suggest",
      initial: zone,
      suggestions: zones,
      hint: "In which the times are meant; a series keeps its hours there.",
    },
    {
      name: "over_budget",
      label: "Budget spent",
      kind: "switch",
      on: "start all the same",
      off: "do not start",
      initial: session?.over_budget ?? false,
    },
    {
      name: "on_gpu_taken",
      label: "GPU taken",
      kind: "choice",
      options: [{ value: "wait", label: "try again until it is free" }, { value: "fresh_pod", label: "a fresh pod" }],
      initial: session?.on_gpu_taken ?? "wait",
      hint: "When another customer has the host's GPU. A fresh pod begins with an empty disk.",
    },
  ];
}

const SERIES: readonly Field[] = [
  {
    name: "series",
    label: "Repeat",
    kind: "choice",
    options: [
      { value: "once", label: "once" },
      { value: "count", label: "weekly, so many times" },
      { value: "until", label: "weekly, until a day" },
    ],
  },
  {
    name: "every_weeks",
    label: "Every",
    kind: "number",
    initial: 1,
    unit: "weeks",
    when: ({ series }) => series !== "once",
  },
  {
    name: "count",
    label: "Times",
    kind: "number",
    initial: 10,
    unit: "sessions",
    when: ({ series }) => series === "count",
  },
  {
    name: "until",
    label: "Until",
    kind: "text",
    example: "needed: a day",
    hint: "The last day, such as 2026-12-20.",
    when: ({ series }) => series === "until",
  },
];

/** Sooner than this a session would start its pod, which costs money, as soon as it is sent. */
const AHEAD_MS = 15 * MINUTE;

/** A form for a new session or series of a pod: from the next full hour on that is not upon us, two hours long. */
export function openAddForm(ui: Ui, pod: PodOfSession): void {
  const { clock, zone } = ui;
  const startAt = nextHour(ui.now + AHEAD_MS, zone);
  ui.open(formScreen, {
    title: `New session of ${pod.name}`,
    about: "The pod is started some minutes before the start, and stopped at the stop unless another session goes on.",
    fields: [
      { name: "title", label: "Title", kind: "text", hint: "Members see it; it may stay empty." },
      { ...START, initial: wallText(startAt, zone) },
      { ...STOP, initial: proposedStop(startAt, startAt + 2 * HOUR, zone) },
      ...SERIES,
      ...commonFields(null, zone),
    ],
    schema: draftSchema,
    body: (values) => newDraft(values, clock.now()),
    notes: (values, now, width) => draftLines(newDraft(values, now.now), now, pod, width),
    send: "Add",
    work: (draft) => (api, org) =>
      read(api.org.pods[":id"].sessions.$post({ param: { org, id: pod.id }, json: bodyIn<NewBody>(draft) })),
    done: (answer, at) => {
      const { value } = answer as { value: { session: Session; sessions?: Session[]; warnings?: string[] } };
      const count = value.sessions?.length ?? 1;
      const what = count === 1 ? "The session is added" : `${count} sessions are added`;
      const warnings = value.warnings ?? [];
      if (warnings.length === 0) at.say(`${what}: ${count === 1 ? "" : "the first "}${spanText(value.session, at)}`);
      else at.say(`${what}. ${warnings.join(". ")}`, "warn");
    },
  });
}

/** A form for another title, other times or rules of a session. */
export function openChangeForm(ui: Ui, pod: PodOfSession, session: Session): void {
  const { clock, zone } = ui;
  const startAt = Date.parse(session.start_at);
  ui.open(formScreen, {
    title: `Change ${session.title ?? `session ${session.id}`}`,
    about: "Only what is different is sent.",
    fields: [
      { name: "title", label: "Title", kind: "text", initial: session.title ?? "" },
      { ...START, initial: wallText(startAt, zone), when: () => !session.started },
      { ...STOP, initial: proposedStop(startAt, Date.parse(session.stop_at), zone) },
      ...commonFields(session, zone),
    ],
    schema: draftSchema,
    body: (values) => changeDraft(values, session, clock.now()),
    notes: (values, now, width) => [
      ...meanwhileLines(doneMeanwhile(now, pod, session), width),
      ...draftLines(changeDraft(values, session, now.now), now, pod, width),
    ],
    send: "Change",
    work: (draft) => (api, org) =>
      read(api.org.pods[":id"].sessions[":session"].$put({
        param: { org, id: pod.id, session: String(session.id) },
        json: bodyIn<ChangeBody>(draft),
      })),
    done: (answer, at) => {
      const { value } = answer as { value: { session: Session } };
      at.say(`The session is changed: ${spanText(value.session, at)}`);
    },
  });
}

/** The form is sent only without a mistake, and then there is a body. */
const bodyIn = <B>(draft: unknown): B => (draft as Draft<B>).body!;

/** How the times are understood, what may not be meant, and what it will cost. */
function draftLines(draft: Draft<unknown>, ui: Ui, pod: PodOfSession, width: number): Line[] {
  const cost = ui.read(podsResource).value?.pods.find(({ id }) => id === pod.id)?.cost_per_hour ?? null;
  const first = draft.windows[0];
  const isSoon = first !== undefined && first.stopAt > ui.now && first.startAt <= ui.now + SCHEDULE_TIMINGS.leadMs;
  const warnings = [
    ...draft.warnings,
    ...(isSoon ? [`It begins within ${SCHEDULE_TIMINGS.leadMs / MINUTE} minutes: the pod is started at once`] : []),
  ];
  // In a small window the last lines have no room.
  return [
    ...warnings.flatMap((text) => wrap(`! ${text}`, width - 2)).map((text) => line(span(` ${text}`, "warn"))),
    ...understood(draft, cost).flatMap((text) => wrap(text, width - 2)).map((text) => line(span(` ${text}`, "accent"))),
  ];
}

/** What somebody else did to the session while the form was open. */
function doneMeanwhile(ui: Ui, pod: PodOfSession, session: Session): string | null {
  const sessions = ui.read(podSessionsResource(pod.id)).value;
  if (sessions === undefined) return null;
  const now = sessions.find(({ id }) => id === session.id);
  return now === undefined
    ? "It was deleted meanwhile"
    : now.finished
    ? "It is over meanwhile"
    : now.start_at !== session.start_at || now.stop_at !== session.stop_at || now.title !== session.title
    ? `Somebody changed it meanwhile: ${spanText(now, ui)}${now.title === null ? "" : `, ${now.title}`}`
    : null;
}
