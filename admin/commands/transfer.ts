/** Bytes of files between a pod and this machine; the commands and the screens of the admin share it. */
import { AppError, shown } from "../../server/errors.ts";
import { type FileAnswer, read, readFile } from "../client/api.ts";
import { Refusal } from "../client/refusal.ts";
import type { PodFiles } from "./file.ts";
import { createPartialFile, partialSize } from "./partial_file.ts";
import { pathFields } from "./pod_path.ts";

/** A file of a pod, from its beginning or for a range. Throws `Refusal`. */
export function openDownload({ api, param }: PodFiles, path: Uint8Array, headers: Record<string, string> = {}) {
  return readFile(api.org.pods[":id"].files.download.$get({ param, query: pathFields(path) }, { headers }));
}

/** The rest of the file when an earlier try left the beginning of the same version, else all of it. Throws `Refusal`. */
export async function openResumed(pod: PodFiles, path: Uint8Array, target: string): Promise<FileAnswer> {
  const whole = await openDownload(pod, path);
  const { etag } = whole;
  const have = etag === undefined ? 0 : await partialSize(target, etag);
  if (etag === undefined || have === 0 || whole.size === undefined || have > whole.size) return whole;
  await whole.body.cancel();
  if (have === whole.size) return { etag, body: new Blob([]).stream(), size: 0, start: have };
  return await openDownload(pod, path, { range: `bytes=${have}-`, "if-range": etag });
}

/** A folder of a pod as tar.gz. Throws `Refusal`. */
export function openArchive({ api, param }: PodFiles, path: Uint8Array): Promise<FileAnswer> {
  return readFile(api.org.pods[":id"].files.archive.$post({ param, json: pathFields(path) }));
}

/** All bytes of the file that an answer is (the rest) of, where they are known. */
export function wholeSize({ size, start }: FileAnswer): number | undefined {
  return size === undefined ? undefined : start + size;
}

/**
 * Hands the body of an answer on part by part, until `take` says that nobody wants more. Throws `Refusal` when it is cut
 * short, and the reason of the signal.
 */
export async function passOn(
  answer: FileAnswer,
  take: (bytes: Uint8Array) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<void> {
  const total = wholeSize(answer);
  let received = answer.start;
  for await (const bytes of partsOf(answer.body, signal)) {
    // More than was said may have no end.
    if (total !== undefined && received + bytes.length > total) {
      throw new Refusal(`The transfer did not end after its ${total} bytes`, 6);
    }
    if (!await take(bytes)) return;
    received += bytes.length;
  }
  if (total !== undefined && received !== total) {
    throw new Refusal(`The transfer ended after ${received} of ${total} bytes`, 6);
  }
}

/** The parts of a body. It ends at once when it is given up, also while nothing comes. */
async function* partsOf(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  // That it cannot be ended in peace does not matter any more.
  const end = () => reader.cancel().catch(() => {});
  signal?.addEventListener("abort", end);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { value, done } = await reader.read();
      signal?.throwIfAborted();
      if (done) return;
      yield value;
    }
  } catch (error) {
    signal?.throwIfAborted();
    // Without a server in between, what broke is told as the server's own parts know it.
    if (error instanceof Refusal) throw error;
    throw new Refusal("The transfer broke off before it was complete", 6);
  } finally {
    signal?.removeEventListener("abort", end);
    await end();
  }
}

export interface SaveOptions {
  /** Replaces a file of that name. */
  readonly force: boolean;
  /** Keeps what came for another try when it breaks off; nothing is kept when it was given up. */
  readonly isResumable: boolean;
  /** Called with all bytes that are there now. */
  onBytes(received: number): void;
  /** Called before the error is thrown, when bytes are kept. */
  onKept(bytes: number): Promise<void> | void;
  readonly signal?: AbortSignal;
}

/** Writes an answer to a local file that appears when it is whole; gives its size. Throws `AppError` and `Refusal`. */
export async function saveAnswer(target: string, answer: FileAnswer, options: SaveOptions): Promise<number> {
  const { force, isResumable, onBytes, onKept, signal } = options;
  const file = await createPartialFile(target, {
    force,
    resume: answer.start > 0,
    version: isResumable ? answer.etag : undefined,
    size: wholeSize(answer),
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
    await passOn(answer, async (bytes) => {
      await file.write(bytes);
      received += bytes.length;
      onBytes(received);
      return true;
    }, signal);
    await file.finish();
  } catch (error) {
    const kept = await file.giveUp(signal?.aborted !== true);
    if (kept > 0) await onKept(kept);
    throw error;
  }
  return received;
}

/** What is sent, and how much it has to be, where that is known. */
export interface Source {
  readonly body: ReadableStream<Uint8Array>;
  readonly size?: number;
  close(): void;
}

export interface SendOptions {
  /** The ETag of what is to be replaced. */
  readonly ifMatch?: string;
  /** Nothing is replaced. */
  readonly mustBeNew?: boolean;
  /** Called with all bytes that are sent now. */
  onBytes(sent: number): void;
  readonly signal?: AbortSignal;
}

export type Sent = Awaited<ReturnType<typeof put>>;

/** Sends a source into the file at `path`; gives the answer. Throws `AppError` and `Refusal`. */
export async function sendSource(pod: PodFiles, path: Uint8Array, source: Source, options: SendOptions): Promise<Sent> {
  const counted = countedBody(source, options);
  try {
    return await put(pod, path, source.size, counted.body, options);
  } catch (error) {
    // What went wrong on this side explains what the other side said.
    throw counted.failure ?? error;
  }
}

function put(
  { api, param }: PodFiles,
  path: Uint8Array,
  size: number | undefined,
  body: ReadableStream<Uint8Array>,
  { ifMatch, mustBeNew = false }: SendOptions,
) {
  const query = {
    ...pathFields(path),
    ...(ifMatch === undefined ? {} : { if_match: ifMatch }),
    ...(mustBeNew ? { must_be_new: "true" as const } : {}),
  };
  return read(api.org.pods[":id"].files.upload.$put({ param, query }, {
    headers: {
      "content-type": "application/octet-stream",
      ...(size === undefined ? {} : { "content-length": String(size) }),
    },
    init: { body },
  }));
}

/** The source, counted; it fails when it is longer or shorter than it was said to be, and when it is given up. */
function countedBody(source: Source, { onBytes, signal }: SendOptions) {
  const reader = source.body.getReader();
  const state = { sent: 0, isRefused: false, failure: undefined as unknown };
  const next = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    signal?.throwIfAborted();
    const { value, done } = await reader.read();
    if (state.isRefused) return;
    state.sent += value?.length ?? 0;
    const isWrong = source.size !== undefined && (done ? state.sent !== source.size : state.sent > source.size);
    if (isWrong) throw new AppError("changed_meanwhile", "The local file changed while it was sent");
    if (done) return controller.close();
    onBytes(state.sent);
    controller.enqueue(value);
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      signal?.addEventListener("abort", () => controller.error(signal.reason), { once: true });
    },
    pull: (controller) =>
      next(controller).catch((error) => {
        state.failure = error;
        controller.error(error);
      }),
    cancel(reason) {
      // The rest is not wanted, which ends the source as well: that it is short then says nothing.
      state.isRefused = true;
      return reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return {
    body,
    get failure() {
      return state.failure;
    },
  };
}
