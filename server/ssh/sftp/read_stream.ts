import * as answers from "./answers.ts";
import { SftpError } from "./error.ts";
import { type BlockLimits, ignoreSftpError, type OpenHandle, readFully } from "./files.ts";
import type { ReadStreamOptions } from "./interface.ts";
import { request } from "./packets.ts";
import * as protocol from "./protocol.ts";
import type { Session } from "./session.ts";
import { stallTime, watchStall } from "./stall.ts";

/** Bytes asked for ahead of the reader. A far pod needs more to be kept busy; more than that only fills memory. */
const AHEAD = { least: 1024 * 1024, most: 4 * 1024 * 1024 };
/** What the read-ahead is made for, in bytes per millisecond: its most is enough for a round trip of 80 ms. */
const PACE = 50_000;

function aheadFor(roundTripMs: number): number {
  return Math.min(Math.max(roundTripMs * PACE, AHEAD.least), AHEAD.most);
}

/** Streams an open file, see `Sftp.readStream`. `open` is called at the first pull. */
export function readStream(
  session: Session,
  limits: BlockLimits,
  open: () => Promise<OpenHandle>,
  options: ReadStreamOptions = {},
): ReadableStream<Uint8Array> {
  const { start = 0, end = Infinity, signal } = options;
  const blocks: { readonly length: number; readonly bytes: Promise<Uint8Array> }[] = [];
  const block = Math.min(limits.read, protocol.MAX_BLOCK);
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let handle: OpenHandle | undefined;
  let next = start;
  // Where the end is not known, asking far beyond it would be in vain.
  let ahead = end === Infinity ? 2 * block : AHEAD.least;
  let firstAsked: number | undefined;
  let most: number | undefined;
  let over = false;

  const finish = () => {
    over = true;
    stall.stop();
    signal?.removeEventListener("abort", giveUp);
    blocks.length = 0;
    handle?.drop();
  };
  const fail = (error: unknown) => {
    if (over) return;
    finish();
    controller.error(error);
  };
  const giveUp = () => fail(signal?.reason);
  const stall = watchStall(stallTime(options), (error) => {
    fail(error);
    session.overdue();
  });

  const part = (bytes: Uint8Array) => (offset: number, length: number) =>
    session.send(request(protocol.READ, bytes, BigInt(offset), length), (answer) => answers.data(answer, length));

  const askAhead = ({ bytes: name }: OpenHandle) => {
    while (blocks.length * block < ahead && next < end) {
      const length = Math.min(block, end - next);
      const bytes = readFully(part(name), next, length, block);
      // Blocks behind one that failed are not looked at.
      bytes.catch(ignoreSftpError);
      blocks.push({ length, bytes });
      next += length;
    }
  };

  const pull = async () => {
    if (!handle) {
      const opened = await open();
      if (over) return opened.drop();
      handle = opened;
    }
    firstAsked ??= performance.now();
    askAhead(handle);
    const first = blocks.shift();
    if (!first) return close();
    stall.waiting();
    const bytes = await first.bytes;
    stall.stop();
    if (over) return;
    const whole = bytes.length === first.length;
    if (!whole && end !== Infinity) {
      return fail(new SftpError("changed", "The file is shorter than it was when the transfer began"));
    }
    most ??= aheadFor(performance.now() - firstAsked);
    ahead = Math.min(2 * ahead, most);
    if (whole) askAhead(handle);
    if (bytes.length > 0) controller.enqueue(bytes);
    if (!whole || (blocks.length === 0 && next >= end)) close();
  };
  const close = () => {
    finish();
    controller.close();
  };

  return new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
      if (signal?.aborted) giveUp();
      else signal?.addEventListener("abort", giveUp, { once: true });
    },
    pull: () => pull().catch(fail),
    cancel: finish,
  }, { highWaterMark: 0 });
}
