import type { Database } from "../../db/database.ts";
import { podsOfToken } from "../../db/stores/connections.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import type { Audit } from "../audit/write.ts";
import { type Asker, callerId } from "../identity/callers.ts";
import { takeAccess, type Taken } from "./take.ts";
import { tellTaken } from "./tell.ts";

/**
 * Takes what was got with a CLI token: whoever revokes one may have lost it. Their owner gets in again with another token.
 * Call it in the transaction that revokes.
 */
export function takeOfToken(
  deps: { readonly db: Database; readonly audit: Audit },
  org: Org,
  asker: Asker,
  token: { readonly id: number; readonly discordId: string },
  now: number,
): Taken[] {
  const { db } = deps;
  return podsOfToken(db, org.id, token.id, now).flatMap((podId) => {
    const pod = podById(db, podId);
    if (pod?.state !== "live") return [];
    const reason = "The CLI token they got it with was revoked";
    const about = { pod: pod as LivePod, discordId: token.discordId, which: "all" as const, reason };
    const taken = takeAccess(db, { ...about, by: callerId(asker.caller) }, now);
    if (taken === null) return [];
    tellTaken(deps, org, asker, { pod: pod as LivePod, taken, reason }, now);
    return [taken];
  });
}
