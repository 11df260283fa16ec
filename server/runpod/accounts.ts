import { createHash } from "node:crypto";
import type { Org } from "../../db/stores/organizations.ts";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import type { OrgSecrets } from "../identity/org_secrets.ts";
import type { Log } from "../log.ts";
import { createRunpodClient, type RunpodClient } from "./client.ts";
import { createPace, type Pace } from "./pace.ts";
import type { Limits } from "./request.ts";

/** The RunPod account of each org: its client, made anew when the key changes. */
export interface RunpodAccounts {
  /** Throws `runpod_key_missing` when the org has no key. */
  clientOf(org: Org): RunpodClient;
  /** A client for a key that is not stored (yet): to try it before it replaces the old one. */
  clientFor(apiKey: string): RunpodClient;
  hasKey(org: Org): boolean;
  /** How far our clock is ahead of RunPod's by its last answer, in milliseconds; null before the first. */
  clockOffMs(): number | null;
}

export function createRunpodAccounts(deps: {
  readonly baseUrl: string;
  readonly version: string;
  readonly secrets: OrgSecrets;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetch?: typeof fetch;
  readonly limits?: Limits;
}): RunpodAccounts {
  const { secrets, clock } = deps;
  const clients = new Map<string, RunpodClient>();
  const paces = new Map<string, Pace>();
  let clockOffMs: number | null = null;

  const clientFor = (apiKey: string): RunpodClient => {
    const id = createHash("sha256").update(apiKey).digest("hex");
    const known = clients.get(id);
    if (known !== undefined) return known;
    const pace = paces.get(id) ?? createPace(clock);
    paces.set(id, pace);
    const client = createRunpodClient({
      baseUrl: deps.baseUrl,
      apiKey,
      version: deps.version,
      clock,
      log: deps.log,
      pace,
      heardTime: (theirs, ours) => {
        clockOffMs = ours - theirs;
      },
      ...(deps.fetch === undefined ? {} : { fetch: deps.fetch }),
      ...(deps.limits === undefined ? {} : { limits: deps.limits }),
    });
    clients.set(id, client);
    return client;
  };

  return {
    clientFor,
    clientOf(org) {
      const key = secrets.read(org, "runpod_api_key");
      if (key === null) {
        throw new AppError(
          "runpod_key_missing",
          "This organization has no RunPod API key (org secret runpod_api_key)",
        );
      }
      return clientFor(key);
    },
    clockOffMs: () => clockOffMs,
    hasKey: (org) => secrets.describe(org, "runpod_api_key").configured,
  };
}
