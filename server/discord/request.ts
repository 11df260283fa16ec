/** One HTTP exchange with Discord. Every call of this folder, OAuth included, goes through `send` or `readCapped`. */

/** Largest body read: a page of 1000 members is around 1 MB. */
export const MAX_BODY = 8 * 1024 * 1024;

/** What came back. Only an answer that says it is JSON and is JSON has a body. */
export type Answer =
  | { readonly kind: "json"; readonly status: number; readonly headers: Headers; readonly body: unknown }
  | { readonly kind: "bare"; readonly status: number; readonly headers: Headers }
  | { readonly kind: "none"; readonly why: "timeout" | "network" | "too_large"; readonly cause?: unknown }
  | { readonly kind: "held"; readonly waitMs: number };

export interface Send {
  readonly fetch: typeof fetch;
  readonly url: URL;
  readonly agent: string;
  /** The whole `Authorization` header; never logged. */
  readonly authorization: string;
  readonly signal: AbortSignal;
}

/** True for what `fetch` and a body reader throw when the network, not this program, failed. */
export function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError || error instanceof Deno.errors.Http ||
    error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.UnexpectedEof;
}

/** True when the answer says that it is JSON. Cloudflare's pages come as HTML, with any status. */
export function saysJson(headers: Headers): boolean {
  const type = (headers.get("content-type") ?? "").split(";", 1)[0]!.trim().toLowerCase();
  return type === "application/json" || type.endsWith("+json");
}

/** The body's bytes, or null (and the rest left unread) as soon as there are more than `max`. */
export async function readCapped(response: Response, max: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the stream, and with it the connection.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > max) return null;
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

function parse(status: number, headers: Headers, bytes: Uint8Array): Answer {
  try {
    return { kind: "json", status, headers, body: JSON.parse(new TextDecoder().decode(bytes)) };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: "bare", status, headers };
    throw error;
  }
}

/**
 * One GET. Redirects are not followed (the API has none, and the credential must not travel). Never throws for
 * anything the network or Discord does.
 */
export async function send(o: Send): Promise<Answer> {
  try {
    const response = await o.fetch(o.url, {
      method: "GET",
      redirect: "manual",
      signal: o.signal,
      headers: { accept: "application/json", authorization: o.authorization, "user-agent": o.agent },
    });
    const { status, headers } = response;
    if (!saysJson(headers)) {
      await response.body?.cancel();
      return { kind: "bare", status, headers };
    }
    const bytes = await readCapped(response, MAX_BODY);
    return bytes === null ? { kind: "none", why: "too_large" } : parse(status, headers, bytes);
  } catch (error) {
    if (o.signal.aborted) return { kind: "none", why: "timeout" };
    if (isNetworkError(error)) return { kind: "none", why: "network", cause: error };
    throw error;
  }
}
