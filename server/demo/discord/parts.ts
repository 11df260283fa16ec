import type { Clock } from "../../clock.ts";
import type { Faults } from "./faults.ts";
import type { Grants } from "./grants.ts";
import type { Recorder } from "./requests.ts";
import type { RouteMatch } from "./route_table.ts";
import type { World } from "./world.ts";

/** The application as the Developer Portal holds it. */
export interface Application {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly botToken: string;
  readonly name: string;
  redirectUris: readonly string[];
}

/** What the routes work with. */
export interface Parts {
  readonly clock: Clock;
  readonly application: Application;
  /** What a person types on the authorize page. */
  readonly signInCode: string;
  readonly world: World;
  readonly faults: Faults;
  readonly grants: Grants;
  readonly recorder: Recorder;
  /** Origins this stand-in listens on. */
  readonly origins: Set<string>;
}

/** One request on its way. */
export interface Call {
  readonly request: Request;
  readonly url: URL;
  readonly match: RouteMatch;
  /** The fields of a form body; null when the body is of another kind. */
  readonly form: URLSearchParams | null;
}

export type Handler = (call: Call, parts: Parts) => Response | Promise<Response>;
