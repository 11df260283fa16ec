import type { Holder } from "../../db/stores/connections.ts";
import { type Org, orgById } from "../../db/stores/organizations.ts";
import { mayUse } from "../../db/stores/pod_access.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import type { Membership } from "../discord/directory.ts";
import { type Asker, callerId } from "../identity/callers.ts";
import { standingOf } from "../identity/standing.ts";
import type { PodDeps } from "../pods/deps.ts";
import { lostAccess } from "./decide.ts";
import { takeAccess, type Taken } from "./take.ts";
import { tellTaken } from "./tell.ts";

export type JudgeDeps = Pick<PodDeps, "db" | "clock" | "audit"> & { readonly superadmins: ReadonlySet<string> };

/**
 * Takes from one person what they may not have any more on the pods that they hold certificates for, by what Discord just
 * said about them. `org` as it was when Discord was asked: where its roles were changed since, nothing is decided.
 */
export function judge(
  deps: JudgeDeps,
  org: Org,
  asker: Asker,
  person: { readonly discordId: string; readonly holdings: readonly Holder[]; readonly membership: Membership },
): Taken[] {
  const { db, clock } = deps;
  const { discordId, holdings, membership } = person;
  return db.tx(() => {
    const current = orgById(db, org.id);
    if (current === undefined || rolesOf(current) !== rolesOf(org)) return [];
    const standing = standingOf(current, deps.superadmins, discordId, membership);
    return holdings.flatMap((holder) => {
      const row = podById(db, holder.pod_id);
      if (row?.state !== "live") return [];
      const pod = row as LivePod;
      const verdict = lostAccess({ standing, hasRoot: holder.root === 1, mayUse: mayUse(db, pod, discordId) });
      if (verdict === null) return [];
      const now = clock.now();
      const by = asker.caller.kind === "system" ? null : callerId(asker.caller);
      const taken = takeAccess(db, { pod, discordId, ...verdict, by }, now);
      if (taken === null) return [];
      tellTaken(deps, current, asker, { pod, taken, reason: verdict.reason }, now);
      return [taken];
    });
  });
}

const rolesOf = (org: Org): string => JSON.stringify([org.guildId, org.officerRoleIds, org.memberRoleIds]);
