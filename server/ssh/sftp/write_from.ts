import { orAborted } from "../deadline.ts";
import * as answers from "./answers.ts";
import { SftpError } from "./error.ts";
import type { BlockLimits, OpenHandle } from "./files.ts";
import type { SftpFile, WriteOptions } from "./interface.ts";
import { type WriteBlock, writeBlock } from "./packets.ts";
import type { Session } from "./session.ts";
import { callOptions, stallTime, watchStall } from "./stall.ts";

/** Bytes sent ahead of the pod's acknowledgements: twice the usual channel window of 2 MiB. */
const AHEAD = 4 * 1024 * 1024;

export interface WriteTarget {
  readonly file: SftpFile;
  readonly handle: OpenHandle;
}

/** Writes a stream into an open file, see `Sftp.writeFrom`. */
export async function writeFrom(
  session: Session,
  limits: BlockLimits,
  open: () => Promise<WriteTarget>,
  source: ReadableStream<Uint8Array>,
  options: WriteOptions = {},
): Promise<number> {
  const reader = source.getReader();
  let target: WriteTarget | undefined;
  try {
    options.signal?.throwIfAborted();
    target = await open();
    const length = await sendAll(session, limits, target.handle.bytes, reader, options);
    await finish(target.file, length, options);
    return length;
  } catch (error) {
    target?.handle.drop();
    // The source's end is its own business; it may have failed already, which is why we are here.
    reader.cancel(error).catch(() => {});
    throw error;
  } finally {
    reader.releaseLock();
  }
}

/** Sends the source block by block and waits until all are acknowledged. Returns the source's length. */
async function sendAll(
  session: Session,
  limits: BlockLimits,
  handle: Uint8Array,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  options: WriteOptions,
): Promise<number> {
  const { signal, size, maxBytes = Infinity, onProgress } = options;
  const stop = new AbortController();
  const giveUp = () => stop.abort(signal?.reason);
  signal?.addEventListener("abort", giveUp, { once: true });
  const stall = watchStall(stallTime(options), (error) => {
    stop.abort(error);
    session.overdue();
  });

  let read = 0;
  let acknowledged = 0;
  let onWay = 0;
  let moved = Promise.withResolvers<void>();
  const send = (block: WriteBlock) => {
    const { length } = block;
    if (onWay === 0) stall.waiting();
    onWay += length;
    session.send(block.packet(), answers.done).then(() => {
      onWay -= length;
      acknowledged += length;
      if (onWay === 0 || stop.signal.aborted) stall.stop();
      else stall.waiting();
      if (!stop.signal.aborted) onProgress?.(acknowledged);
      moved.resolve();
      moved = Promise.withResolvers();
    }).catch((error) => stop.abort(error));
  };
  const untilOnWay = async (most: number) => {
    while (onWay > most) await orAborted(moved.promise, stop.signal);
  };

  try {
    let sent = 0;
    let block: WriteBlock | undefined;
    for (;;) {
      const { value, done } = await orAborted(reader.read(), stop.signal);
      if (done) break;
      read += value.length;
      if (read > maxBytes) throw new SftpError("too_large", `The content has more than ${maxBytes} bytes`);
      for (let at = 0; at < value.length;) {
        block ??= writeBlock(handle, sent, limits.write);
        at += block.add(value.subarray(at));
        if (!block.full) continue;
        await untilOnWay(AHEAD - block.length);
        sent += block.length;
        send(block);
        block = undefined;
      }
    }
    if (size !== undefined && read !== size) {
      throw new SftpError("changed", `The content has ${read} bytes instead of ${size}`);
    }
    if (block) send(block);
    await untilOnWay(0);
    return read;
  } finally {
    stall.stop();
    signal?.removeEventListener("abort", giveUp);
  }
}

/** Compares the size on the pod and closes; both at once, for the round trip's sake. */
async function finish(file: SftpFile, length: number, transfer: WriteOptions): Promise<void> {
  const options = callOptions(transfer);
  if (transfer.sync) {
    await file.sync(options).catch((error) => {
      if (!(error instanceof SftpError && error.kind === "unsupported")) throw error;
    });
  }
  const [{ size }] = await Promise.all([file.stat(options), file.close(options)]);
  if (size === length) return;
  throw new SftpError("changed", `The file on the pod has ${size} bytes after ${length} were written`);
}
