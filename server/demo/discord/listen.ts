import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ConnectionCut } from "./connection_cut.ts";

const MOST_BODY_BYTES = 64 * 1024;

/** A server that listens. `close` ends open connections too, and waits until all is released. */
export interface Listener {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  close(): Promise<void>;
}

/**
 * Serves a fetch-style handler on 127.0.0.1. Node's server is used because it lets a handler cut a connection without
 * an answer (by throwing ConnectionCut). Port 0 takes a free one.
 */
export async function listenOnLoopback(
  handler: (request: Request) => Promise<Response>,
  port: number,
): Promise<Listener> {
  const running = new Set<Promise<void>>();
  const server = createServer((incoming, outgoing) => {
    const job = serve(handler, incoming, outgoing, origin).finally(() => running.delete(job));
    running.add(job);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve());
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await Promise.all(running);
    },
  };
}

async function serve(
  handler: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  origin: string,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const body = await readBody(incoming);
  if (body === "cut") return;
  if (body === "too long" || !incoming.url?.startsWith("/")) {
    outgoing.writeHead(body === "too long" ? 413 : 400, { Connection: "close" }).end();
    return;
  }
  const method = incoming.method ?? "GET";
  const request = new Request(origin + incoming.url, {
    method,
    headers: headersOf(incoming),
    signal: gone.signal,
    ...(body.length > 0 && method !== "GET" && method !== "HEAD" ? { body } : {}),
  });
  try {
    await send(await handler(request), outgoing);
  } catch (error) {
    incoming.socket.destroy();
    if (!(error instanceof ConnectionCut)) throw error;
  }
}

function headersOf(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    headers.append(incoming.rawHeaders[i]!, incoming.rawHeaders[i + 1]!);
  }
  return headers;
}

/** The whole body; `cut` when the client went away in the middle of it. */
function readBody(incoming: IncomingMessage): Promise<Buffer<ArrayBuffer> | "too long" | "cut"> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve) => {
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MOST_BODY_BYTES) chunks.push(chunk);
      else resolve("too long");
    });
    incoming.once("end", () => resolve(Buffer.concat(chunks)));
    incoming.once("close", () => resolve("cut"));
    incoming.once("error", () => resolve("cut"));
  });
}

async function send(answer: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body) {
    for await (const chunk of answer.body) outgoing.write(chunk);
  }
  outgoing.end();
}
