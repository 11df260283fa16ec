import { holdersOf } from "../../db/stores/connections.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { SECOND } from "../clock.ts";
import type { Asker } from "../identity/callers.ts";
import type { PodDeps } from "../pods/deps.ts";
import { judge } from "./judge.ts";
import type { Taken } from "./take.ts";

const MEMBER_MS = 3 * SECOND;
/** Discord is away, and not only silent about one person. */
const MOST_UNKNOWN = 3;
const CHECK: Asker = { caller: { kind: "system", rule: "access" }, address: null, action: "compute.access" };

export interface Checked {
  /** What was taken; nothing on the pods has ended yet. */
  readonly taken: Taken[];
  /** Whom Discord was asked about last, when it ended early; the next check goes on after them. Null: it was a whole one. */
  readonly endedAt: string | null;
}

/**
 * Looks at everybody who may be on a pod of the org and takes the access of those away who lost it: they left the server,
 * lost a role, or were taken off a list. Ends early when Discord does not answer three times in a row. `after` is
 * where the check before ended, so that a few people Discord says nothing about keep nobody else from being looked at.
 * `superadmins` as configured.
 */
export async function checkAccess(
  deps: PodDeps & { readonly superadmins: ReadonlySet<string> },
  org: Org,
  after: string | null,
): Promise<Checked> {
  const taken: Taken[] = [];
  const people = Map.groupBy(holdersOf(deps.db, org.id, deps.clock.now()), (holder) => holder.discord_id);
  let unknown = 0;
  for (const discordId of inTurn([...people.keys()], after)) {
    const membership = await deps.directory.member(org.guildId, discordId, { timeoutMs: MEMBER_MS });
    if (membership.kind === "unknown") {
      if (++unknown === MOST_UNKNOWN) return { taken, endedAt: discordId };
      continue;
    }
    unknown = 0;
    taken.push(...judge(deps, org, CHECK, { discordId, holdings: people.get(discordId)!, membership }));
  }
  return { taken, endedAt: null };
}

/** Everybody once, in the order of their ids, beginning behind `after`. */
function inTurn(ids: string[], after: string | null): string[] {
  ids.sort();
  const first = after === null ? 0 : ids.findIndex((id) => id > after);
  return first <= 0 ? ids : [...ids.slice(first), ...ids.slice(0, first)];
}
