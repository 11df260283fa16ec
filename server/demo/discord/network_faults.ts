import { SECOND } from "../../clock.ts";
import { edgePage, json } from "./answers.ts";
import { ConnectionCut } from "./connection_cut.ts";
import type { Call, Parts } from "./parts.ts";
import { bucketHeaders } from "./rate_limits.ts";

/**
 * Strikes with the faults of any route. Returns the answer in place of the right one, or undefined for the right one.
 * @throws ConnectionCut when there is to be no answer at all
 */
export async function strike(call: Call, parts: Parts): Promise<Response | undefined> {
  const limited = parts.faults.take("D19", { except: "buckets", route: call.match });
  if (limited) {
    return limited.variant === "html" ? edgePage(429, "You are being rate limited") : limitedAnswer(
      limited.variant,
      limited.ms,
      bucketHeaders(call.match.route.path, parts.clock.now(), limited.ms, 0),
    );
  }
  const fault = parts.faults.take("D20", { route: call.match });
  switch (fault?.variant) {
    case undefined:
      return undefined;
    case "500":
      return json({ message: "500: Internal Server Error", code: 0 }, 500);
    case "502":
      return edgePage(502, "Bad gateway");
    case "503":
      return edgePage(503, "Service unavailable");
    case "html-200":
      return edgePage(200, "Checking your browser");
    case "broken-json":
      return textAnswer('{"id": "80351110224678912", "roles": ["8035');
    case "empty":
      return textAnswer("");
    case "404-without-code":
      return json({ message: "Not Found" }, 404);
    case "404-html":
      return edgePage(404, "Not found");
    case "cut":
      throw new ConnectionCut();
    case "cut-body":
      return cutInBody();
    case "slow":
      await wait(fault!.ms, call.request.signal);
      return undefined;
  }
}

/** A 429 as the API gives it; `ms` is the wait. */
export function limitedAnswer(scope: string, ms: number, headers: Record<string, string>): Response {
  const global = scope === "global";
  return json({ message: "You are being rate limited.", retry_after: ms / SECOND, global }, 429, {
    ...headers,
    "Retry-After": String(Math.ceil(ms / SECOND)),
    "X-RateLimit-Scope": scope === "global" || scope === "shared" ? scope : "user",
    ...(global ? { "X-RateLimit-Global": "true" } : {}),
  });
}

function textAnswer(body: string): Response {
  return new Response(body, { headers: { "Content-Type": "application/json" } });
}

function cutInBody(): Response {
  const parts = [new TextEncoder().encode('{"id": "8035')];
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const part = parts.shift();
      if (part) controller.enqueue(part);
      else controller.error(new ConnectionCut());
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "Content-Type": "application/json", "Content-Length": "512" } });
}

/** Waits, unless the caller goes away before. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = () => {
      clearTimeout(timer);
      reject(new ConnectionCut());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", gone);
      resolve();
    }, ms);
    if (signal.aborted) gone();
    else signal.addEventListener("abort", gone, { once: true });
  });
}
