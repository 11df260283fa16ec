import { basename } from "node:path";
import { AppError } from "../../server/errors.ts";
import { read } from "../client/api.ts";
import { Refusal } from "../client/refusal.ts";
import { type FileFlags, type PodFiles, stateOf, withPod } from "./file.ts";
import { openForReading } from "./local_file.ts";
import { inFolder, pathFields, podPath, shownPath } from "./pod_path.ts";
import { createProgress, type Progress, size } from "./progress.ts";
import type { Shell } from "./shell.ts";

/** Standard input in the place of a file. */
const STDIN = "-";
const DEFAULT_FOLDER = "/workspace";

/** What is sent, and how much it has to be; the size of standard input is not known. */
interface Source {
  readonly body: ReadableStream<Uint8Array>;
  readonly size?: number;
  close(): void;
}

/** `orgpods file put`: prints the path on the pod. */
export async function putFile(
  shell: Shell,
  id: string,
  file: string,
  word: string | undefined,
  flags: FileFlags,
): Promise<void> {
  if (file === STDIN && word === undefined) {
    throw new AppError("usage", "Name the path on the pod for what comes from standard input");
  }
  const given = word === undefined ? podPath(DEFAULT_FOLDER, false) : podPath(word, flags.b64 === true);
  const source = await sourceOf(shell, file);
  try {
    await withPod(shell, id, async (pod) => {
      const path = await targetOf(pod, given, file);
      const answer = await upload(shell, pod, path, source);
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

/** The end of its stream closes a file as well. */
function closeOnce(file: Deno.FsFile): void {
  try {
    file.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
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

async function upload({ stdio, say }: Shell, { api, param }: PodFiles, path: Uint8Array, source: Source) {
  const progress = createProgress({
    write: stdio.err,
    isTerminal: stdio.errIsTerminal,
    now: () => performance.now(),
    ...(source.size === undefined ? {} : { total: source.size }),
  });
  const counted = countedBody(source, progress);
  try {
    const answer = await read(api.org.pods[":id"].files.upload.$put({ param, query: pathFields(path) }, {
      headers: {
        "content-type": "application/octet-stream",
        ...(source.size === undefined ? {} : { "content-length": String(source.size) }),
      },
      init: { body: counted.body },
    }));
    await progress.end();
    await say(`${size(counted.sent)} sent.`);
    return answer;
  } catch (error) {
    await progress.end();
    // What went wrong on this side explains what the other side said.
    throw counted.failure ?? error;
  }
}

/** The source, counted; it fails when it is longer or shorter than it was said to be. */
function countedBody(source: Source, progress: Progress) {
  const reader = source.body.getReader();
  const state = { sent: 0, failure: undefined as unknown };
  const next = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { value, done } = await reader.read();
    state.sent += value?.length ?? 0;
    const isWrong = source.size !== undefined && (done ? state.sent !== source.size : state.sent > source.size);
    if (isWrong) throw new AppError("changed_meanwhile", "The local file changed while it was sent");
    if (done) return controller.close();
    progress.add(value.length);
    controller.enqueue(value);
  };
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) =>
      next(controller).catch((error) => {
        state.failure = error;
        controller.error(error);
      }),
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  return {
    body,
    get sent() {
      return state.sent;
    },
    get failure() {
      return state.failure;
    },
  };
}
