import { Buffer } from "node:buffer";
import { request as nodeRequest } from "node:http";

/** The longest wait for an answer: a create may take 40 s, the checks of an org a minute. */
export const ANSWER_MS = 180_000;

/** The connection failed or ended before the answer was complete. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  constructor(readonly isLate: boolean, options: ErrorOptions) {
    super("There is no answer on the socket", options);
  }
}

/**
 * `fetch` over a Unix socket: HTTP/1.1, one connection per request, whole bodies in memory. It uses `node:http` because
 * the runtime's own fetch knows Unix sockets only in late versions. Throws `NoAnswer`.
 */
export function unixFetch(path: string, answerMs = ANSWER_MS): (request: Request) => Promise<Response> {
  return async (request) => {
    const body = new Uint8Array(await request.arrayBuffer());
    const { pathname, search, host } = new URL(request.url);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    let isLate = false;
    const fail = (cause: unknown) => reject(new NoAnswer(isLate, { cause }));
    const call = nodeRequest({
      socketPath: path,
      path: pathname + search,
      method: request.method,
      headers: { ...Object.fromEntries(request.headers), host, "content-length": body.length },
      agent: false,
    }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", fail);
      answer.on("end", () => {
        const text = Buffer.concat(chunks);
        const init = { status: answer.statusCode ?? 0, headers: headersOf(answer.headers) };
        resolve(new Response(text.length === 0 ? null : text, init));
      });
    });
    const timer = setTimeout(() => {
      isLate = true;
      call.destroy(new Error("The time is over"));
    }, answerMs);
    call.on("error", fail);
    globalThis.addEventListener("unhandledrejection", onStray);
    call.end(body);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      globalThis.removeEventListener("unhandledrejection", onStray);
    }

    /** Deno 2.4 tells of an answer that is cut off by rejecting a promise of its own, which would end the process. */
    function onStray(event: PromiseRejectionEvent): void {
      if (!(event.reason instanceof TypeError) || !event.reason.message.includes("reading a body")) return;
      event.preventDefault();
      fail(event.reason);
    }
  };
}

function headersOf(raw: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value]) headers.append(name, one);
  }
  return headers;
}
