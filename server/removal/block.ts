import { z } from "zod";
import { blocksOf, deleteBlock, insertBlock } from "../../db/stores/blocks.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { type LivePod, livePods, podById } from "../../db/stores/pods.ts";
import { actorOf } from "../audit/write.ts";
import { isoTime, SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { type Asker, callerId } from "../identity/callers.ts";
import { standingOf } from "../identity/standing.ts";
import type { PodDeps } from "../pods/deps.ts";
import { findPod } from "../pods/list.ts";
import { takeAccess, type Taken } from "./take.ts";
import { tellTaken } from "./tell.ts";

const DISCORD_ID = "discord_id must be a Discord id (5 to 25 digits)";
const POD_ID = "pod_id must be a pod's id (at most 64 characters)";
export const discordIdSchema = z.string(DISCORD_ID).regex(/^\d{5,25}$/, DISCORD_ID);

export const blockSchema = z.strictObject({
  discord_id: discordIdSchema,
  /** RunPod's id; without it they are blocked on every pod of the org. */
  pod_id: z.string(POD_ID).min(1, POD_ID).max(64, POD_ID).optional(),
  reason: z.string("reason must be text").trim().min(1, "reason must not be empty").max(
    200,
    "reason must be at most 200 characters",
  ).optional(),
});

export const disconnectSchema = z.strictObject({ block: z.boolean("block must be true or false").default(false) });

/** Everybody who is blocked, with RunPod's id of the pod or null for all pods. Pods that are gone for good are left out. */
export function listBlocked(deps: Pick<PodDeps, "db">, org: Org) {
  return blocksOf(deps.db, org.id).flatMap((row) => {
    const pod = row.pod_id === "" ? null : podById(deps.db, row.pod_id);
    if (pod !== null && pod?.state !== "live") return [];
    return [{
      discord_id: row.discord_id,
      pod_id: pod?.runpod_id ?? null,
      blocked_at: isoTime(row.blocked_at),
      blocked_by: row.blocked_by,
      reason: row.reason,
    }];
  });
}

const ASK_MS = 3 * SECOND;

/**
 * Asks Discord whether somebody who is to be blocked is an officer: a block does not hold for officers. Throws `conflict`
 * where they are one; resolves with a warning where Discord does not say.
 */
export async function refuseOfficer(
  deps: PodDeps & { readonly superadmins: ReadonlySet<string> },
  org: Org,
  discordId: string,
): Promise<string[]> {
  if (deps.superadmins.has(discordId)) {
    throw new AppError("conflict", "They are a superadmin of this server: take them out of its settings first");
  }
  // Their role may have been taken a moment ago.
  deps.directory.forget(org.guildId, discordId);
  const membership = await deps.directory.member(org.guildId, discordId, { timeoutMs: ASK_MS });
  const standing = standingOf(org, deps.superadmins, discordId, membership);
  if (standing.isOfficer) throw new AppError("conflict", "They are an officer: take the role in Discord first");
  if (standing.unknown === null) return [];
  return ["Discord does not say whether they are an officer: should they be one, the block does not keep them out."];
}

/** Keeps somebody off a pod, or off all of the org's, whatever list they are on, and takes what they have there. */
export function block(deps: PodDeps, org: Org, asker: Asker, request: z.output<typeof blockSchema>): Taken[] {
  const { db } = deps;
  return db.tx(() => {
    const pod = request.pod_id === undefined ? null : findPod(deps, org, request.pod_id);
    const now = deps.clock.now();
    insertBlock(db, org.id, {
      podId: pod?.id ?? "",
      discordId: request.discord_id,
      by: callerId(asker.caller),
      reason: request.reason ?? null,
    }, now);
    write(deps, org, asker, pod, { blocked: request.discord_id, reason: request.reason ?? null });
    return takeOn(
      deps,
      org,
      asker,
      pod === null ? livePods(db, org.id) : [pod],
      request.discord_id,
      "They were blocked",
    );
  });
}

/** Lets somebody who was blocked in again, where a list or "public" lets them. Throws `invalid_request` where none was. */
export function unblock(deps: PodDeps, org: Org, asker: Asker, discordId: string, podId: string | undefined): void {
  deps.db.tx(() => {
    const pod = podId === undefined ? null : findPod(deps, org, podId);
    if (!deleteBlock(deps.db, org.id, pod?.id ?? "", discordId)) {
      const where = pod === null ? "in the organization" : "on this pod";
      throw new AppError("invalid_request", `${discordId} is not blocked ${where}`);
    }
    write(deps, org, asker, pod, { unblocked: discordId });
  });
}

/** Ends what a person has on one pod; with `block` they stay out, without it they may come back with a new certificate. */
export function disconnect(
  deps: PodDeps,
  org: Org,
  asker: Asker,
  about: { readonly podId: string; readonly discordId: string; readonly block: boolean },
): Taken[] {
  const { podId, discordId } = about;
  if (about.block) return block(deps, org, asker, { discord_id: discordId, pod_id: podId });
  return deps.db.tx(() => {
    const pod = findPod(deps, org, podId);
    const taken = takeOn(deps, org, asker, [pod], discordId, "An officer disconnected them");
    if (taken.length === 0) write(deps, org, asker, pod, { disconnected: discordId, certificates: 0 });
    return taken;
  });
}

function takeOn(
  deps: PodDeps,
  org: Org,
  asker: Asker,
  pods: readonly LivePod[],
  discordId: string,
  reason: string,
): Taken[] {
  const now = deps.clock.now();
  return pods.flatMap((pod) => {
    const taken = takeAccess(deps.db, { pod, discordId, which: "all", reason, by: callerId(asker.caller) }, now);
    if (taken === null) return [];
    tellTaken(deps, org, asker, { pod, taken, reason }, now);
    return [taken];
  });
}

function write(deps: PodDeps, org: Org, asker: Asker, pod: LivePod | null, details: Readonly<Record<string, unknown>>) {
  deps.audit.write({
    ...actorOf(asker.caller),
    address: asker.address,
    action: asker.action,
    orgPrefix: org.prefix,
    ...(pod === null ? {} : { podId: pod.runpod_id }),
    status: 200,
    outcome: "ok",
    details,
  });
}
