import type { z } from "zod";
import { problemOf } from "../../client/problem.ts";
import { ACTION_MS, type Work } from "../../client/session.ts";
import { type At, defineScreen, type Ui } from "../../core/screen.ts";
import { editKey, insert } from "../../text/edit.ts";
import type { Line } from "../../text/line.ts";
import { confirmScreen } from "../confirm.ts";
import { pickerScreen } from "../picker.ts";
import { fieldOf, mistakesIn } from "./check.ts";
import {
  editAt,
  type Field,
  type FormState,
  newForm,
  rowAdded,
  rowRemoved,
  stopAt,
  stopsOf,
  turned,
  type Values,
  valuesOf,
  withEdit,
  withText,
} from "./fields.ts";
import { drawForm } from "./view.ts";

/** A form that is sent to the server. */
export interface FormParams {
  readonly title: string;
  readonly fields: readonly Field[];
  /** The server's own schema of the body; what it says of a field is shown there as one types. */
  readonly schema?: z.ZodType;
  /** The body that is checked and sent; the values as they are when left out. */
  body?(values: Values): unknown;
  /** Always in sight above the fields. */
  notes?(values: Values, ui: Ui, width: number): readonly Line[];
  /** What the button says, such as `Create pod`. */
  readonly send: string;
  /** The call that sends it. */
  work(body: unknown, values: Values): Work<unknown>;
  /** After the server took it; the form has closed. */
  done?(answer: unknown, ui: Ui): unknown;
  readonly about?: string;
}

type FormAt = At<FormParams, FormState>;

const bodyOf = ({ params }: FormAt, values: Values): unknown => params.body?.(values) ?? values;
const stopOf = (at: FormAt) => stopAt(at.params.fields, at.state);
const isAt = (at: FormAt, ...kinds: Field["kind"][]) => {
  const stop = stopOf(at);
  return stop.kind === "field" && kinds.includes(stop.field.kind);
};
/** True at a switch, and at a choice of more than one. */
const canTurn = (at: FormAt) => {
  const stop = stopOf(at);
  if (stop.kind !== "field") return false;
  return stop.field.kind === "switch" || (stop.field.kind === "choice" && stop.field.options.length > 1);
};
const change = (at: FormAt, next: (state: FormState) => FormState) =>
  at.set((state) => state.isSending ? state : next(state));

const step = (at: FormAt, by: 1 | -1) =>
  change(at, (state) => {
    const count = stopsOf(at.params.fields, state).length;
    return { ...state, focus: (Math.min(state.focus, count - 1) + by + count) % count };
  });

/** Sends the form unless the schema finds a mistake; a refusal leaves all as it was typed. */
async function send(at: FormAt): Promise<void> {
  const { params, state } = at;
  if (state.isSending) return;
  const values = valuesOf(params.fields, state);
  const body = bodyOf(at, values);
  const [mistake] = mistakesIn(params.schema, body, params.fields);
  if (mistake !== undefined) {
    const stops = stopsOf(params.fields, state);
    const focus = stops.findIndex((stop) => stop.kind !== "send" && stop.field.name === mistake.field);
    const refusal = mistake.field === null ? { sentence: mistake.sentence, notes: [], field: null } : null;
    return at.set((before) => ({ ...before, wasTried: true, refusal, focus: focus < 0 ? before.focus : focus }));
  }
  at.set((before) => ({ ...before, wasTried: true, isSending: true, refusal: null }));
  try {
    const answer = await at.calls.make(params.title, params.work(body, values), { deadlineMs: ACTION_MS });
    at.close();
    at.refresh();
    await params.done?.(answer, at);
  } catch (error) {
    const problem = problemOf(error);
    if (problem === null) throw error;
    const sentence = problem.kind === "signed_out"
      ? "Not sent, because you were signed out: send it again."
      : problem.sentence;
    const field = problem.kind === "refused" ? fieldOf(problem.sentence, params.fields) : null;
    at.set((before) => ({ ...before, isSending: false, refusal: { sentence, notes: problem.notes, field } }));
    // It may have been carried out, or refused for what somebody else did.
    at.refresh();
  }
}

/** A key that changes the line of text one is in. */
const edited = (at: FormAt, key: string) =>
  change(at, (state) => {
    const edit = editAt(at.params.fields, state);
    return edit === null ? state : withEdit(at.params.fields, state, editKey(edit, key) ?? edit);
  });

