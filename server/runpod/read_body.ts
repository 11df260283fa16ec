/** The text of a body, read once and never past a limit. */
export interface BodyText {
  readonly text: string;
  /** False when the body was longer than the limit; the rest is not read. */
  readonly whole: boolean;
}

/**
 * Reads at most `limit` bytes of the body as UTF-8. Rejects when the connection breaks or the request is aborted, unless
 * `keepPart` is set: then what came before counts (the text of a refusal whose status is already known).
 */
export async function readBody(response: Response, limit: number, keepPart = false): Promise<BodyText> {
  if (response.body === null) return { text: "", whole: true };
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return { text: text + decoder.decode(), whole: true };
      const room = limit - size;
      text += decoder.decode(value.subarray(0, room), { stream: true });
      size += value.length;
      if (size > limit) {
        await reader.cancel();
        return { text, whole: false };
      }
    }
  } catch (error) {
    if (keepPart && isConnectionError(error)) return { text, whole: false };
    throw error;
  }
}

/** True for what `fetch` and its body streams throw when a connection fails or is given up; never for a refused permission. */
export function isConnectionError(error: unknown): error is Error {
  return error instanceof TypeError ||
    (error instanceof DOMException && (error.name === "AbortError" || error.name === "TimeoutError")) ||
    error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.ConnectionAborted ||
    error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.UnexpectedEof ||
    error instanceof Deno.errors.Http || error instanceof Deno.errors.Interrupted;
}
