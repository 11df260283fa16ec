import type { Standing } from "../identity/standing.ts";
import type { Which } from "./take.ts";

/** What the access check knows about somebody who may be on a pod. */
export interface HolderFacts {
  readonly standing: Pick<Standing, "isMember" | "isOfficer" | "unknown">;
  /** They hold, or held since the pod came up, a certificate that gives root. */
  readonly hasRoot: boolean;
  /** Public or listed, and not blocked. */
  readonly mayUse: boolean;
}

/** What is to be taken from them, and why as officers read it; null: nothing. */
export type Verdict = { readonly which: Which; readonly reason: string } | null;

/** Decides whether somebody's access to a pod has ended. Who is not known keeps it: Discord's outage ends nobody's work. */
export function lostAccess({ standing, hasRoot, mayUse }: HolderFacts): Verdict {
  if (standing.unknown !== null || standing.isOfficer) return null;
  if (!standing.isMember) return { which: "all", reason: "They left the Discord server or lost the member role" };
  if (!mayUse) return { which: "all", reason: "They may not use the pod any more" };
  return hasRoot ? { which: "root", reason: "They are no officer any more" } : null;
}
