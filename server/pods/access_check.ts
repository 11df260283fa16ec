import type { Database } from "../../db/database.ts";
import { mayUse } from "../../db/stores/pod_access.ts";
import type { LivePod } from "../../db/stores/pods.ts";
import { AppError } from "../errors.ts";
import type { PersonCaller } from "../identity/callers.ts";

/** Throws `pod_not_accessible` unless the caller may use the pod now. */
export function checkAccess(deps: { readonly db: Database }, pod: LivePod, me: PersonCaller): void {
  if (!me.isOfficer && !mayUse(deps.db, pod, me.discordId)) {
    throw new AppError("pod_not_accessible", "Pod not accessible");
  }
}
