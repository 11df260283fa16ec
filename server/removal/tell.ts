import type { Database } from "../../db/database.ts";
import type { Org } from "../../db/stores/organizations.ts";
import type { LivePod } from "../../db/stores/pods.ts";
import type { AuditEntry } from "../../db/stores/audit.ts";
import { actorOf, type Audit } from "../audit/write.ts";
import { raise } from "../events/raise.ts";
import type { Asker } from "../identity/callers.ts";
import { actorName } from "../identity/callers.ts";
import type { Taken } from "./take.ts";

/** What an officer does about somebody who had root (decision 34). */
export const RECREATE =
  "They had root on the pod, and whoever had root can have left a way in: make a new pod in its place. If they were an " +
  "officer, change the RunPod key, the bot token and SECRETS_KEY too where they could read them, and look at the " +
  "webhooks: one of theirs goes on telling them what happens.";

/** Raises the event and writes the audit row of access that was taken away. Call it in the transaction that takes it. */
export function tellTaken(
  deps: { readonly db: Database; readonly audit: Audit },
  org: Org,
  asker: Asker,
  about: {
    readonly pod: LivePod;
    readonly taken: Taken;
    readonly reason: string;
    readonly details?: AuditEntry["details"];
  },
  now: number,
): void {
  const { pod, taken, reason } = about;
  deps.audit.write({
    ...actorOf(asker.caller),
    address: asker.address,
    action: asker.action,
    orgPrefix: org.prefix,
    podId: pod.runpod_id,
    status: 200,
    outcome: "ok",
    details: { ...about.details, access_ended: taken.discordId, reason, certificates: taken.certificates },
  });
  raise(deps.db, {
    orgId: org.id,
    kind: "access.ended",
    podId: pod.id,
    runpodId: pod.runpod_id,
    subject: pod.name,
    actor: actorName(asker.caller),
    details: { discord_id: taken.discordId, reason, ...(taken.hadRoot ? { had_root: true, todo: RECREATE } : {}) },
  }, now);
}
