import { z } from "zod";
import { holdersOf } from "../../db/stores/connections.ts";
import { setOwnRules } from "../../db/stores/activity.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { allowedUsers, mayUse, setAllowedUsers, setPublic } from "../../db/stores/pod_access.ts";
import type { LivePod } from "../../db/stores/pods.ts";
import { ownAutoStopSchema, ownMaxRunSchema } from "../auto_stop/rules.ts";
import { actorOf } from "../audit/write.ts";
import { AppError } from "../errors.ts";
import { type Asker, callerId } from "../identity/callers.ts";
import { standingOf } from "../identity/standing.ts";
import { takeAccess, type Taken } from "../removal/take.ts";
import { tellTaken } from "../removal/tell.ts";
import { PUBLIC_WARNING } from "./create.ts";
import { allowedUsersSchema, discordIdsSchema, MOST_ALLOWED } from "./create_request.ts";
import type { PodDeps } from "./deps.ts";
import { findPod } from "./list.ts";
import { type PodView, podViewer, type ViewDeps } from "./view.ts";

const NOTHING = "Send is_public or allowed_users";

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
 * everything is taken that they have there: `taken` is to be carried out.
 */
export function changeAccess(
  deps: PodDeps & ViewDeps,
  org: Org,
  asker: Asker,
  runpodId: string,
  change: z.output<typeof accessSchema>,
): { pod: PodView; warnings: string[]; taken: Taken[] } {
  const { db, clock } = deps;
  return db.tx(() => {
    const before = findPod(deps, org, runpodId);
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
    const taken = takeFromOthers(deps, org, asker, pod);
    return { pod: podViewer(deps, org, clock.now())(pod, false), warnings, taken };
  });
}

/**
 * Takes everything on the pod from those who may not use it now. Officers keep what they have; whether somebody with a root
 * certificate is one is for the access check to ask Discord.
 */
function takeFromOthers(deps: PodDeps, org: Org, asker: Asker, pod: LivePod): Taken[] {
  const { db, clock } = deps;
  const now = clock.now();
  const isOfficerNow = (discordId: string) => {
    const known = deps.directory.cachedMember(org.guildId, discordId);
    return known !== null && standingOf(org, new Set(), discordId, known).isOfficer;
  };
  return holdersOf(db, org.id, now).flatMap((holder) => {
    const { discord_id: discordId } = holder;
    if (holder.pod_id !== pod.id || holder.root === 1 || mayUse(db, pod, discordId) || isOfficerNow(discordId)) {
      return [];
    }
    const reason = "An officer took their access to the pod away";
    const taken = takeAccess(db, { pod, discordId, which: "all", reason, by: callerId(asker.caller) }, now);
    if (taken === null) return [];
    tellTaken(deps, org, asker, { pod, taken, reason }, now);
    return [taken];
  });
}
