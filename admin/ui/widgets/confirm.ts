import { type At, defineScreen } from "../core/screen.ts";
import { clean, wrap } from "../text/cells.ts";
import { type Edit, editKey, editOf, editSpans, editText, insert } from "../text/edit.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";

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
  /** Enter was pressed behind another name. */
  readonly isWrong: boolean;
}

const isTyped = ({ params, state }: At<ConfirmParams, State>) =>
  params.name === undefined || editText(state.edit).trim() === params.name.trim() ||
  // A name that cannot be typed is typed as it is shown.
  editText(state.edit).trim() === clean(params.name).trim();

const yes = (at: At<ConfirmParams, State>) => {
  at.close();
  return at.params.onYes(at);
};

/** `Are you sure`: with `name`, only after that was typed. Escape and `n` leave all as it is. */
export const confirmScreen = defineScreen<ConfirmParams, State>({
  id: "confirm",
  isDialog: true,
  isQuestion: true,
  title: (at) => at.params.title,
  init: () => ({ edit: editOf(""), isWrong: false }),
  typing: (at) =>
    at.params.name === undefined
      ? null
      : (text) => at.set((state) => ({ edit: insert(state.edit, text), isWrong: false })),
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
      run: (at) => at.set({ isWrong: true }),
    },
    {
      keys: ["backspace", "left", "right", "home", "end", "delete", "ctrl-a", "ctrl-e", "ctrl-u", "ctrl-k", "ctrl-w"],
      label: "erase",
      isMinor: true,
      about: "change what is typed",
      when: (at) => at.params.name !== undefined && at.state.edit.letters.length > 0,
      run: (at, key) => at.set((state) => ({ edit: editKey(state.edit, key) ?? state.edit, isWrong: false })),
    },
  ],
  view: (at) => {
    const { params, state, width, height } = at;
    const text = params.lines(at).flatMap((one): Line[] => {
      const isWarning = typeof one !== "string";
      const said = isWarning ? `! ${one.text}` : one;
      return wrap(said, width).map((part) => line(span(part, isWarning ? "warn" : undefined)));
    });
    const ask: Line[] = params.name === undefined
      ? [line(`Press y to ${params.yes}, n to ${params.no ?? "leave all as it is"}.`)]
      : [
        ...wrap(`Type ${clean(params.name)} and press enter to ${params.yes}:`, width).map((part) => line(part)),
        [span("> "), ...editSpans(state.edit, Math.max(4, width - 2))],
        ...(state.isWrong ? [line(span("! That is another name. Nothing is done yet.", "bad"))] : []),
      ];
    const room = Math.max(0, height - ask.length - 1);
    // The question must be seen whatever the window is.
    const shown = text.length <= room ? text : [...text.slice(0, Math.max(0, room - 1)), line(span("…", "dim"))];
    return [...shown, ...(height > ask.length + 1 ? [BLANK] : []), ...ask];
  },
});
