import { extendSchema, MOST_EXTENSION } from "../../../server/schedule/session_rules.ts";
import { read } from "../../client/api.ts";
import type { Action, At, Ui } from "../core/screen.ts";
import { filesAtStop } from "../data/pod_words.ts";
import { podSessionsResource, podsResource, type Session } from "../data/pods.ts";
import { canChange, canExtend, hasBegun, restOfSeries, spanText } from "../data/session_words.ts";
import { partsOf } from "../data/sessions.ts";
import { localTime } from "../text/units.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { formScreen } from "../widgets/form/screen.ts";
import { pickerScreen } from "../widgets/picker.ts";
import { meanwhileLines } from "./meanwhile.ts";
import { whoIsOnNow } from "./pod_actions.ts";
import type { PodOfSession } from "./session_form.ts";

/** The forms hold the rules of the world's clocks, which are heavy to load. */
const forms = () => import("./session_form.ts");

/** Opens the form for a new session; without a pod it is chosen first. */
export async function addSession(ui: Ui, pod: PodOfSession | null): Promise<void> {
  if (pod !== null) return await ui.openLate(forms, ({ openAddForm }) => openAddForm(ui, pod));
  ui.open(pickerScreen, {
    title: "New session of which pod?",
    rows: (at) => at.read(podsResource).value?.pods.map(({ id, name }) => ({ key: id, text: name, note: id })) ?? null,
    onPick: async (id, at) => {
      const name = at.read(podsResource).value?.pods.find((one) => one.id === id)?.name ?? id;
      (await forms()).openAddForm(at, { id, name });
    },
  });
}

async function changeSession(ui: Ui, session: Session): Promise<void> {
  const pod = { id: session.pod_id!, name: session.pod_name };
  await ui.openLate(forms, ({ openChangeForm }) => openChangeForm(ui, pod, session));
}

/** Opens the form that puts the stop of a session off. */
export function extendSession(ui: Ui, id: string, session: Session): void {
  const left = MOST_EXTENSION - session.extended_minutes;
  ui.open(formScreen, {
    title: `Extend ${session.title ?? "the session"}`,
    fields: [{
      name: "minutes",
      label: "Minutes",
      kind: "number",
      initial: Math.max(1, Math.min(30, left)),
      unit: "min",
      hint: `It stops at ${
        localTime(session.stop_at, ui.zone, ui.now)
      }; ${left} of ${MOST_EXTENSION} minutes are left.`,
    }],
    schema: extendSchema,
    notes: (_, at, width) => {
      const now = at.read(podSessionsResource(id)).value?.find((one) => one.id === session.id);
      const isSame = now === undefined || now.stop_at === session.stop_at;
      // Also by a try of this form whose answer was lost.
      const said = isSame ? null : `Its stop was put off meanwhile, to ${localTime(now.stop_at, at.zone, at.now)}.`;
      return meanwhileLines(said, width);
    },
    send: "Extend",
    work: (body) => (api, org) =>
      read(api.org.pods[":id"].sessions[":session"].extend.$post({
        param: { org, id, session: String(session.id) },
        json: body as { minutes: number },
      })),
    done: (_, at) => at.say("The stop is put off"),
  });
}

type Said = string | { readonly text: string; readonly isWarning: true };

/** What becomes of the pod when a session that has begun ends now. */
function stopLines(ui: Ui, session: Session, openedAt: number): Said[] {
  const pod = ui.read(podsResource).value?.pods.find(({ id }) => id === session.pod_id);
  return [
    {
      text: "It has started: the pod stops at the next run of the schedule, unless another session keeps it up.",
      isWarning: true,
    },
    ...(pod === undefined ? [] : [whoIsOnNow(ui, pod, openedAt), filesAtStop(pod)]),
  ];
}

/** Asks, then takes one session away. */
function deleteOne(ui: Ui, session: Session, onGone: () => void): void {
  const openedAt = ui.clock.now();
  // It may begin while the question stands there.
  const now = (at: Ui) =>
    at.read(podSessionsResource(session.pod_id!)).value?.find(({ id }) => id === session.id) ?? session;
  ui.open(confirmScreen, {
    title: `Delete ${session.title ?? `session ${session.id}`}`,
    lines: (at) => [
      `${session.pod_name}, ${spanText(now(at), at)}.`,
      ...(hasBegun(now(at)) ? stopLines(at, now(at), openedAt) : []),
    ],
    yes: "delete it",
    onYes: async (at) => {
      if (await remove(at, session, false) !== null) onGone();
    },
  });
}

/** Asks, then takes what is left of a series away. */
function deleteSeries(ui: Ui, session: Session, onGone: () => void): void {
  const openedAt = ui.clock.now();
  const rest = (at: Ui) =>
    restOfSeries(partsOf(at.read(podSessionsResource(session.pod_id!)).value ?? []).open, session);
  ui.open(confirmScreen, {
    title: `Delete the series of ${session.title ?? `session ${session.id}`}`,
    lines: (at) => {
      const sessions = rest(at);
      const last = sessions.at(-1);
      const begun = sessions.find(hasBegun);
      return [
        last === undefined
          ? "Looking which sessions it has …"
          : `${sessions.length} sessions of ${session.pod_name} go, from ${spanText(session, at)} on; the last one is ${
            spanText(last, at)
          }.`,
        ...(begun === undefined ? [] : stopLines(at, begun, openedAt)),
      ];
    },
    yes: "delete them",
    onYes: async (at) => {
      if (await remove(at, session, true) !== null) onGone();
    },
  });
}

async function remove(ui: Ui, session: Session, series: boolean): Promise<unknown> {
  const done = await ui.call("Delete the session", (api, org) =>
    read(api.org.pods[":id"].sessions[":session"].$delete({
      param: { org, id: session.pod_id!, session: String(session.id) },
      query: series ? { series: "true" } : {},
    })));
  if (done === null) return null;
  const { sessions } = done.value;
  if (sessions !== undefined) ui.say(`${sessions.length} sessions are deleted`);
  else ui.say(hasBegun(session) ? "The session ends now, and the pod stops" : "The session is deleted");
  return done;
}

/** Change, extend and delete for whatever session a screen has at hand; `onGone` is called when it was deleted. */
export function sessionActions<P, S>(
  sessionOf: (at: At<P, S>) => Session | undefined,
  onGone: (at: At<P, S>) => void = () => {},
): Action<P, S>[] {
  const offered = (can: (session: Session, now: number) => boolean) => (at: At<P, S>) => {
    const session = sessionOf(at);
    return session !== undefined && can(session, at.now);
  };
  return [
    {
      keys: ["c"],
      word: "change",
      label: "change",
      about: "other times, another title or other rules",
      when: offered(canChange),
      run: (at) => changeSession(at, sessionOf(at)!),
    },
    {
      keys: ["e"],
      word: "extend",
      label: "extend",
      about: `put the stop of a session that has begun off, by ${MOST_EXTENSION} minutes in all`,
      when: offered(canExtend),
      run: (at) => extendSession(at, sessionOf(at)!.pod_id!, sessionOf(at)!),
    },
    {
      keys: ["d"],
      word: "delete",
      label: "delete",
      about: "take the session off the calendar; asks first, and a started one stops its pod",
      when: offered(canChange),
      run: (at) => deleteOne(at, sessionOf(at)!, () => onGone(at)),
    },
    {
      keys: ["D"],
      word: "delete-series",
      label: "delete series",
      about: "take this session and all later ones of its series away; asks first",
      when: offered((session) => canChange(session) && session.series_id !== null),
      run: (at) => deleteSeries(at, sessionOf(at)!, () => onGone(at)),
    },
  ];
}