/** A form. What was typed is kept until the server took it, or until its owner says that it may go. */
export const formScreen = defineScreen<FormParams, FormState>({
  id: "form",
  title: (at) => at.params.title,
  about: "What is typed stays until the server has taken it.",
  init: ({ fields }) => newForm(fields),
  typing: (at) => {
    const edit = editAt(at.params.fields, at.state);
    if (edit === null) return null;
    return (text) =>
      change(at, (state) => {
        const now = editAt(at.params.fields, state);
        return now === null ? state : withEdit(at.params.fields, state, insert(now, text));
      });
  },
  actions: [
    { keys: ["ctrl-s"], label: "send", about: "send the form", when: (at) => !at.state.isSending, run: send },
    { keys: ["tab", "down"], label: "next", about: "to the next field", run: (at) => step(at, 1) },
    {
      keys: ["shift-tab", "up"],
      shown: "↑",
      label: "previous",
      about: "to the field before",
      run: (at) => step(at, -1),
    },
    {
      keys: ["right", "left", " "],
      shown: "←→",
      label: "change",
      about: "choose another one",
      when: canTurn,
      run: (at, key) =>
        change(at, (state) => {
          const stop = stopAt(at.params.fields, state);
          return stop.kind === "field" ? turned(state, stop.field, key === "left" ? -1 : 1) : state;
        }),
    },
    {
      keys: ["enter"],
      label: "list",
      about: "choose from a list; other text can be typed too",
      when: (at) => isAt(at, "suggest"),
      run: (at) => {
        const stop = stopOf(at);
        if (stop.kind !== "field" || stop.field.kind !== "suggest") return;
        const { field } = stop;
        const values = valuesOf(at.params.fields, at.state);
        at.open(pickerScreen, {
          title: field.label,
          rows: (ui) =>
            field.suggestions(ui.read, values).map(({ value, note }) => ({
              key: value,
              text: value,
              note: note ?? "",
            })),
          onPick: (value) => change(at, (state) => withText(state, field.name, value)),
        });
      },
    },
    {
      keys: ["enter"],
      label: "add",
      about: "add a row",
      when: (at) => stopOf(at).kind === "add",
      run: (at) =>
        change(at, (state) => {
          const stop = stopAt(at.params.fields, state);
          return stop.kind === "add" ? rowAdded(at.params.fields, state, stop.field) : state;
        }),
    },
    {
      keys: ["ctrl-d"],
      label: "remove row",
      when: (at) => stopOf(at).kind === "cell",
      run: (at) => change(at, (state) => rowRemoved(at.params.fields, state)),
    },
    {
      keys: ["ctrl-u"],
      label: "empty",
      about: "empty the field, up to the cursor",
      when: (at) => (editAt(at.params.fields, at.state)?.at ?? 0) > 0,
      run: edited,
    },
    {
      keys: ["enter"],
      label: "do it",
      about: "at the button: send the form; else to the next field",
      run: (at) => stopOf(at).kind === "send" ? send(at) : step(at, 1),
    },
    {
      keys: ["backspace", "left", "right", "home", "end", "delete", "ctrl-a", "ctrl-e", "ctrl-k", "ctrl-w"],
      label: "erase",
      isMinor: true,
      about: "change the text",
      when: (at) => editAt(at.params.fields, at.state) !== null,
      run: edited,
    },
    {
      keys: ["esc"],
      label: "give up",
      about: "wait no longer for the server; what was typed stays",
      when: (at) => at.state.isSending,
      run: (at) => at.calls.giveUp(),
    },
    {
      keys: ["esc"],
      label: "cancel",
      about: "leave the form; asks when something was typed",
      run: (at) => {
        if (at.state.touched.length === 0) return at.close();
        at.open(confirmScreen, {
          title: "Leave the form",
          lines: () => ["What you typed is lost."],
          yes: "leave it",
          no: "go on with it",
          onYes: () => at.close(),
        });
      },
    },
  ],
  isUnsent: ({ state }) => state.touched.length > 0 && !state.isSending,
  view: (at) => {
    const { params, state, width, height } = at;
    const values = valuesOf(params.fields, state);
    return drawForm({
      fields: params.fields,
      state,
      mistakes: mistakesIn(params.schema, bodyOf(at, values), params.fields),
      send: params.send,
      notes: params.notes?.(values, at, width) ?? [],
      read: at.read,
      width,
      height,
    });
  },
});
