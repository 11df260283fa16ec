import { clearTimeout, setTimeout } from "node:timers";

/** A limit for the time in which nothing moves. */
export interface Patience {
  /** The other side is waited for from now on. */
  start(): void;
  /** Nobody is waited for. */
  stop(): void;
  /** Nobody will be waited for any more. */
  end(): void;
  /** True once the time was over. */
  readonly isOver: boolean;
}

/** Calls `giveUp` when the other side was waited for longer than `ms` at a stretch. */
export function createPatience(ms: number, giveUp: () => void): Patience {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  let hasEnded = false;
  const stop = () => clearTimeout(timer);
  return {
    start() {
      stop();
      if (hasEnded) return;
      timer = setTimeout(() => {
        isOver = true;
        giveUp();
      }, ms);
    },
    stop,
    end() {
      hasEnded = true;
      stop();
    },
    get isOver() {
      return isOver;
    },
  };
}

/** What is sent: while the source is waited for the other side is not, and after its end the answer is. */
export function sentBody(source: ReadableStream<Uint8Array>, patience: Patience): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      patience.stop();
      const { value, done } = await reader.read();
      patience.start();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/**
 * What is received, one part at a time as it is asked for. `explain` makes the error of a body that broke off; `onEnd` is
 * called once, however it ends.
 */
export function receivedBody(
  body: AsyncIterable<Uint8Array>,
  patience: Patience,
  { explain, onEnd }: { readonly explain: (error: unknown) => unknown; readonly onEnd: () => void },
): ReadableStream<Uint8Array> {
  const parts = body[Symbol.asyncIterator]();
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    patience.end();
    onEnd();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      patience.start();
      try {
        const { value, done } = await parts.next();
        patience.stop();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(explain(error));
      }
    },
    async cancel() {
      end();
      await parts.return?.();
    },
  }, { highWaterMark: 0 });
}
