import { type At, defineScreen } from "../core/screen.ts";
import { clean, wrap } from "../text/cells.ts";
import { type Edit, editKey, editOf, editSpans, editText, insert } from "../text/edit.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { scrolled } from "./scroll.ts";

/** A question before something that costs money, ends connections or loses files. */
export interface ConfirmParams {
  /** What it is about, such as `Stop workshop`. */
  readonly title: string;
  /**
   * What happens and what is lost, a paragraph each; asked for every frame, so that it can say what is still being looked
   * up (`at.read`).
   */
  lines(at: At<ConfirmParams, unknown>): readonly (string | { readonly text: string; readonly isWarning: true })[];
  /** The word for yes, such as `stop`. */
  readonly yes: string;
  /** What `n` does, where that is more than `leave all as it is`. */
  readonly no?: string;
  /** What must be typed first: the name of what goes for good. */
  readonly name?: string;
  /** Done after the dialog has closed. */
  onYes(at: At<ConfirmParams, unknown>): unknown;
}

interface State {
  readonly edit: Edit;
  /** The first line of the text that is shown. */
  readonly from: number;
  /** Enter was pressed behind another name. */
  readonly isWrong: boolean;
}

type ConfirmAt = At<ConfirmParams, State>;

const isTyped = ({ params, state }: ConfirmAt) =>
  params.name === undefined || editText(state.edit).trim() === params.name.trim() ||
  // A name that cannot be typed is typed as it is shown.
  editText(state.edit).trim() === clean(params.name).trim();

const edited = (at: ConfirmAt, next: (edit: Edit) => Edit) =>
  at.set((state) => ({ ...state, edit: next(state.edit), isWrong: false }));

const yes = (at: ConfirmAt) => {
  at.close();
  return at.params.onYes(at);
};

/** The sentence above the line that one types into; null when its name is so long that it would push that out of sight. */
function typeLines({ params, width, height }: ConfirmAt): string[] | null {
  const lines = wrap(`Type ${clean(params.name ?? "")} and press enter to ${params.yes}:`, width);
  return lines.length <= Math.max(2, Math.floor(height / 2) - 1) ? lines : null;
}

/** What happens and what is lost, and a name that is too long for the question itself. */
const textLines = (at: ConfirmAt) => {
  const { name } = at.params;
  const longName = name !== undefined && typeLines(at) === null ? [`The name to type: ${clean(name)}`] : [];
  return [...at.params.lines(at), ...longName].flatMap((one): Line[] => {
    const isWarning = typeof one !== "string";
    const said = isWarning ? `! ${one.text}` : one;
    return wrap(said, at.width).map((part) => line(span(part, isWarning ? "warn" : undefined)));
  });
};

/** The question itself, which is always in sight. */
const askLines = (at: ConfirmAt): Line[] => {
  const { params, state, width } = at;
  return params.name === undefined
    ? wrap(`Press y to ${params.yes}, n to ${params.no ?? "leave all as it is"}.`, width).map((part) => line(part))
    : [
      ...(typeLines(at) ?? wrap(`Type its name and press enter to ${params.yes}:`, width)).map((part) => line(part)),
      [span("> "), ...editSpans(state.edit, Math.max(4, width - 2))],
      ...(state.isWrong ? [line(span("! That is another name. Nothing is done yet.", "bad"))] : []),
    ];
};

/** The rows for the text, and how far it can be scrolled. */
function roomOf(at: ConfirmAt): { rows: number; last: number } {
  const rows = Math.max(1, at.height - askLines(at).length);
  return { rows, last: Math.max(0, textLines(at).length - rows) };
}

/** `Are you sure`: with `name`, only after that was typed. Escape and `n` leave all as it is. */
export const confirmScreen = defineScreen<ConfirmParams, State>({
  id: "confirm",
  isDialog: true,
  isQuestion: true,
  title: (at) => at.params.title,
  init: () => ({ edit: editOf(""), from: 0, isWrong: false }),
  typing: (at) => at.params.name === undefined ? null : (text) => edited(at, (edit) => insert(edit, text)),
  actions: [
    { keys: ["y"], label: "yes", about: "do it", when: (at) => at.params.name === undefined, run: yes },
    {
      keys: ["n"],
      label: "no",
      about: "leave all as it is",
      when: (at) => at.params.name === undefined,
      run: (at) => at.close(),
    },
    {
      keys: ["enter"],
      label: "do it",
      about: "do it, once the name is typed",
      when: (at) => at.params.name !== undefined && isTyped(at),
      run: yes,
    },
    {
      keys: ["enter"],
      label: "say so",
      isMinor: true,
      about: "before the name is typed: nothing but a word that it is another one",
      when: (at) => at.params.name !== undefined && at.state.edit.letters.length > 0,
      run: (at) => at.set((state) => ({ ...state, isWrong: true })),
    },
    {
      keys: ["down", "up", "pagedown", "pageup"],
      shown: "↑↓",
      label: "scroll",
      about: "show the rest of what happens",
      when: (at) => roomOf(at).last > 0,
      run: (at, key) => {
        const { rows, last } = roomOf(at);
        at.set((state) => ({ ...state, from: scrolled(Math.min(state.from, last), key, rows, last) }));
      },
    },
    {
      keys: ["backspace", "left", "right", "home", "end", "delete", "ctrl-a", "ctrl-e", "ctrl-u", "ctrl-k", "ctrl-w"],
      label: "erase",
      isMinor: true,
      about: "change what is typed",
      when: (at) => at.params.name !== undefined && at.state.edit.letters.length > 0,
      run: (at, key) => edited(at, (edit) => editKey(edit, key) ?? edit),
    },
  ],
  view: (at) => {
    const [text, ask] = [textLines(at), askLines(at)];
    const { rows, last } = roomOf(at);
    if (last === 0) return [...text, ...(text.length < rows ? [BLANK] : []), ...ask];
    const from = Math.min(at.state.from, last);
    const shown = text.slice(from, from + rows);
    return [...(from < last ? [...shown.slice(0, -1), line(span("… ↓ shows the rest", "dim"))] : shown), ...ask];
  },
});
