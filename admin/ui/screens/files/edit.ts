/** Editing a file of a pod in the officer's own editor. */
import { lastName } from "../../../commands/pod_path.ts";
import { type Problem, problemOf } from "../../client/problem.ts";
import { ACTION_MS } from "../../client/session.ts";
import { isOpen } from "../../core/is_open.ts";
import type { At, Ui } from "../../core/screen.ts";
import { nameOf, type PodRef } from "../../data/files.ts";
import { wrap } from "../../text/cells.ts";
import { line } from "../../text/line.ts";
import { size } from "../../text/units.ts";
import { confirmScreen } from "../../widgets/confirm.ts";
import { pagerScreen } from "../../widgets/pager.ts";
import { createLocalText, editorOf, type LocalText, readLocalText, runEditor } from "./local_text.ts";
import { askDownload } from "./moving.ts";
import { type FileText, readText, writeText } from "./text.ts";

/** What is edited, and what is done with the text that was saved or that can only be read. */
export interface EditTask {
  readonly pod: PodRef;
  readonly path: Uint8Array;
  onSaved?(text: FileText): void;
  /** The text has bytes that are no UTF-8, so it is not edited. */
  onReadOnly(text: FileText): void;
}

/** Reads a file, gives it to the editor, and saves what came of it unless the file was changed on the pod meanwhile. */
export async function editFile<P, S>(ui: At<P, S>, task: EditTask): Promise<void> {
  const { pod, path } = task;
  const name = nameOf(path);
  const text = await openText(ui, pod, path);
  if (text === null || !isOpen(ui)) return;
  if (text.etag === null) {
    ui.say(`${name} is not UTF-8 text, so it can only be read`, "warn");
    return task.onReadOnly(text);
  }
  const local = await createLocalText(lastName(path) ?? new Uint8Array(), text.content);
  let exitCode = 0;
  await ui.suspend(async () => {
    exitCode = await runEditor(editorOf(ui.env), local.path);
  });
  const edited = await readLocalText(local.path, text.content);
  if (edited === undefined || edited.isSame) {
    await local.remove();
    if (exitCode !== 0) return ui.say(`The editor ended with ${exitCode}; nothing was sent. ${EDITOR_HINT}`, "bad");
    return ui.say(edited === undefined ? "The editor removed the text; nothing was sent" : `${name} is as it was`);
  }
  if (exitCode !== 0) return tellKept(ui, name, local, `The editor ended with ${exitCode}, so nothing was sent.`);
  if (edited.text === null) return tellKept(ui, name, local, "What was edited is not UTF-8 text.");
  if (edited.text === "") {
    await local.remove();
    return askEmpty(ui, task, text);
  }
  await save(ui, task, local, { content: edited.text, etag: text.etag });
}

/** An editor that could not write, on a full disk say, leaves an empty file as well. */
function askEmpty(ui: Ui, task: EditTask, text: FileText): void {
  const name = nameOf(task.path);
  const bytes = new TextEncoder().encode(text.content).length;
  ui.open(confirmScreen, {
    title: `Empty ${name}`,
    lines:
      () => [{ text: `The editor left nothing. Saving that loses the ${size(bytes)} on the pod.`, isWarning: true }],
    yes: "save it empty",
    onYes: async (at) => {
      const local = await createLocalText(lastName(task.path) ?? new Uint8Array(), "");
      await save(at, task, local, { content: "", etag: text.etag });
    },
  });
}

const EDITOR_HINT = "It is the one that VISUAL or EDITOR names, else vi.";
const notSaved = (name: string) => `${name} is not saved`;
const keptText = (local: LocalText) => `Your text is kept in ${local.path}`;

/** A page of its own: the path must be seen whole, and longer than a message stands. */
function tellKept(ui: Ui, name: string, local: LocalText, sentence: string): void {
  ui.open(pagerScreen, {
    title: notSaved(name),
    lines: (width) =>
      [`! ${sentence}`, "", keptText(local)].flatMap((text) =>
        wrap(text, Math.max(1, width - 2)).map((part) => line(` ${part}`))
      ),
  });
}

/** Reads a text; a file that is too large is offered for download. Null when there is nothing to show. */
async function openText(ui: Ui, pod: PodRef, path: Uint8Array): Promise<FileText | null> {
  const result = await ui.call(`Open ${nameOf(path)}`, (api, org) =>
    readText(api, org, pod.id, path).catch((error) => {
      const problem = problemOf(error);
      if (problem?.code !== "too_large") throw error;
      return problem;
    }));
  if (result === null || "content" in result) return result;
  offerDownload(ui, pod, path, result.sentence);
  return null;
}

/** A file that is too large to be read as text can be downloaded. */
export function offerDownload(ui: Ui, pod: PodRef, path: Uint8Array, sentence: string): void {
  ui.open(confirmScreen, {
    title: nameOf(path),
    lines: () => [sentence],
    yes: "download it",
    onYes: (at) => askDownload(at, pod, path),
  });
}

/** Saves an edited text. While that cannot be done the text stays in its file on this computer, and that is said. */
async function save(ui: Ui, task: EditTask, local: LocalText, text: FileText): Promise<void> {
  const { pod, path, onSaved } = task;
  const name = nameOf(path);
  try {
    const etag = await ui.calls.make(
      `Save ${name}`,
      (api, org) => writeText(api, org, pod.id, path, { content: text.content, ifMatch: text.etag }),
      { deadlineMs: ACTION_MS },
    );
    await local.remove();
    ui.say(`${name} is saved`);
    onSaved?.({ content: text.content, etag });
  } catch (error) {
    const problem = problemOf(error);
    if (problem === null) throw error;
    askAgain(ui, task, local, text, problem);
  } finally {
    ui.refresh();
  }
}

function askAgain(ui: Ui, task: EditTask, local: LocalText, text: FileText, problem: Problem): void {
  const sentence = [problem.sentence, ...problem.notes].join(" ");
  // The sign-in comes up below this; then the file can be sent as any other.
  if (problem.kind === "signed_out") return tellKept(ui, nameOf(task.path), local, sentence);
  const isChanged = problem.code === "changed_meanwhile";
  ui.open(confirmScreen, {
    title: notSaved(nameOf(task.path)),
    lines: () => [
      { text: sentence, isWarning: true },
      keptText(local),
      ...(isChanged ? ["Replacing it loses what was changed on the pod meanwhile."] : []),
    ],
    yes: isChanged ? "replace it with your text" : "try again",
    onYes: (at) => save(at, task, local, isChanged ? { ...text, etag: null } : text),
  });
}
