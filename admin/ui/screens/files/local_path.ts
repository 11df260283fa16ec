import { problemOf } from "../../client/problem.ts";
import { isOpen } from "../../core/is_open.ts";
import { type At, defineScreen } from "../../core/screen.ts";
import { completeLocal, localPathOf } from "../../data/local_paths.ts";
import { wrap } from "../../text/cells.ts";
import { type Edit, editKey, editOf, editSpans, editText, insert } from "../../text/edit.ts";
import { BLANK, type Line, line, span } from "../../text/line.ts";

/** Asks for a path on the computer where the admin runs. */
export interface LocalPathParams {
  readonly title: string;
  /** What stands above the line. */
  readonly about: string;
  readonly initial: string;
  /**
   * Takes the path, made absolute. It closes the dialog itself once the path is good; it gives a sentence (or throws what a
   * call throws) when it is not, and then what was typed stays. After a wait it looks whether the dialog `isOpen` still.
   */
  onPath(path: string, dialog: LocalPathDialog): Promise<string | null>;
}

/** The dialog, for what takes its path. */
export interface LocalPathDialog extends At<LocalPathParams, unknown> {
  isOpen(): boolean;
}

interface State {
  readonly edit: Edit;
  /** Names that would fit, after tab. */
  readonly names: readonly string[];
  readonly refusal: string | null;
  readonly isBusy: boolean;
}

type PathAt = At<LocalPathParams, State>;

const edited = (at: PathAt, next: (edit: Edit) => Edit) =>
  at.set((state) => state.isBusy ? state : { ...state, edit: next(state.edit), names: [], refusal: null });

async function take(at: PathAt): Promise<void> {
  const typed = editText(at.state.edit);
  if (typed.trim() === "") return at.set({ refusal: "Type a path on this computer" });
  if (typed.includes("\0")) return at.set({ refusal: "A path cannot hold a NUL" });
  at.set({ isBusy: true, names: [], refusal: null });
  let refusal: string | null = null;
  try {
    refusal = await at.params.onPath(localPathOf(typed, at.env), { ...at, isOpen: () => isOpen(at) });
  } catch (error) {
    const problem = problemOf(error);
    if (problem === null) throw error;
    refusal = [problem.sentence, ...problem.notes].join(" ");
  } finally {
    at.set((state) => ({ ...state, isBusy: false, refusal }));
  }
}

async function complete(at: PathAt): Promise<void> {
  const before = at.state;
  const typed = editText(before.edit);
  const { text, names, fits } = await completeLocal(typed, at.env);
  const refusal = fits ? null : "Nothing there begins like that";
  // What was typed or sent meanwhile wins.
  at.set((state) => state === before ? { ...state, edit: editOf(text), names, refusal } : state);
}

/** A line for a local path, completed by tab; it stays until the path is taken. */
export const localPathScreen = defineScreen<LocalPathParams, State>({
  id: "local-path",
  isDialog: true,
  title: (at) => at.params.title,
  init: ({ initial }) => ({ edit: editOf(initial), names: [], refusal: null, isBusy: false }),
  typing: (at) => (text) => edited(at, (edit) => insert(edit, text)),
  actions: [
    { keys: ["enter"], label: "do it", when: (at) => !at.state.isBusy, run: take },
    {
      keys: ["tab"],
      label: "complete",
      about: "complete the path by what is there",
      when: (at) => !at.state.isBusy && !at.state.edit.letters.includes("\0"),
      run: complete,
    },
    {
      keys: ["backspace", "left", "right", "home", "end", "delete", "ctrl-a", "ctrl-e", "ctrl-u", "ctrl-k", "ctrl-w"],
      label: "erase",
      isMinor: true,
      about: "change the text; ctrl-u empties it up to the cursor",
      run: (at, key) => edited(at, (edit) => editKey(edit, key) ?? edit),
    },
  ],
  view: (at) => {
    const { params, state, width, height } = at;
    const refusal: Line[] = state.refusal === null
      ? []
      : wrap(`! ${state.refusal}`, width).map((text) => line(span(text, "bad")));
    const head: Line[] = [
      ...wrap(params.about, width).map((text) => line(text)),
      [span("> "), ...editSpans(state.edit, Math.max(4, width - 2))],
      ...(state.isBusy ? [line(span("Looking …", "dim"))] : []),
    ];
    const room = Math.max(0, height - head.length - refusal.length);
    return [...head, ...refusal, ...nameLines(state.names, width, room)];
  },
});

/** Names in columns, as a shell lists them; those that have no room are counted. */
function nameLines(names: readonly string[], width: number, room: number): Line[] {
  if (names.length === 0 || room < 2) return [];
  const lines = wrap(names.join("  "), width);
  const shown = lines.slice(0, room - 1 - (lines.length > room - 1 ? 1 : 0));
  const rest = lines.length > shown.length ? [line(span("… and more", "dim"))] : [];
  return [BLANK, ...shown.map((text) => line(span(text, "dim"))), ...rest];
}
