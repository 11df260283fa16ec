/** Calls with the bot token: none without a token, and none after Discord refused it. */
import type { Clock } from "../clock.ts";
import { describeError, type Log } from "../log.ts";
import { createClient, type Route } from "./client.ts";
import type { Endpoint } from "./endpoint.ts";
import { judge, type Outcome } from "./outcome.ts";

export type BotOutcome = Exclude<Outcome, { kind: "refused" }> | { readonly kind: "not_set_up"; readonly hint: string };

export interface Bot {
  /** Asks Discord and judges the answer; what went wrong is logged with its hint. */
  ask(route: Route): Promise<BotOutcome>;
  /** Lets calls go again after a refused token. */
  resume(): void;
}

export interface BotOptions {
  readonly endpoint: Endpoint;
  readonly token: string | null;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetch: typeof fetch;
}

/** Code of an outcome that Discord did not number. */
const NO_CODE = 0;

export function createBot(o: BotOptions): Bot {
  // A header that cannot be built would quote the token in its error.
  const usable = o.token !== null && /^[\x21-\x7e]+$/.test(o.token);
  const client = usable
    ? createClient({
      endpoint: o.endpoint,
      version: o.version,
      authorization: `Bot ${o.token}`,
      clock: o.clock,
      fetch: o.fetch,
    })
    : null;
  let refused: string | null = null;

  async function ask(route: Route): Promise<BotOutcome> {
    if (o.token === null) return { kind: "not_set_up", hint: "BOT_TOKEN is not set." };
    if (client === null) {
      return { kind: "misconfigured", code: NO_CODE, hint: "BOT_TOKEN holds characters that no token has." };
    }
    // 10,000 answers of 401, 403 or 429 within ten minutes get the whole address banned, so one 401 is the last.
    if (refused !== null) return { kind: "misconfigured", code: NO_CODE, hint: refused };
    const answer = await client.get(route);
    const outcome = judge(answer, route.guildId);
    if (outcome.kind === "ok" || outcome.kind === "absent") return outcome;
    const about = { route: route.route, guild_id: route.guildId, hint: outcome.hint };
    if (outcome.kind === "refused") {
      refused = outcome.hint;
      o.log.error("Discord refuses the bot token; no more calls are made with it", about);
      return { kind: "misconfigured", code: NO_CODE, hint: outcome.hint };
    }
    const cause = answer.kind === "none" && answer.cause !== undefined ? { cause: describeError(answer.cause) } : {};
    o.log.warn("A call to Discord failed", { ...about, ...cause });
    return outcome;
  }

  return { ask, resume: () => void (refused = null) };
}
