/** GET calls with one credential: the time limit, the rate limits and the one retry. */
import { type Clock, SECOND } from "../clock.ts";
import { pause, withDeadline } from "./deadline.ts";
import { type Endpoint, userAgent } from "./endpoint.ts";
import { type Bucket, createLimits, retryAfter } from "./limits.ts";
import { type Answer, send } from "./request.ts";

/** Time limit of one call, retry and waits included. */
export const CALL_LIMIT = 10 * SECOND;
/** The longest wait for a rate limit that is slept through; a longer one is an answer of its own. */
const LONGEST_WAIT = 5 * SECOND;
/** Pause before the second try after a 502 ("no gateway available, retry a bit later"). */
const GATEWAY_PAUSE = 250;

export interface Route extends Bucket {
  /** Segments below the base; encoded here. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
}

export interface Client {
  /** Asks once, and once more after a 429 with a short wait or a 502. Never throws for what Discord does. */
  get(route: Route): Promise<Answer>;
}

export interface ClientOptions {
  readonly endpoint: Endpoint;
  readonly version: string;
  /** The whole `Authorization` header. */
  readonly authorization: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
}

/** A path segment, encoded; "@me" stays as Discord writes it. */
const segment = (text: string): string => encodeURIComponent(text).replaceAll("%40", "@");

export function createClient(o: ClientOptions): Client {
  const limits = createLimits(o.clock);
  const agent = userAgent(o.version);

  function address(route: Route): URL {
    const url = new URL(`${o.endpoint.href}/${route.path.map(segment).join("/")}`);
    for (const [name, value] of Object.entries(route.query ?? {})) url.searchParams.set(name, value);
    return url;
  }

  /** Waits until the limits let the call go; an answer when they do not in time. */
  async function admitted(route: Route, deadline: number, signal: AbortSignal): Promise<Answer | null> {
    const until = limits.openAt(route);
    const waitMs = until - o.clock.now();
    if (until > 0 && waitMs > 0) {
      if (waitMs > LONGEST_WAIT || until >= deadline) return { kind: "held", waitMs };
      if (!await pause(waitMs, signal)) return { kind: "none", why: "timeout" };
      limits.waited(route, until);
    }
    limits.spend(route);
    return null;
  }

  async function attempt(route: Route, deadline: number, signal: AbortSignal): Promise<Answer> {
    const refused = await admitted(route, deadline, signal);
    if (refused !== null) return refused;
    const answer = await send({ fetch: o.fetch, url: address(route), agent, authorization: o.authorization, signal });
    limits.learn(route, answer);
    return answer;
  }

  return {
    get: (route) =>
      withDeadline(CALL_LIMIT, async (signal) => {
        const deadline = o.clock.now() + CALL_LIMIT;
        const first = await attempt(route, deadline, signal);
        if (first.kind !== "json" && first.kind !== "bare") return first;
        // The second attempt waits by itself for what the 429 asked for.
        const again = first.status === 429
          ? retryAfter(first) !== null
          : first.status === 502 && await pause(GATEWAY_PAUSE, signal);
        return again ? await attempt(route, deadline, signal) : first;
      }),
  };
}
