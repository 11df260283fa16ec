import { isLoopbackHost } from "../../server/config.ts";
import { AppError, shown } from "../../server/errors.ts";
import { VERSION } from "../../server/version.ts";
import type { Connection } from "./connection.ts";
import { ANSWER_MS, isStreamed, type NoAnswer, nodeFetch } from "./node_fetch.ts";
import { createPatience, receivedBody, sentBody } from "./patience.ts";
import { Refusal } from "./refusal.ts";

export interface RemoteTarget {
  /** The server's public address. */
  readonly url: string;
  /** An officer token, or a member's for the member routes; empty for what everybody may ask. */
  readonly token: string;
  /** The longest wait for an answer or for its next bytes. */
  readonly answerMs?: number;
  /** The environment names a proxy for https, which only the runtime's own fetch knows how to use. Not for http. */
  readonly isProxied?: boolean;
}

/**
 * A server elsewhere, over HTTPS with an officer token. Redirects are not followed, so that the token goes to the named
 * server alone. Throws `AppError("usage")` for an address that is not https and not loopback.
 */
export function connectRemote(target: RemoteTarget): Connection {
  const origin = originOf(target.url);
  return {
    baseUrl: origin,
    isOperator: false,
    async fetch(request) {
      const headers = new Headers(request.headers);
      if (target.token !== "") headers.set("authorization", `Bearer ${target.token}`);
      headers.set("user-agent", `orgpods/${VERSION}`);
      const answer = await send(new Request(request, { headers, redirect: "manual" }), origin, target);
      if (answer.status >= 300 && answer.status < 400) {
        await answer.body?.cancel();
        throw new Refusal(`${origin} answers with a redirect: name the server's own address with --server`, 6);
      }
      return answer;
    },
    close: () => Promise.resolve(),
  };
}

/** Bodies are streamed both ways; only a stretch of time in which nothing moves is limited. */
async function send(
  request: Request,
  origin: string,
  { answerMs = ANSWER_MS, isProxied = false }: RemoteTarget,
): Promise<Response> {
  const late = () =>
    new Refusal(`${origin} did not answer within ${answerMs / 1000} s; what came of the request is not known`, 6);
  const unreachable = (error: Error) =>
    new Refusal(
      isSent(error)
        ? `${origin} went away before it answered; whether the request was carried out is not known`
        : `${origin} cannot be reached: ${reasonOf(error)}`,
      6,
    );
  const cut = () => new Refusal(`${origin} went away before its answer was complete`, 6);
  // Over http a proxy would get the token in the clear, and nothing but this machine is meant.
  if (!isProxied && (isStreamed(request) || origin.startsWith("http:"))) {
    const asError = ({ isLate, hasBegun, cause }: NoAnswer) =>
      isLate ? late() : hasBegun ? cut() : unreachable(cause instanceof Error ? cause : new Error(String(cause)));
    try {
      return await nodeFetch("address", { answerMs, asError })(request);
    } catch (error) {
      // As the runtime's fetch has it; who sends a file tells by itself that it was given up.
      if (request.signal.aborted && !isStreamed(request)) throw request.signal.reason;
      throw error;
    }
  }
  const stop = new AbortController();
  const untilAnswer = createPatience(answerMs, () => stop.abort());
  const untilPart = createPatience(answerMs, () => stop.abort());
  const explain = (error: unknown, asRefusal: (error: TypeError) => Refusal): unknown => {
    if (untilAnswer.isOver || untilPart.isOver) return late();
    return error instanceof TypeError ? asRefusal(error) : error;
  };
  const { body } = request;
  untilAnswer.start();
  try {
    const init = body === null ? {} : { body: sentBody(body, untilAnswer) };
    const answer = await fetch(new Request(request, init), {
      signal: AbortSignal.any([stop.signal, request.signal]),
    });
    untilAnswer.end();
    if (answer.body === null) return answer;
    const received = receivedBody(answer.body, untilPart, { explain: (error) => explain(error, cut), onEnd: () => {} });
    return new Response(received, { status: answer.status, headers: answer.headers });
  } catch (error) {
    untilAnswer.end();
    throw explain(error, unreachable);
  }
}

/** Whether a connection broke after it stood: then the request may have arrived. The words are those of the two fetches. */
function isSent(error: Error): boolean {
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = "code" in cause ? cause.code : undefined;
  return code === "ECONNRESET" || code === "EPIPE" || /client error \(SendRequest\)|socket hang up/.test(cause.message);
}

/** What the system says of a failed connection, such as `tcp connect error: Connection refused`. */
function reasonOf(error: Error): string {
  const { message } = error.cause instanceof Error ? error.cause : error;
  return message.replace(/^.*client error \(\w+\): /s, "").replace(/ \(os error \d+\).*$/s, "");
}

/** Variables by which the runtime's fetch finds a proxy for https. */
const PROXIES = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/**
 * Whether the environment names a proxy for a server. Over http, which is for this machine alone, there is none: it would
 * get the token in the clear.
 */
export function namesProxy(origin: string, env: (name: string) => string | undefined): boolean {
  return origin.startsWith("https:") && PROXIES.some((name) => (env(name) ?? "") !== "");
}

/** The origin of a server's address. Throws `AppError("usage")` as `connectRemote` does. */
export function originOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new AppError("usage", `--server must be an address such as https://pods.example.org: ${shown(text)}`);
  }
  if (url.username || url.password) throw new AppError("usage", "--server must not hold a user name or password");
  if (url.pathname !== "/" || url.search || url.hash) {
    throw new AppError("usage", `--server must be an address without a path: ${shown(text)}`);
  }
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    throw new AppError("usage", `--server must begin with https://, because the token goes there: ${shown(text)}`);
  }
  return url.origin;
}
