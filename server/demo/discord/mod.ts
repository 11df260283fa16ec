import type { Clock } from "../../clock.ts";
import { answerDemo } from "./demo_routes.ts";
import { createDispatch } from "./dispatch.ts";
import { createFaults, type Faults } from "./faults.ts";
import { createGrants } from "./grants.ts";
import { type Listener, listenOnLoopback } from "./listen.ts";
import type { Application, Parts } from "./parts.ts";
import { createRecorder, type Requests } from "./requests.ts";
import { isSnowflake } from "./snowflake.ts";
import { createWorld, type World } from "./world.ts";

export type { ActiveFault, Faults, FaultSwitch } from "./faults.ts";
export type { Listener } from "./listen.ts";
export type { RecordedRequest, Requests } from "./requests.ts";
export type { World } from "./world.ts";
export type { WorldChange } from "./world_schema.ts";
export { IS_GUEST } from "./state.ts";

export interface FakeDiscordOptions {
  /** The application's id, a snowflake; the bot's user has the same id. */
  readonly clientId: string;
  readonly clientSecret: string;
  readonly botToken: string;
  /** Registered redirect addresses; a sign-in must name one of them exactly. */
  readonly redirectUris: readonly string[];
  /** Guards `/_demo/*`, in the header `X-Demo-Secret`. */
  readonly demoSecret: string;
  /** What a person types on the authorize page to sign in as somebody of the world. */
  readonly signInCode: string;
  readonly clock: Clock;
  /** The application's name on the authorize page. Default `orgpods`. */
  readonly applicationName?: string;
}

/**
 * A strict stand-in for Discord: OAuth pages and endpoints, the v10 routes that this program uses, and faults that can
 * be switched on. The API's base is `<origin>/api/v10`, the site's `<origin>`.
 */
export interface FakeDiscord {
  /** Answers one request. Rejects with a TypeError where a real connection would be cut. */
  fetch(request: Request): Promise<Response>;
  /** Listens on 127.0.0.1; without a port on a free one. */
  listen(port?: number): Promise<Listener>;
  readonly world: World;
  readonly faults: Pick<Faults, "set" | "clear" | "list">;
  readonly requests: Requests;
  setRedirectUris(uris: readonly string[]): void;
  /** Every code and token it ever made, so that a test can look for them in a log. */
  secretsIssued(): string[];
}

export function createFakeDiscord(options: FakeDiscordOptions): FakeDiscord {
  const { clock } = options;
  if (!isSnowflake(options.clientId)) throw new TypeError("The clientId must be a snowflake.");
  const application: Application = {
    clientId: options.clientId,
    clientSecret: options.clientSecret,
    botToken: options.botToken,
    name: options.applicationName ?? "orgpods",
    redirectUris: [...options.redirectUris],
  };
  const faults = createFaults();
  const recorder = createRecorder(clock);
  const world = createWorld({
    clock,
    botId: options.clientId,
    botName: application.name,
    delay: () => faults.find("D18")?.ms ?? 0,
    changed: () => void faults.take("D18"),
  });
  const parts: Parts = {
    clock,
    application,
    signInCode: options.signInCode,
    world,
    faults,
    grants: createGrants(clock),
    recorder,
    origins: new Set(),
  };
  const dispatch = createDispatch(parts);

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname.startsWith("/_demo/")) return answerDemo(request, url, options.demoSecret, parts);
    const form = await readForm(request);
    const record = recorder.begin(request, url, form);
    const response = await dispatch(request, url, form, record);
    recorder.end(record, response);
    return response;
  }

  return {
    fetch: answer,
    async listen(port = 0) {
      const listener = await listenOnLoopback(answer, port);
      parts.origins.add(listener.origin);
      return {
        origin: listener.origin,
        close() {
          parts.origins.delete(listener.origin);
          return listener.close();
        },
      };
    },
    world,
    faults,
    requests: recorder,
    setRedirectUris: (uris) => void (application.redirectUris = [...uris]),
    secretsIssued: parts.grants.issued,
  };
}

/** The fields of a form-encoded body; null for a body of another kind, which is left unread. */
async function readForm(request: Request): Promise<URLSearchParams | null> {
  const type = request.headers.get("Content-Type")?.split(";")[0]?.trim().toLowerCase();
  return type === "application/x-www-form-urlencoded" ? new URLSearchParams(await request.text()) : null;
}
