/** What downloads and archives have in common: their headers, and a body that is watched. */
import { AppError } from "../errors.ts";
import { describeError, type Log } from "../log.ts";
import { lossyText } from "./path.ts";

/**
 * Headers of a file from a pod. It is never shown by a browser: whatever it holds, it must not run as a page of ours. The
 * name comes along without what could deceive (RFC 6266).
 */
export function attachmentHeaders(name: Uint8Array, contentType: string): Headers {
  const clean = lossyText(name).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}"\\/]/gu, "_");
  const ascii = clean.replace(/[^\x20-\x7e]/g, "_");
  const encoded = encodeURIComponent(clean).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return new Headers({
    "content-type": contentType,
    "content-disposition": `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cache-control": "private, no-cache",
  });
}

/**
 * Passes a body on. A failure on the way, or more than `maxBytes`, ends it so that the client sees it cut, and is a line of
 * the log; the answer's status has gone out by then.
 */
export function watchedBody(
  source: ReadableStream<Uint8Array>,
  maxBytes: number,
  log: Log,
  about: Record<string, unknown>,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let sent = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (done) return controller.close();
        sent += value.length;
        if (sent > maxBytes) throw new AppError("too_large", `More than ${maxBytes} bytes came`);
        controller.enqueue(value);
      } catch (error) {
        log.warn("A transfer from a pod broke off", { ...about, sent, error: describeError(error) });
        await reader.cancel(error).catch(() => {}); // It may be what failed.
        throw error;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}
