import type { CreateBody } from "../../client/api.ts";
import { type Action, type At, defineScreen } from "../core/screen.ts";
import { idsIn } from "../data/members.ts";
import { attentionResource } from "../data/pods.ts";
import { editText } from "../text/edit.ts";
import type { Edit } from "../text/edit.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { type FormState, stopAt, withText } from "../widgets/form/fields.ts";
import { type FormParams, formScreen } from "../widgets/form/screen.ts";
import { attentionScreen } from "./attention.ts";
import { listedPeopleScreen } from "./listed_people.ts";
import { type Draft, draftOf, draftSchema, NEW_POD_FIELDS } from "./new_pod_fields.ts";
import { newPodNotes } from "./new_pod_cost.ts";
import { type CreateSender, createSender, EARLIER_TRY } from "./new_pod_send.ts";
import { podScreen } from "./pod.ts";

export interface NewPodParams extends FormParams {
  readonly sender: CreateSender;
}

type NewPodAt = At<NewPodParams, FormState>;

/** An empty form, with creates of its own. */
export function newPodForm(): NewPodParams {
  const sender = createSender();
  return {
    title: "New pod",
    sender,
    fields: NEW_POD_FIELDS,
    schema: draftSchema,
    body: draftOf,
    notes: newPodNotes,
    send: "Create pod",
    work: (body) => sender.send((body as Draft).request as CreateBody),
    done: (answer, ui) => {
      const { pod, warnings } = answer as Awaited<ReturnType<ReturnType<CreateSender["send"]>>>;
      ui.say(`${pod.name} is being made, and costs money from now on`);
      for (const warning of warnings) ui.say(warning, "warn");
      ui.open(podScreen, { id: pod.id, name: pod.name });
    },
  };
}

const isAtPeople = (at: NewPodAt) => {
  const stop = stopAt(at.params.fields, at.state);
  return stop.kind === "field" && stop.field.name === "allowed_users";
};

/** What came of the last try is not known, by the server's own words or because no answer came. */
const isUnknown = ({ state: { refusal } }: NewPodAt) =>
  refusal !== null &&
  (/not known/.test(refusal.sentence) || refusal.notes.some((note) => /^attention_id: /.test(note)));

const ACTIONS: readonly Action<NewPodParams, FormState>[] = [
  {
    keys: ["enter"],
    label: "find people",
    about: "find people by name or role, and see who is listed",
    when: isAtPeople,
    run: (at) => {
      const ids = idsIn(editText(at.state.held.allowed_users as Edit));
      at.open(listedPeopleScreen, {
        title: "Listed people",
        ids,
        onLeave: (next) => at.set((state) => withText(state, "allowed_users", next.join(" "))),
      });
    },
  },
  {
    keys: ["ctrl-t"],
    label: "attention",
    about: "see what is not settled; the form stays as it is",
    when: (at) => isUnknown(at) || at.state.refusal?.notes.includes(EARLIER_TRY) === true,
    run: (at) => {
      at.refresh(attentionResource);
      at.open(attentionScreen, null);
    },
  },
  {
    keys: ["ctrl-n"],
    label: "another pod",
    about: "make another pod than the one that an earlier try may have made; asks first",
    when: (at) => at.state.refusal?.notes.includes(EARLIER_TRY) === true,
    run: (at) =>
      at.open(confirmScreen, {
        title: "Another pod",
        lines: () => [{ text: `${EARLIER_TRY} Sending the form again may buy a SECOND pod.`, isWarning: true }],
        yes: "let the form be sent anew",
        onYes: () => {
          at.params.sender.startAnew();
          at.set((state) => ({ ...state, refusal: null }));
        },
      }),
  },
];

const [SEND, ...OTHERS] = formScreen.actions;

/** The form of a new pod: what it costs stands above the fields, and one form never makes two pods by itself. */
export const newPodScreen = defineScreen<NewPodParams, FormState>({
  ...formScreen,
  id: "new-pod",
  command: { word: "new", about: "make a new pod", open: newPodForm },
  about:
    "The pod starts right away and costs money until it is stopped. What is typed stays until the server has taken it.",
  actions: [SEND!, ...ACTIONS, ...OTHERS],
});
