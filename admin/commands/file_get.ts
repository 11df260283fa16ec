import { basename, join } from "node:path";
import { AppError, shown } from "../../server/errors.ts";
import { type FileAnswer, readFile } from "../client/api.ts";
import { Refusal } from "../client/refusal.ts";
import { type FileFlags, type PodFiles, withPod } from "./file.ts";
import { isFolder, refuseExisting } from "./local_file.ts";
import { createPartialFile, partialSize } from "./partial_file.ts";
import { lastName, pathFields, podPath, textOf } from "./pod_path.ts";
import { createProgress, size } from "./progress.ts";
import type { Shell } from "./shell.ts";
import { printText } from "./terminal_text.ts";
import { plain } from "./text.ts";

export interface GetFlags extends FileFlags {
  readonly force?: boolean;
  readonly continue?: boolean;
}

/** Standard output in the place of a file. */
const STDOUT = "-";

function download({ api, param }: PodFiles, path: Uint8Array, headers: Record<string, string> = {}) {
  return readFile(api.org.pods[":id"].files.download.$get({ param, query: pathFields(path) }, { headers }));
}

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
    return await withPod(shell, id, async (pod) => await toStdout(shell, await download(pod, path)));
  }
  const target = await localTarget(path, file);
  await refuseExisting(target, flags.force === true);
  await withPod(shell, id, async (pod) => {
    const answer = flags.continue ? await resumed(pod, path, target) : await download(pod, path);
    await save(shell, target, answer, { force: flags.force === true, resumable: true });
  });
}

/** The rest of the file when an earlier try left the beginning of the same version, else all of it. */
async function resumed(pod: PodFiles, path: Uint8Array, target: string): Promise<FileAnswer> {
  const whole = await download(pod, path);
  const { etag } = whole;
  const have = etag === undefined ? 0 : await partialSize(target, etag);
  if (etag === undefined || have === 0 || whole.size === undefined || have > whole.size) return whole;
  await whole.body.cancel();
  if (have === whole.size) return { etag, body: new Blob([]).stream(), size: 0, start: have };
  return await download(pod, path, { range: `bytes=${have}-`, "if-range": etag });
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
  const file = await createPartialFile(target, {
    force,
    resume: answer.start > 0,
    version: resumable ? answer.etag : undefined,
    size: answer.size === undefined ? undefined : answer.start + answer.size,
  }).catch(async (error) => {
    await answer.body.cancel();
    throw error;
  });
  let received = file.start;
  try {
    if (file.start !== answer.start) {
      await answer.body.cancel();
      throw new AppError("conflict", `Another command is fetching ${shown(target)} at the same time`);
    }
    await pass(shell, answer, shell.stdio.errIsTerminal, async (bytes) => {
      await file.write(bytes);
      received += bytes.length;
      return true;
    });
    await file.finish();
  } catch (error) {
    const kept = await file.giveUp();
    if (kept > 0) await shell.say(`${size(kept)} are kept; get the rest with --continue.`);
    throw error;
  }
  await shell.say(`${size(received)} saved.`);
  await shell.print(shell.options.json ? JSON.stringify({ file: target, size: received }) : plain(target));
}

async function toStdout(shell: Shell, answer: FileAnswer): Promise<void> {
  const { outBytes, errIsTerminal, outIsTerminal } = shell.stdio;
  await pass(shell, answer, errIsTerminal && !outIsTerminal, outBytes);
}

/** Hands the body on part by part, until `take` says that nobody wants more. Throws `Refusal` when it is cut short. */
async function pass(
  shell: Shell,
  answer: FileAnswer,
  showsProgress: boolean,
  take: (bytes: Uint8Array) => Promise<boolean>,
): Promise<void> {
  const total = answer.size === undefined ? undefined : answer.start + answer.size;
  const progress = createProgress({
    write: shell.stdio.err,
    isTerminal: showsProgress,
    now: () => performance.now(),
    done: answer.start,
    ...(total === undefined ? {} : { total }),
  });
  let received = answer.start;
  try {
    for await (const bytes of answer.body) {
      if (!await take(bytes)) return;
      received += bytes.length;
      progress.add(bytes.length);
    }
  } finally {
    await progress.end();
  }
  if (total !== undefined && received !== total) {
    throw new Refusal(`The transfer ended after ${received} of ${total} bytes`, 6);
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
    const answer = await download(pod, path);
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
  await withPod(shell, id, async ({ api, param }) => {
    const answer = await readFile(api.org.pods[":id"].files.archive.$post({ param, json: pathFields(path) }));
    if (isPiped) await toStdout(shell, answer);
    else await save(shell, file, answer, { force: flags.force === true, resumable: false });
  });
}
