import { Buffer } from "node:buffer";
import { type ClientRequest, type IncomingMessage, request as nodeRequest } from "node:http";
import { createPatience, receivedBody } from "./patience.ts";

/** The longest wait for an answer or for its next bytes: a create may take 40 s, the checks of an org a minute. */
export const ANSWER_MS = 180_000;

/** Statuses whose answers have no body. */
const BODILESS = new Set([101, 204, 205, 304]);

/** The connection failed or ended before the answer was complete. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  constructor(readonly isLate: boolean, options: ErrorOptions) {
    super("There is no answer on the socket", options);
  }
}

export interface UnixFetchOptions {
  readonly answerMs?: number;
  /** What is thrown in the place of a `NoAnswer`. */
  readonly asError?: (error: NoAnswer) => Error;
}

/**
 * `fetch` over a Unix socket: HTTP/1.1, one connection per request. A JSON body is sent whole, with its length; any other
 * body and every answer are streamed. It uses `node:http` because the runtime's own fetch knows Unix sockets only in late
 * versions. Rejects with `NoAnswer`, and so does the body of an answer that breaks off.
 */
export function unixFetch(
  path: string,
  { answerMs = ANSWER_MS, asError = (error) => error }: UnixFetchOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    const whole = await wholeBody(request);
    const { pathname, search, host } = new URL(request.url);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const giveUp = () => fail(new Error("The time is over"));
    const untilAnswer = createPatience(answerMs, giveUp);
    const untilPart = createPatience(answerMs, giveUp);
    const explain = (cause: unknown) => asError(new NoAnswer(untilAnswer.isOver || untilPart.isOver, { cause }));
    const onEnd = () => globalThis.removeEventListener("unhandledrejection", onStray);
    let answer: IncomingMessage | undefined;
    const fail = (cause: unknown) => {
      if (answer !== undefined) {
        answer.destroy(cause instanceof Error ? cause : new Error(String(cause)));
        return;
      }
      untilAnswer.end();
      onEnd();
      reject(explain(cause));
      call.destroy();
    };
    const call = nodeRequest({
      socketPath: path,
      path: pathname + search,
      method: request.method,
      headers: {
        ...Object.fromEntries(request.headers),
        host,
        ...(whole === undefined ? {} : { "content-length": whole.length }),
      },
      agent: false,
    }, (incoming) => {
      answer = incoming;
      untilAnswer.end();
      const init = { status: incoming.statusCode ?? 0, headers: headersOf(incoming.headers) };
      const body = receivedBody(incoming, untilPart, {
        explain,
        onEnd() {
          onEnd();
          // An upload that was refused goes on being sent otherwise.
          if (!call.writableEnded) call.destroy();
        },
      });
      if (!BODILESS.has(init.status)) return resolve(new Response(body, init));
      body.cancel();
      resolve(new Response(null, init));
    });
    call.on("error", fail);
    globalThis.addEventListener("unhandledrejection", onStray);
    untilAnswer.start();
    if (whole !== undefined) call.end(whole);
    else send(request.body!, call, untilAnswer).catch(fail);
    return await promise;

    /** Deno 2.4 tells of an answer that is cut off by rejecting a promise of its own, which would end the process. */
    function onStray(event: PromiseRejectionEvent): void {
      if (!(event.reason instanceof TypeError) || !event.reason.message.includes("reading a body")) return;
      event.preventDefault();
      fail(event.reason);
    }
  };
}

/** The body when it is sent whole; undefined for one that is streamed. */
async function wholeBody(request: Request): Promise<Uint8Array | undefined> {
  const isStreamed = request.body !== null && !/^application\/json\b/.test(request.headers.get("content-type") ?? "");
  return isStreamed ? undefined : new Uint8Array(await request.arrayBuffer());
}

/** Sends a body as fast as it is taken. While its source is waited for the server is not. */
async function send(
  body: ReadableStream<Uint8Array>,
  call: ClientRequest,
  patience: { start(): void; stop(): void },
): Promise<void> {
  const reader = body.getReader();
  const closed = new Promise<void>((resolve) => call.once("close", resolve));
  try {
    for (;;) {
      patience.stop();
      const { value, done } = await reader.read();
      if (call.destroyed) return;
      patience.start();
      if (done) return void call.end();
      // A copy by reference: the source gives each part away.
      const isTaken = call.write(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      if (!isTaken) await Promise.race([new Promise<void>((resolve) => call.once("drain", resolve)), closed]);
    }
  } finally {
    await reader.cancel();
  }
}

function headersOf(raw: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value]) headers.append(name, one);
  }
  return headers;
}
