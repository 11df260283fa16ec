import { basename, join } from "node:path";
import { AppError } from "../../server/errors.ts";
import type { FileAnswer } from "../client/api.ts";
import { type FileFlags, withPod } from "./file.ts";
import { isFolder, refuseExisting } from "../client/local_file.ts";
import { lastName, podPath, textOf } from "./pod_path.ts";
import { createProgress, size } from "./progress.ts";
import type { Shell } from "./shell.ts";
import { printText } from "./terminal_text.ts";
import { plain } from "./text.ts";
import { openArchive, openDownload, openResumed, passOn, saveAnswer, wholeSize } from "./transfer.ts";

export interface GetFlags extends FileFlags {
  readonly force?: boolean;
  readonly continue?: boolean;
}

/** Standard output in the place of a file. */
const STDOUT = "-";

/** `orgpods file get`: prints the name of the local file. */
export async function getFile(
  shell: Shell,
  id: string,
  word: string,
  file: string | undefined,
  flags: GetFlags,
): Promise<void> {
  const path = podPath(word, flags.b64 === true);
  if (file === STDOUT) {
    if (flags.continue) throw new AppError("usage", "--continue needs a local file");
    return await withPod(shell, id, async (pod) => await toStdout(shell, await openDownload(pod, path)));
  }
  const target = await localTarget(path, file);
  await refuseExisting(target, flags.force === true);
  await withPod(shell, id, async (pod) => {
    const answer = flags.continue ? await openResumed(pod, path, target) : await openDownload(pod, path);
    await save(shell, target, answer, { force: flags.force === true, resumable: true });
  });
}

/** Where a file goes: as named, into the folder named, or under its own name into the working directory. */
async function localTarget(path: Uint8Array, file: string | undefined): Promise<string> {
  const folder = file === undefined ? "." : await isFolder(file) ? file : null;
  if (folder === null) return file!;
  const name = textOf(lastName(path) ?? new Uint8Array());
  if (!name || basename(name) !== name) {
    throw new AppError("usage", "Name the local file: the pod's name cannot be one");
  }
  return join(folder, name);
}

/** Writes an answer to a file that appears when it is whole. */
async function save(
  shell: Shell,
  target: string,
  answer: FileAnswer,
  { force, resumable }: { readonly force: boolean; readonly resumable: boolean },
): Promise<void> {
  const { errIsTerminal } = shell.stdio;
  const received = await withProgress(shell, answer, errIsTerminal, (onBytes) =>
    saveAnswer(target, answer, {
      force,
      isResumable: resumable,
      onBytes,
      onKept: (bytes) => shell.say(`${size(bytes)} are kept; get the rest with --continue.`),
    }));
  await shell.say(`${size(received)} saved.`);
  await shell.print(shell.options.json ? JSON.stringify({ file: target, size: received }) : plain(target));
}

async function toStdout(shell: Shell, answer: FileAnswer): Promise<void> {
  const { outBytes, errIsTerminal, outIsTerminal } = shell.stdio;
  let received = answer.start;
  await withProgress(shell, answer, errIsTerminal && !outIsTerminal, (onBytes) =>
    passOn(answer, async (bytes) => {
      const isWanted = await outBytes(bytes);
      received += bytes.length;
      onBytes(received);
      return isWanted;
    }));
}

/** Shows how far an answer is, by all bytes that `onBytes` is told. */
async function withProgress<T>(
  shell: Shell,
  answer: FileAnswer,
  isShown: boolean,
  work: (onBytes: (received: number) => void) => Promise<T>,
): Promise<T> {
  const total = wholeSize(answer);
  const progress = createProgress({
    write: shell.stdio.err,
    isTerminal: isShown,
    now: () => performance.now(),
    done: answer.start,
    ...(total === undefined ? {} : { total }),
  });
  let before = answer.start;
  try {
    return await work((received) => {
      progress.add(received - before);
      before = received;
    });
  } finally {
    await progress.end();
  }
}

/** `orgpods file cat` */
export async function catFile(
  shell: Shell,
  id: string,
  word: string,
  flags: FileFlags & { readonly force?: boolean },
): Promise<void> {
  const path = podPath(word, flags.b64 === true);
  await withPod(shell, id, async (pod) => {
    const answer = await openDownload(pod, path);
    if (!shell.stdio.outIsTerminal || flags.force) return await toStdout(shell, answer);
    await printText(shell.stdio, answer.body);
  });
}

/** `orgpods file archive`: a folder as tar.gz, to a file or to a program. */
export async function archiveFolder(
  shell: Shell,
  id: string,
  word: string,
  file: string | undefined,
  flags: FileFlags & { readonly force?: boolean },
): Promise<void> {
  const path = podPath(word, flags.b64 === true);
  const isPiped = file === undefined || file === STDOUT;
  if (isPiped && shell.stdio.outIsTerminal) {
    throw new AppError("usage", "An archive is nothing for a terminal: name a file, or send it on to a program");
  }
  if (!isPiped) await refuseExisting(file, flags.force === true);
  await withPod(shell, id, async (pod) => {
    const answer = await openArchive(pod, path);
    if (isPiped) await toStdout(shell, answer);
    else await save(shell, file, answer, { force: flags.force === true, resumable: false });
  });
}
