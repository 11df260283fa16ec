/** Uploads, downloads and archives: the questions before them, and the work in the background. */
import { basename, dirname, join } from "node:path";
import type { FileAnswer } from "../../../client/api.ts";
import { closeOnce, isFolder, lookAt, openForReading } from "../../../client/local_file.ts";
import { inFolder, lastName, shownPath } from "../../../commands/pod_path.ts";
import { openArchive, openResumed, saveAnswer, sendSource, wholeSize } from "../../../commands/transfer.ts";
import { Problem, problemOf } from "../../client/problem.ts";
import type { Session, Work } from "../../client/session.ts";
import type { Amount } from "../../core/samples.ts";
import type { Ui } from "../../core/screen.ts";
import { nameOf, type PodRef, stateAt } from "../../data/files.ts";
import { localNameOf, shownLocal, workingFolder } from "../../data/local_paths.ts";
import { localTime, size } from "../../text/units.ts";
import { confirmScreen } from "../../widgets/confirm.ts";
import { type LocalPathDialog, localPathScreen } from "./local_path.ts";

/** Asks where a file of a pod goes on this computer, and fetches it in the background. */
export function askDownload(ui: Ui, pod: PodRef, path: Uint8Array): void {
  askTarget(ui, {
    title: `Download ${nameOf(path)}`,
    name: localNameOf(lastName(path) ?? new Uint8Array()),
    start: (from, target, force) => startDownload(from, pod, path, target, force),
  });
}

/** Asks where a folder of a pod goes as tar.gz, and fetches it in the background. */
export function askArchive(ui: Ui, pod: PodRef, path: Uint8Array): void {
  const name = lastName(path);
  askTarget(ui, {
    title: `Archive ${nameOf(path)}`,
    name: `${name === null ? "pod" : localNameOf(name)}.tar.gz`,
    start: (from, target, force) => startArchive(from, pod, path, target, force),
  });
}

interface TargetQuestion {
  readonly title: string;
  /** The name it gets unless another one is typed. */
  readonly name: string;
  start(ui: Ui, target: string, force: boolean): unknown;
}

function askTarget(ui: Ui, { title, name, start }: TargetQuestion): void {
  ui.open(localPathScreen, {
    title,
    about: "To which file on this computer?",
    initial: shownLocal(join(workingFolder(ui.env), name), ui.env),
    async onPath(path, dialog) {
      const target = await isFolder(path) ? join(path, name) : path;
      if (!await isFolder(dirname(target))) return `${shownLocal(dirname(target), ui.env)} is not a folder`;
      const there = await lookAt(target);
      if (!dialog.isOpen()) return null;
      if (there === null) return go(dialog, () => start(dialog, target, false));
      if (!there.isFile) return `${shownLocal(target, ui.env)} is there already, and is not a file`;
      const changed = there.mtime === null ? "" : `, changed ${localTime(there.mtime.getTime(), ui.zone, ui.now)}`;
      return askReplace(dialog, {
        what: `${shownLocal(target, ui.env)} is there already (${size(there.size)}${changed}).`,
        start: () => start(dialog, target, true),
      });
    },
  });
}

/** Asks for a file of this computer, and sends it into a folder of a pod in the background. */
export function askUpload(ui: Ui, pod: PodRef, folder: Uint8Array): void {
  ui.open(localPathScreen, {
    title: `Upload to ${nameOf(folder)}`,
    about: "Which file of this computer? Tab completes.",
    initial: shownLocal(join(workingFolder(ui.env), "/"), ui.env),
    async onPath(path, dialog) {
      // Says at once what cannot be read, and that a folder is no file.
      closeOnce((await openForReading(path)).file);
      const target = inFolder(folder, new TextEncoder().encode(basename(path)));
      const there = await dialog.session.call((api, org) => stateAt(api, org, pod.id, target)).catch((error) => {
        if (error instanceof Problem && error.code === "file_not_found") return null;
        throw error;
      });
      if (!dialog.isOpen()) return null;
      const start = (ifMatch?: string) => startUpload(dialog, pod, { path, target, ifMatch });
      if (there === null) return go(dialog, () => start());
      if (there.type === "directory") return `${shownPath(target)} is a folder on the pod`;
      const changed = localTime(there.modified * 1_000, dialog.zone, dialog.now);
      return askReplace(dialog, {
        what: `${shownPath(target)} is on the pod already (${size(there.size)}, changed ${changed}).`,
        start: () => start(there.etag),
      });
    },
  });
}

function go(dialog: LocalPathDialog, start: () => unknown): null {
  dialog.close();
  start();
  return null;
}

