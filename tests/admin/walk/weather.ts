/** What happens to the admin's requests on their way: nothing, delays, cut links, refusals, answers of somebody between. */
import { Refusal } from "../../../admin/client/refusal.ts";
import type { Intercept } from "../../support/fake_admin.ts";
import type { Random } from "../../schedule/term/random.ts";

const KINDS = ["calm", "slow", "stalled", "cut", "cut after", "refused", "broken", "signed out"] as const;
export type Weather = (typeof KINDS)[number];

export interface Sky {
  readonly weather: Weather;
  /** Requests that were made so far. */
  readonly requests: number;
  readonly intercept: Intercept;
  /** Another weather from now on; what is stalled goes on. */
  change(next?: Weather): void;
}

const CUT = "The server went away before it answered; whether the request was carried out is not known";
const REFUSALS: readonly (readonly [number, Record<string, unknown>])[] = [
  [403, { error: "You are not an officer of this organization", code: "not_an_officer" }],
  [404, { error: "There is no such pod", code: "pod_not_found", hint: "list them" }],
  [409, { error: "Another officer changed it meanwhile", code: "conflict", attention_id: 7 }],
  [429, { error: "Too many requests; try again in 1 s", code: "rate_limited" }],
  [500, { error: "Something went wrong; the log says what", code: "internal_error" }],
  [503, { error: "Discord did not answer in time", code: "discord_unavailable", hint: "try again" }],
];
const PAGE = "<html><head><title>502 Bad Gateway</title></head>\x1b[31m</html>";

/** `send` carries a request to the server; half of the requests of a bad day meet it. */
export function createSky(random: Random, send: (request: Request) => Promise<Response>): Sky {
  let weather: Weather = "calm";
  let requests = 0;
  let turn = Promise.withResolvers<void>();

  const pause = (ms: number | Promise<void>, signal: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = typeof ms === "number" ? setTimeout(resolve, ms) : undefined;
    if (typeof ms !== "number") ms.then(resolve);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
    return promise;
  };
  const meet = async (request: Request, kind: Weather): Promise<Response> => {
    switch (kind) {
      case "calm":
        return await send(request);
      case "slow":
        await pause(random.int(1, 400), request.signal);
        return await send(request);
      case "stalled":
        await pause(turn.promise, request.signal);
        return await send(request);
      case "cut":
        throw new Refusal(CUT, 6);
      case "cut after":
        await (await send(request)).body?.cancel();
        throw new Refusal(CUT, 6);
      case "refused": {
        const [status, body] = random.pick(REFUSALS);
        return Response.json(body, { status, headers: status === 429 ? { "retry-after": "1" } : {} });
      }
      case "broken":
        return random.pick([
          () => new Response(PAGE, { status: 502, headers: { "content-type": "text/html" } }),
          () => new Response(PAGE, { status: 200, headers: { "content-type": "text/html" } }),
          () => new Response("", { status: 503 }),
          () => new Response('{"pods": [', { status: 200, headers: { "content-type": "application/json" } }),
        ])();
      case "signed out":
        return Response.json({ error: "Token is invalid!", code: "token_invalid" }, { status: 401 });
    }
  };
  return {
    get weather() {
      return weather;
    },
    get requests() {
      return requests;
    },
    intercept(request) {
      requests++;
      const isHit = weather === "stalled" || weather === "slow" || random.chance(0.5);
      return meet(request, isHit ? weather : "calm");
    },
    change(next = random.chance(0.25) ? "calm" : random.pick(KINDS)) {
      weather = next;
      const before = turn;
      turn = Promise.withResolvers<void>();
      before.resolve();
    },
  };
}
