import { holdersOf } from "../../db/stores/connections.ts";
import { type Org, orgById } from "../../db/stores/organizations.ts";
import { mayUse } from "../../db/stores/pod_access.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import { SECOND } from "../clock.ts";
import type { Asker } from "../identity/callers.ts";
import { standingOf } from "../identity/standing.ts";
import type { PodDeps } from "../pods/deps.ts";
import { lostAccess } from "./decide.ts";
import { takeAccess, type Taken } from "./take.ts";
import { tellTaken } from "./tell.ts";

const MEMBER_MS = 3 * SECOND;
/** Discord is away, and not only silent about one person. */
const MOST_UNKNOWN = 3;
const CHECK: Asker = { caller: { kind: "system", rule: "access" }, address: null, action: "compute.access" };

/**
 * Looks at everybody who may be on a pod of the org and takes the access of those away who lost it: they left the server,
 * lost a role, or were taken off a list. Ends early when Discord does not answer three times. `superadmins` as configured. Resolves
 * with what was taken; nothing on the pods has ended yet then.
 */
export async function checkAccess(
  deps: PodDeps & { readonly superadmins: ReadonlySet<string> },
  org: Org,
): Promise<Taken[]> {
  const { db, clock } = deps;
  const taken: Taken[] = [];
  const people = Map.groupBy(holdersOf(db, org.id, clock.now()), (holder) => holder.discord_id);
  let unknown = 0;
  for (const [discordId, holders] of people) {
    const membership = await deps.directory.member(org.guildId, discordId, { timeoutMs: MEMBER_MS });
    if (membership.kind === "unknown") {
      if (++unknown === MOST_UNKNOWN) break;
      continue;
    }
    db.tx(() => {
      const current = orgById(db, org.id);
      // Judged by the roles of a moment ago.
      if (current === undefined || rolesOf(current) !== rolesOf(org)) return;
      const standing = standingOf(current, deps.superadmins, discordId, membership);
      for (const holder of holders) {
        const pod = podById(db, holder.pod_id);
        if (pod?.state !== "live") continue;
        const verdict = lostAccess({ standing, hasRoot: holder.root === 1, mayUse: mayUse(db, pod, discordId) });
        if (verdict === null) continue;
        const now = clock.now();
        const one = takeAccess(db, {
          pod: pod as LivePod,
          discordId,
          ...verdict,
          by: null,
        }, now);
        if (one === null) continue;
        tellTaken(deps, current, CHECK, { pod: pod as LivePod, taken: one, reason: verdict.reason }, now);
        taken.push(one);
      }
    });
  }
  return taken;
}

const rolesOf = (org: Org): string => JSON.stringify([org.guildId, org.officerRoleIds, org.memberRoleIds]);