/** Before something is written over. The path stays in sight below, for another one when the answer is no. */
function askReplace(dialog: LocalPathDialog, { what, start }: { what: string; start(): unknown }): null {
  dialog.open(confirmScreen, {
    title: "Replace it",
    lines: () => [what, { text: "It is replaced once the other one is there whole.", isWarning: true }],
    yes: "replace it",
    onYes: () => go(dialog, start),
  });
  return null;
}

type Report = (amount: Amount) => void;

function startDownload(ui: Ui, pod: PodRef, path: Uint8Array, target: string, force: boolean): Promise<boolean> {
  const place = shownLocal(target, ui.env);
  return ui.transfers.start({
    title: `Download ${nameOf(path)}`,
    place,
    async work(report, signal) {
      const received = await saved(
        ui.session,
        { target, force, isResumable: true, report, signal },
        (api, org) => openResumed({ api, param: { org, id: pod.id } }, path, target),
      );
      return `${nameOf(path)} is saved as ${place} (${size(received)})`;
    },
  });
}

function startArchive(ui: Ui, pod: PodRef, path: Uint8Array, target: string, force: boolean): Promise<boolean> {
  const place = shownLocal(target, ui.env);
  return ui.transfers.start({
    title: `Archive ${nameOf(path)}`,
    place,
    async work(report, signal) {
      const received = await saved(
        ui.session,
        { target, force, isResumable: false, report, signal },
        (api, org) => openArchive({ api, param: { org, id: pod.id } }, path),
      );
      return `${nameOf(path)} is archived as ${place} (${size(received)})`;
    },
  });
}

interface SaveTask {
  readonly target: string;
  readonly force: boolean;
  readonly isResumable: boolean;
  readonly report: Report;
  readonly signal: AbortSignal;
}

/** Fetches an answer into a local file. When it breaks off, what came is kept where it can be gone on with. */
async function saved(
  session: Session,
  { target, force, isResumable, report, signal }: SaveTask,
  open: (...call: Parameters<Work<unknown>>) => Promise<FileAnswer>,
): Promise<number> {
  let kept = 0;
  try {
    return await toTheEnd(session, signal, async (api, org, stop) => {
      const answer = await open(api, org, stop);
      const total = wholeSize(answer) ?? null;
      report({ done: answer.start, total });
      const saving = saveAnswer(target, answer, {
        force,
        isResumable,
        signal: stop,
        onBytes: (done) => report({ done, total }),
        onKept: (bytes) => void (kept = bytes),
      });
      return await saving.catch((error) => {
        // The server has answered: whether it is gone is for other calls to tell.
        if (problemOf(error)?.kind !== "away") throw error;
        throw new Problem("refused", "The transfer broke off: the pod or the connection went away.");
      });
    });
  } catch (error) {
    const problem = problemOf(error);
    if (problem === null || kept === 0) throw error;
    const more = `${size(kept)} are kept: download it to the same place again for the rest.`;
    throw new Problem(problem.kind, `${problem.sentence.replace(/[^.]$/, "$&.")} ${more}`, problem.facts);
  }
}

function startUpload(
  ui: Ui,
  pod: PodRef,
  { path, target, ifMatch }: { path: string; target: Uint8Array; ifMatch: string | undefined },
): Promise<boolean> {
  const place = `${pod.name}:${shownPath(target)}`;
  return ui.transfers.start({
    title: `Upload ${nameOf(target)}`,
    place,
    async work(report, signal) {
      const sent = await toTheEnd(ui.session, signal, async (api, org, stop) => {
        const { file, size: total } = await openForReading(path);
        report({ done: 0, total });
        try {
          const source = { body: file.readable, size: total, close: () => closeOnce(file) };
          const answer = await sendSource({ api, param: { org, id: pod.id } }, target, source, {
            // What somebody else puts there meanwhile is not written over unasked.
            ...(ifMatch === undefined ? { mustBeNew: true } : { ifMatch }),
            signal: stop,
            onBytes: (done) => report({ done, total }),
          });
          return answer.value.size;
        } finally {
          closeOnce(file);
        }
      });
      return `${nameOf(target)} is on ${pod.name} (${size(sent)})`;
    },
  });
}

/** Makes a call without a deadline, and ends only when its work has: what was given up cleans up first. */
async function toTheEnd<T>(session: Session, signal: AbortSignal, work: Work<T>): Promise<T> {
  let inner: Promise<T> | undefined;
  try {
    return await session.call((...call) => inner = work(...call), { deadlineMs: null, signal });
  } finally {
    // What went wrong in it is what the call threw, or comes of having been given up.
    await inner?.then(() => {}, () => {});
  }
}
