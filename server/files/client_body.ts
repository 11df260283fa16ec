import { clearTimeout, setTimeout } from "node:timers";
import { AppError } from "../errors.ts";
import { isBrokenOff } from "../http/body.ts";

/**
 * The body of an upload as it comes in. It fails with `invalid_request` when the client goes away, or when it sends
 * nothing for `idleMs` although it is waited for; the pod must not be kept waiting for ever. With `limit` it fails with the
 * error that `limit.error` makes once more than `limit.maxBytes` came, whatever they are.
 */
export function clientBody(
  body: ReadableStream<Uint8Array> | null,
  idleMs: number,
  limit?: { readonly maxBytes: number; readonly error: () => AppError },
): ReadableStream<Uint8Array> {
  if (body === null) return new Blob([]).stream();
  const reader = body.getReader();
  let came = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        const seconds = Math.round(idleMs / 1000);
        const stalled = () =>
          reject(new AppError("invalid_request", `Nothing of the body came for ${seconds} seconds`));
        timer = setTimeout(stalled, idleMs);
      });
      try {
        const { value, done } = await Promise.race([reader.read(), late]);
        if (done) return controller.close();
        came += value.length;
        if (limit !== undefined && came > limit.maxBytes) throw limit.error();
        controller.enqueue(value);
      } catch (error) {
        await giveUp(reader, error);
        if (isBrokenOff(error)) throw new AppError("invalid_request", "The body ended before it was complete");
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => giveUp(reader, reason),
  }, { highWaterMark: 0 });
}

async function giveUp(reader: ReadableStreamDefaultReader<Uint8Array>, reason: unknown): Promise<void> {
  try {
    await reader.cancel(reason);
  } catch (error) {
    // The client has gone away before.
    if (!isBrokenOff(error) && error !== reason) throw error;
  }
}
