import type { Org } from "../../db/stores/organizations.ts";
import type { Membership } from "../discord/directory.ts";

/** What one answer of Discord makes of a person in an org. */
export interface Standing {
  readonly isMember: boolean;
  readonly isOfficer: boolean;
  /** Discord's account name; empty when not known. */
  readonly username: string;
  readonly name: string;
  /** Not null when Discord could not tell; then nothing else here decides anything. For officers and the log. */
  readonly unknown: string | null;
}

const holds = (roles: readonly string[], wanted: readonly string[]) => wanted.some((role) => roles.includes(role));

/**
 * One member answer decides both questions, so `is_admin` is never guessed. Members: on the server, screening passed,
 * no guest, no bot, and one of the org's member roles where it names any. Officers: members of the server with one of
 * the officer roles. Owner and administrators are not officers by that alone. A superadmin is an officer of every
 * org, yet a member only where Discord says so.
 */
export function standingOf(
  org: Org,
  superadmins: ReadonlySet<string>,
  discordId: string,
  membership: Membership,
): Standing {
  if (membership.kind === "unknown") {
    return { isMember: false, isOfficer: false, username: "", name: discordId, unknown: membership.hint };
  }
  const isSuperadmin = superadmins.has(discordId);
  if (membership.kind === "not_member") {
    return { isMember: false, isOfficer: isSuperadmin, username: "", name: discordId, unknown: null };
  }
  const counts = !membership.pending && !membership.guest && !membership.bot;
  const isOfficer = isSuperadmin || (counts && holds(membership.roles, org.officerRoleIds));
  const hasRole = org.memberRoleIds.length === 0 || holds(membership.roles, org.memberRoleIds) || isOfficer;
  return {
    isMember: counts && hasRole,
    isOfficer,
    username: membership.username,
    name: membership.name,
    unknown: null,
  };
}
