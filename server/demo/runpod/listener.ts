/** The socket of the stand-in: loopback only, and able to hang, to be slow and to cut connections. */
import type { Answer } from "./answers.ts";
import type { Incoming } from "./requests.ts";
import { ByteReader, bytesOf, readRequest, WireError, type WireRequest } from "./wire.ts";

export interface Listening {
  readonly origin: string;
  /** Ends the socket and every connection; waits until all are gone. */
  close(): Promise<void>;
}

/** Listens on 127.0.0.1 and answers with `answer`; port 0 takes a free one. */
export function listenOn(port: number, answer: (incoming: Incoming) => Answer): Listening {
  const listener = Deno.listen({ hostname: "127.0.0.1", port });
  const origin = `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`;
  const open = new Map<Deno.Conn, Promise<void>>();
  const closing = new AbortController();
  const accepting = (async () => {
    for await (const conn of listener) {
      open.set(conn, serve(conn, origin, answer, closing.signal).finally(() => open.delete(conn)));
    }
  })();
  return {
    origin,
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      listener.close();
      for (const conn of open.keys()) shut(conn);
      await Promise.all([accepting, ...open.values()]);
    },
  };
}

async function serve(conn: Deno.Conn, origin: string, answer: (incoming: Incoming) => Answer, closing: AbortSignal) {
  const reader = new ByteReader(conn);
  try {
    for (;;) {
      const request = await readRequest(reader);
      if (!request) return;
      const url = new URL(`${origin}${request.target}`);
      if (!await send(conn, reader, request, answer({ ...request, url }), closing)) return;
    }
  } catch (error) {
    if (!isDisconnect(error) && !(error instanceof WireError)) throw error;
  } finally {
    shut(conn);
  }
}

/** Writes an answer the way it asks for; false when the connection is to be closed. */
async function send(
  conn: Deno.Conn,
  reader: ByteReader,
  request: WireRequest,
  answer: Answer,
  closing: AbortSignal,
): Promise<boolean> {
  const kind = answer.connection?.kind;
  const close = !request.keepAlive || kind !== undefined;
  const { head, body } = bytesOf(answer, { head: request.method === "HEAD", close });
  if (kind === "cut") return false;
  if (kind === "hang") {
    await reader.closed();
    return false;
  }
  if (answer.connection?.kind === "slow" && !await waited(answer.connection.ms, reader, closing)) return false;
  if (kind === "cut-body") {
    const half = body.length > 0 ? [head, body.subarray(0, body.length >> 1)] : [head.subarray(0, head.length >> 1)];
    for (const part of half) await writeAll(conn, part);
    return false;
  }
  await writeAll(conn, head);
  await writeAll(conn, body);
  return !close;
}

/** Waits; false when the client or the stand-in went away first. */
async function waited(ms: number, reader: ByteReader, closing: AbortSignal): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const gone = reader.closed().then(() => false, (error) => {
    if (isDisconnect(error)) return false;
    throw error;
  });
  try {
    return await Promise.race([gone, new Promise<boolean>((done) => timer = setTimeout(() => done(true), ms))]) &&
      !closing.aborted;
  } finally {
    clearTimeout(timer);
  }
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  let at = 0;
  while (at < bytes.length) at += await conn.write(bytes.subarray(at));
}

function shut(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch (error) {
    // Closed already, by the other of the two places that close it.
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** True for what a read or write throws when either side has closed the connection. */
function isDisconnect(error: unknown): boolean {
  const { BadResource, BrokenPipe, ConnectionAborted, ConnectionReset, Interrupted, NotConnected, UnexpectedEof } =
    Deno.errors;
  return [BadResource, BrokenPipe, ConnectionAborted, ConnectionReset, Interrupted, NotConnected, UnexpectedEof]
    .some((kind) => error instanceof kind);
}
