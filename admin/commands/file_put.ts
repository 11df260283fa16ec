import { basename } from "node:path";
import { AppError } from "../../server/errors.ts";
import { Refusal } from "../client/refusal.ts";
import { type FileFlags, type PodFiles, stateOf, withPod } from "./file.ts";
import { closeOnce, openForReading } from "../client/local_file.ts";
import { inFolder, podPath, shownPath } from "./pod_path.ts";
import { createProgress, size } from "./progress.ts";
import type { Shell } from "./shell.ts";
import { sendSource, type Source } from "./transfer.ts";

/** Standard input in the place of a file. */
const STDIN = "-";
const DEFAULT_FOLDER = "/workspace";

export interface PutFlags extends FileFlags {
  /** The ETag of what is written over, as `file stat` shows it: refused when it was changed meanwhile. */
  readonly ifMatch?: string;
  /** Refused when there is something at the path. */
  readonly new?: boolean;
}

/** `orgpods file put`: prints the path on the pod. */
export async function putFile(
  shell: Shell,
  id: string,
  file: string,
  word: string | undefined,
  flags: PutFlags,
): Promise<void> {
  if (file === STDIN && word === undefined) {
    throw new AppError("usage", "Name the path on the pod for what comes from standard input");
  }
  const given = word === undefined ? podPath(DEFAULT_FOLDER, false) : podPath(word, flags.b64 === true);
  const source = await sourceOf(shell, file);
  try {
    await withPod(shell, id, async (pod) => {
      const path = await targetOf(pod, given, file);
      const answer = await upload(shell, pod, path, source, flags);
      await shell.result(answer, () => shownPath(path));
    });
  } finally {
    source.close();
  }
}

async function sourceOf(shell: Shell, file: string): Promise<Source> {
  if (file === STDIN) return { body: shell.stdio.input(), close: () => {} };
  const { file: opened, size } = await openForReading(file);
  return { body: opened.readable, size, close: () => closeOnce(opened) };
}

/** A folder that is there takes the file under its own name. */
async function targetOf(pod: PodFiles, path: Uint8Array, file: string): Promise<Uint8Array> {
  try {
    const { type } = (await stateOf(pod, path)).value;
    if (type !== "directory") return path;
  } catch (error) {
    if (error instanceof Refusal && error.code === "file_not_found") return path;
    throw error;
  }
  if (file === STDIN) {
    throw new AppError("usage", `${shownPath(path)} is a folder: name the file in it`);
  }
  return inFolder(path, new TextEncoder().encode(basename(file)));
}

async function upload(
  { stdio, say }: Shell,
  pod: PodFiles,
  path: Uint8Array,
  source: Source,
  flags: PutFlags,
) {
  const progress = createProgress({
    write: stdio.err,
    isTerminal: stdio.errIsTerminal,
    now: () => performance.now(),
    ...(source.size === undefined ? {} : { total: source.size }),
  });
  let sent = 0;
  const onBytes = (bytes: number) => {
    progress.add(bytes - sent);
    sent = bytes;
  };
  const answer = await sendSource(pod, path, source, {
    onBytes,
    mustBeNew: flags.new === true,
    ...(flags.ifMatch === undefined ? {} : { ifMatch: flags.ifMatch }),
  }).finally(() => progress.end());
  await say(`${size(sent)} sent.`);
  return answer;
}
