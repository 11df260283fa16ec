import { allOrgs, type Org, orgById } from "../../db/stores/organizations.ts";
import { createOrgTurns, type OrgTurns } from "../org_turns.ts";
import type { PodDeps } from "../pods/deps.ts";
import type { PodSetup } from "../setup/setup.ts";
import type { Removals } from "./carry_out.ts";
import { holdConnections } from "./hold.ts";
import { checkAccess } from "./watch.ts";

/** What the server does by itself about who may be on pods. */
export interface AccessTurns {
  /** Goes on with removals that are open. */
  readonly removals: OrgTurns;
  /** Brings list and keys to pods that have not the present ones. */
  readonly deliveries: OrgTurns;
  /** Ends the access of people who lost it outside of the server. */
  readonly checks: OrgTurns;
}

export function createAccessTurns(
  deps: PodDeps & {
    readonly setup: PodSetup;
    readonly removals: Removals;
    readonly superadmins: ReadonlySet<string>;
  },
): AccessTurns {
  const { db, log } = deps;
  const orgIds = () => allOrgs(db).map((org) => org.id);
  const forOrg = (work: (org: Org) => Promise<unknown>) => async (orgId: number) => {
    const org = orgById(db, orgId);
    if (org !== undefined) await work(org);
  };
  const removals = createOrgTurns("removal", orgIds, forOrg((org) => deps.removals.turn(org)), log);
  /** By org: where a check that ended early is gone on with. */
  const endedAt = new Map<number, string | null>();
  const check = async (org: Org) => {
    const { taken, ...checked } = await checkAccess(deps, org, endedAt.get(org.id) ?? null);
    endedAt.set(org.id, checked.endedAt);
    await Promise.all(taken.map(({ id }) => deps.removals.carryOut(id)));
    await holdConnections(deps, org);
  };
  return {
    removals,
    deliveries: createOrgTurns("delivery", orgIds, forOrg((org) => deps.setup.bringUpToDate(org)), log),
    checks: createOrgTurns("access", orgIds, forOrg(check), log),
  };
}
