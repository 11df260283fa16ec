import { z } from "zod";
import { type Holder, holdersOf } from "../../db/stores/connections.ts";
import { setOwnRules } from "../../db/stores/activity.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { allowedUsers, mayUse, setAllowedUsers, setPublic } from "../../db/stores/pod_access.ts";
import type { LivePod } from "../../db/stores/pods.ts";
import { ownAutoStopSchema, ownMaxRunSchema } from "../auto_stop/rules.ts";
import { actorOf } from "../audit/write.ts";
import { SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { type Asker, callerId } from "../identity/callers.ts";
import { standingOf } from "../identity/standing.ts";
import { judge, type JudgeDeps } from "../removal/judge.ts";
import { takeAccess, type Taken } from "../removal/take.ts";
import { tellTaken } from "../removal/tell.ts";
import { PUBLIC_WARNING } from "./create.ts";
import { allowedUsersSchema, discordIdsSchema, MOST_ALLOWED } from "./create_request.ts";
import type { PodDeps } from "./deps.ts";
import { findPod } from "./list.ts";
import { type PodView, podViewer, type ViewDeps } from "./view.ts";

const NOTHING = "Send is_public or allowed_users";
/** How long Discord is asked whether people are still officers. */
const ASK_MS = 3 * SECOND;

/** `add_users` and `remove_users` change the list as it is at that moment, so that two officers do not undo each other. */
export const accessSchema = z.strictObject({
  is_public: z.boolean("is_public must be true or false").optional(),
  allowed_users: allowedUsersSchema.optional(),
  add_users: discordIdsSchema("add_users").optional(),
  remove_users: discordIdsSchema("remove_users").optional(),
  auto_stop_after_minutes: ownAutoStopSchema.optional(),
  max_run_hours: ownMaxRunSchema.optional(),
}).refine((body) => Object.keys(body).length > 0, NOTHING)
  .refine(
    (body) => body.allowed_users === undefined || (body.add_users === undefined && body.remove_users === undefined),
    "allowed_users is the whole list: leave add_users and remove_users out",
  )
  .refine(
    (body) => !body.add_users?.some((id) => body.remove_users?.includes(id)),
    "add_users and remove_users must not name the same person",
  );

/** The list after a change; null when the change does not touch it. */
function listAfter(before: readonly string[], change: z.output<typeof accessSchema>): string[] | null {
  if (change.allowed_users !== undefined) return change.allowed_users;
  const { add_users: add = [], remove_users: remove = [] } = change;
  if (add.length === 0 && remove.length === 0) return null;
  const unknown = remove.find((id) => !before.includes(id));
  if (unknown !== undefined) {
    throw new AppError("invalid_request", `remove_users names somebody who is not on the pod's list: ${unknown}`);
  }
  const after = [...new Set([...before, ...add])].filter((id) => !remove.includes(id)).sort();
  if (after.length > MOST_ALLOWED) {
    throw new AppError("invalid_request", `The pod's list would hold more than ${MOST_ALLOWED} people`);
  }
  return after;
}

/**
 * Changes who may use a pod, and the pod's own rules for stops by themselves. From whoever may not use it any more
 * everything is taken that they have there: `taken` is to be carried out. Of whoever had root Discord is asked first
 * whether they are an officer; where it does not say, `warnings` do.
 */
export async function changeAccess(
  deps: PodDeps & ViewDeps & JudgeDeps,
  org: Org,
  asker: Asker,
  runpodId: string,
  change: z.output<typeof accessSchema>,
): Promise<{ pod: PodView; warnings: string[]; taken: Taken[] }> {
  const { db, clock } = deps;
  const { officers, ...done } = db.tx(() => {
    const before = findPod(deps, org, runpodId);
    const holders = holdersOf(db, org.id, clock.now()).filter((holder) => holder.pod_id === before.id);
    const couldUse = holders.filter((holder) => mayUse(db, before, holder.discord_id));
    const listed = allowedUsers(db, before.id);
    const had = { is_public: before.is_public === 1, allowed: listed.length };
    const list = listAfter(listed, change);
    if (change.is_public !== undefined) setPublic(db, before.id, change.is_public);
    if (list !== null) setAllowedUsers(db, before.id, list);
    const { auto_stop_after_minutes, max_run_hours } = change;
    setOwnRules(db, before.id, { auto_stop_after_minutes, max_run_hours });
    const pod = findPod(deps, org, runpodId);
    deps.audit.write({
      ...actorOf(asker.caller),
      address: asker.address,
      action: asker.action,
      orgPrefix: org.prefix,
      podId: pod.runpod_id,
      status: 200,
      outcome: "ok",
      details: {
        name: pod.name,
        before: had,
        ...(change.is_public === undefined ? {} : { is_public: change.is_public }),
        ...(list === null ? {} : { allowed_users: list }),
        ...(auto_stop_after_minutes === undefined ? {} : { auto_stop_after_minutes }),
        ...(max_run_hours === undefined ? {} : { max_run_hours }),
      },
    });
    const warnings = change.is_public && org.memberRoleIds.length === 0 ? [PUBLIC_WARNING] : [];
    const others = holders.filter((holder) => !mayUse(db, pod, holder.discord_id));
    const members = others.filter((holder) => !maybeOfficer(deps, org, holder));
    // Officers are on no list: who was not on it before is as they were.
    const officers = others.filter((holder) => couldUse.includes(holder) && !members.includes(holder));
    const taken = takeFromMembers(deps, org, asker, pod, members);
    return { pod: podViewer(deps, org, clock.now())(pod, false), warnings, taken, officers };
  });
  const asked = await Promise.all(officers.map((holder) => takeUnlessOfficer(deps, org, asker, holder)));
  return {
    pod: done.pod,
    warnings: [...done.warnings, ...asked.flatMap((one) => one.warnings)],
    taken: [...done.taken, ...asked.flatMap((one) => one.taken)],
  };
}

/** They had root, or were an officer a moment ago; whether they are one now is Discord's to say. */
function maybeOfficer({ directory }: PodDeps, org: Org, { discord_id: discordId, root }: Holder): boolean {
  const known = directory.cachedMember(org.guildId, discordId);
  return root === 1 || known !== null && standingOf(org, new Set(), discordId, known).isOfficer;
}

async function takeUnlessOfficer(
  deps: PodDeps & JudgeDeps,
  org: Org,
  asker: Asker,
  holder: Holder,
): Promise<{ taken: Taken[]; warnings: string[] }> {
  const { discord_id: discordId } = holder;
  deps.directory.forget(org.guildId, discordId);
  const membership = await deps.directory.member(org.guildId, discordId, { timeoutMs: ASK_MS });
  if (membership.kind !== "unknown") {
    return { taken: judge(deps, org, asker, { discordId, holdings: [holder], membership }), warnings: [] };
  }
  const warning =
    `Discord does not say whether ${discordId} is still an officer, so what they have on the pod stays for ` +
    "now: the access check looks again within three minutes.";
  return { taken: [], warnings: [warning] };
}

/** Takes everything on the pod from members who may not use it now. */
function takeFromMembers(
  deps: PodDeps,
  org: Org,
  asker: Asker,
  pod: LivePod,
  members: readonly Holder[],
): Taken[] {
  const { db, clock } = deps;
  const now = clock.now();
  return members.flatMap(({ discord_id: discordId }) => {
    const reason = "An officer took their access to the pod away";
    const taken = takeAccess(db, { pod, discordId, which: "all", reason, by: callerId(asker.caller) }, now);
    if (taken === null) return [];
    tellTaken(deps, org, asker, { pod, taken, reason }, now);
    return [taken];
  });
}
