import { Buffer } from "node:buffer";
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { createPatience, receivedBody } from "./patience.ts";

/** The longest wait for an answer or for its next bytes: a create may take 40 s, the checks of an org a minute. */
export const ANSWER_MS = 180_000;

/** Statuses whose answers have no body. */
const BODILESS = new Set([101, 204, 205, 304]);

const STRAY = /reading a body|request body stream errored|^resource closed$/;

/** The connection failed or ended before the answer was complete; the cause says how. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  /** `isLate`: it was waited for too long. `hasBegun`: the head of an answer came, and the rest did not. */
  constructor(readonly isLate: boolean, readonly hasBegun: boolean, options: ErrorOptions) {
    super("There is no answer, or not all of it", options);
  }
}

/** Where requests go: to a Unix socket, or to the host of their own address, by TLS when that begins with https. */
export type Way = { readonly socketPath: string } | "address";

export interface NodeFetchOptions {
  readonly answerMs?: number;
  /** What is thrown in the place of a `NoAnswer`. */
  readonly asError?: (error: NoAnswer) => Error;
}

/**
 * `fetch` by `node:http`: HTTP/1.1, one connection per request, redirects not followed, the server's certificate verified
 * by the runtime. A JSON body is sent whole, with its length; any other body and every answer are streamed. The runtime's
 * own fetch knows Unix sockets only in late versions, and sends a streamed body without its length, at half the speed or
 * less. Rejects with `NoAnswer`, also when the request's signal is aborted, and so does the body of an answer that
 * breaks off; what the source of a body throws passes through.
 */
export function nodeFetch(
  way: Way,
  { answerMs = ANSWER_MS, asError = (error) => error }: NodeFetchOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    const whole = isStreamed(request) ? undefined : new Uint8Array(await request.arrayBuffer());
    const url = new URL(request.url);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const giveUp = () => fail(new Error("The time is over"));
    const untilAnswer = createPatience(answerMs, giveUp);
    const untilPart = createPatience(answerMs, giveUp);
    const explain = (cause: unknown) =>
      asError(new NoAnswer(untilAnswer.isOver || untilPart.isOver, answer !== undefined, { cause }));
    const onEnd = () => {
      globalThis.removeEventListener("unhandledrejection", onStray);
      request.signal.removeEventListener("abort", onAbort);
    };
    const onAbort = () => fail(request.signal.reason);
    let answer: IncomingMessage | undefined;
    const fail = (cause: unknown, isOfSource = false) => {
      if (answer !== undefined) {
        answer.destroy(cause instanceof Error ? cause : new Error(String(cause)));
        return;
      }
      untilAnswer.end();
      // Deno 2.4 may reject a second promise until then.
      call.once("close", onEnd);
      reject(isOfSource ? cause : explain(cause));
      call.destroy();
    };
    const call = (way === "address" && url.protocol === "https:" ? httpsRequest : httpRequest)({
      ...placeOf(way, url),
      path: url.pathname + url.search,
      method: request.method,
      headers: {
        ...Object.fromEntries(request.headers),
        host: url.host,
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
    call.on("error", (error) => fail(error));
    globalThis.addEventListener("unhandledrejection", onStray);
    if (request.signal.aborted) onAbort();
    else request.signal.addEventListener("abort", onAbort);
    untilAnswer.start();
    if (whole !== undefined) call.end(whole);
    else send(request.body!, call, untilAnswer).catch((error) => fail(error, true));
    return await promise;

    /** Deno 2.4 tells of what is cut off, either way, by rejecting a promise of its own, which would end the process. */
    function onStray(event: PromiseRejectionEvent): void {
      if (!isStrayBodyError(event.reason)) return;
      event.preventDefault();
      fail(event.reason);
    }
  };
}

/** Whether the body of a request is sent as it comes: JSON is small, and is sent whole. */
export function isStreamed(request: Request): boolean {
  return request.body !== null && !/^application\/json\b/.test(request.headers.get("content-type") ?? "");
}

function placeOf(way: Way, { hostname, port }: URL) {
  if (way !== "address") return way;
  // An address of IPv6 stands in brackets only in a URL.
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), ...(port === "" ? {} : { port }), rejectUnauthorized: true };
}

/** True for the rejection by which Deno 2.4 tells of what was cut off, either way; whoever reads or sends learns of it. */
export function isStrayBodyError(reason: unknown): boolean {
  const text = reason instanceof TypeError ? reason.message : reason;
  return typeof text === "string" && STRAY.test(text);
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
