import { Problem, problemOf } from "../../client/problem.ts";
import { type At, defineScreen, type Ui } from "../../core/screen.ts";
import { nameOf, type PodRef } from "../../data/files.ts";
import { BLANK, type Line, line, span } from "../../text/line.ts";
import { size } from "../../text/units.ts";
import { problemLines } from "../../widgets/reading.ts";
import { inSight, scrollAction, type Scrolled, type ScrollState } from "../../widgets/scroll.ts";
import { editFile } from "./edit.ts";
import { askDownload } from "./moving.ts";
import { type FileText, readText, textLines } from "./text.ts";

interface ViewParams {
  readonly pod: PodRef;
  readonly path: Uint8Array;
  /** When it has been read already. */
  readonly text: FileText | null;
}

interface State extends ScrollState {
  readonly content:
    | { readonly kind: "loading" }
    | { readonly kind: "text"; readonly text: FileText; lines(width: number): readonly Line[] }
    | { readonly kind: "problem"; readonly problem: Problem };
}

type ViewAt = At<ViewParams, State>;

const shownAs = (text: FileText): State["content"] => ({ kind: "text", text, lines: textLines(text.content) });
const canEdit = ({ state: { content } }: ViewAt) => content.kind === "text" && content.text.etag !== null;
const noteOf = ({ content }: State) =>
  content.kind === "text" && content.text.etag === null
    ? "Read-only: bytes that are not UTF-8 are shown as \ufffd. Downloading gives them as they are."
    : null;
const TEXT: Scrolled<ViewParams, State> = {
  lines: ({ state: { content }, width }) => content.kind === "text" ? content.lines(width) : [],
  height: (at) => at.height - (noteOf(at.state) === null ? 0 : 1),
};

/** Shows a text file of a pod; it opens at once and is filled when the text has come. */
export async function openFile(ui: Ui, pod: PodRef, path: Uint8Array, text: FileText | null = null): Promise<void> {
  const screen = ui.open(fileScreen, { pod, path, text });
  if (text === null) await load(ui, { pod, path }, (content) => screen.set((state) => ({ ...state, content })));
}

async function load(
  ui: Ui,
  { pod, path }: Pick<ViewParams, "pod" | "path">,
  show: (content: State["content"]) => void,
): Promise<void> {
  try {
    show(shownAs(await ui.session.call((api, org) => readText(api, org, pod.id, path))));
  } catch (error) {
    const problem = problemOf(error);
    if (problem === null) throw error;
    show({ kind: "problem", problem });
  }
}

/** One text file, to be read. */
export const fileScreen = defineScreen<ViewParams, State>({
  id: "file",
  title: ({ params }) => nameOf(params.path),
  about: "A text file of the pod. Control characters are shown as \\u{…}; long lines are wrapped.",
  init: ({ text }) => ({ content: text === null ? { kind: "loading" } : shownAs(text), from: 0 }),
  actions: [
    scrollAction(TEXT),
    {
      keys: ["e"],
      word: "edit",
      label: "edit",
      about: "edit it in your editor (VISUAL or EDITOR)",
      when: canEdit,
      run: (at) =>
        editFile(at, {
          ...at.params,
          onSaved: (text) => at.set((state) => ({ ...state, content: shownAs(text) })),
          onReadOnly: (text) => at.set((state) => ({ ...state, content: shownAs(text) })),
        }),
    },
    {
      keys: ["d"],
      word: "download",
      label: "download",
      about: "fetch it to this computer",
      when: (at) => at.state.content.kind !== "loading",
      run: (at) => askDownload(at, at.params.pod, at.params.path),
    },
    {
      keys: ["ctrl-r"],
      word: "refresh",
      label: "refresh",
      about: "read it again",
      when: (at) => at.state.content.kind !== "loading",
      run: (at) => {
        at.set({ content: { kind: "loading" } });
        return load(at, at.params, (content) => at.set((state) => ({ ...state, content })));
      },
    },
  ],
  view: (at) => {
    const { content } = at.state;
    if (content.kind === "loading") return [line(span("  Loading …", "dim"))];
    if (content.kind === "problem") {
      const isLarge = content.problem.code === "too_large";
      return [
        BLANK,
        ...problemLines(content.problem, at.width),
        ...(isLarge ? [BLANK, line("  Press d to download it.")] : []),
      ];
    }
    const note = noteOf(at.state);
    const head = note === null ? [] : [line(span(` ${note}`, "warn"))];
    if (content.text.content === "") return [...head, line(span(`  The file is empty (${size(0)}).`, "dim"))];
    return [...head, ...inSight(TEXT, at)];
  },
});
