import { insertConnection, workingCertificates } from "../../db/stores/connections.ts";
import { type Org, orgById } from "../../db/stores/organizations.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import { isRemovalUntried } from "../../db/stores/removals.ts";
import { tokenById } from "../../db/stores/tokens.ts";
import { actorOf } from "../audit/write.ts";
import { HOUR, isoTime, MINUTE, SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import type { Asker, PersonCaller } from "../identity/callers.ts";
import { folderFor } from "../identity/folders.ts";
import { isTrustedCa } from "../key_rotation/facts.ts";
import { issueCertificate, randomSerial } from "../ssh/certificate.ts";
import type { CaSigner } from "../ssh/org_keys.ts";
import type { SubjectKey } from "../ssh/public_key.ts";
import { checkAccess } from "./access_check.ts";
import { addressPending } from "./address_pending.ts";
import type { PodDeps } from "./deps.ts";
import { POD_ID } from "./host_alias.ts";
import { knownHosts, startOf } from "./known_hosts.ts";

const BACKDATED_MS = 5 * MINUTE;
const VALID_MS = 12 * HOUR;
/** Certificates that work, of one person for one pod, where `PodDeps` says nothing else. */
const MOST_WORKING = 50;
/** Until a removal that was just written down has been tried. */
const REMOVAL_S = 2;

export interface ConnectAnswer {
  readonly ssh_info: {
    readonly host: string;
    readonly port: number;
    readonly username: "root";
    readonly user_folder: string;
    readonly is_admin: boolean;
    readonly certificate: string;
  };
  readonly serial: string;
  readonly valid_before: string;
  /** Lines of an OpenSSH known_hosts file for the address, from the backend's own logins; none before the first. */
  readonly known_hosts: string[];
  /** Which start of the pod this is for; only to be compared. */
  readonly start: string;
  readonly stale: boolean;
  readonly as_of: string | null;
  readonly warnings: string[];
}

/** Whether the caller is a member and an officer was judged by the roles of a moment ago: they must still be the same. */
function refuseChangedRoles(before: Org, now: Org): void {
  const rolesOf = (org: Org) => JSON.stringify([org.guildId, org.officerRoleIds, org.memberRoleIds]);
  if (rolesOf(before) === rolesOf(now)) return;
  throw new AppError("pod_not_accessible", "Who is a member or officer was changed a moment ago. Try again");
}

/** What they had is ended before they get anything new: afterwards one could not be told from the other. */
function refuseWhileRemoved(db: PodDeps["db"], podId: string, discordId: string): void {
  if (!isRemovalUntried(db, podId, discordId)) return;
  throw new AppError(
    "conflict",
    "What you had on the pod is being ended, because your access was taken away. Try again in a few seconds",
    { retryAfter: REMOVAL_S },
  );
}

function refuseTooMany(deps: PodDeps, podId: string, discordId: string, now: number): void {
  const { db, mostCertificates = MOST_WORKING } = deps;
  if (mostCertificates === Infinity) return;
  const { count, firstEnd } = workingCertificates(db, podId, discordId, now);
  if (count < mostCertificates || firstEnd === null) return;
  throw new AppError(
    "rate_limited",
    `You have ${count} certificates for the pod that work, and no more are given. Use one of them, or wait until the ` +
      `first of them ends at ${isoTime(firstEnd)}`,
    { retryAfter: Math.ceil((firstEnd - now) / SECOND) },
  );
}

/**
 * Access is checked once more, the serial stored and the certificate signed in one transaction; the answer goes out after
 * the commit. What was taken away while RunPod was being asked is refused here.
 */
export function sign(
  deps: PodDeps,
  org: Org,
  asker: Asker & { readonly caller: PersonCaller },
  pod: LivePod,
  key: SubjectKey,
  how: {
    readonly ca: CaSigner;
    readonly forwards: boolean;
    readonly stale: boolean;
    readonly warnings: string[];
  },
): ConnectAnswer {
  const { db, clock } = deps;
  const me = asker.caller;
  return db.tx(() => {
    const now = clock.now();
    const current = podById(db, pod.id);
    const orgNow = orgById(db, org.id);
    if (orgNow === undefined || !orgNow.isActive || !orgNow.computeEnabled) {
      throw new AppError("module_off", "The compute module is turned off for this organization");
    }
    if (current === undefined || current.state !== "live") throw new AppError("pod_not_found", "Pod not found");
    if (current.status !== "RUNNING") throw new AppError("pod_not_running", "Pod is not running");
    // A stop or a move that came in since the pod was read: its old address leads to nobody, or to somebody else.
    if (current.runpod_id !== pod.runpod_id || current.host === null || current.port === null) throw addressPending();
    refuseChangedRoles(org, orgNow);
    checkAccess(deps, current as LivePod, me);
    refuseWhileRemoved(db, current.id, me.discordId);
    refuseTooMany(deps, current.id, me.discordId, now);
    if (me.tokenId !== null && tokenById(db, org.id, me.tokenId)?.revoked_at !== null) {
      throw new AppError("token_invalid", "The CLI token was revoked");
    }
    if (!isTrustedCa(db, org.id, how.ca.fingerprint)) {
      throw new AppError("conflict", "The organization's CA key was replaced a moment ago. Try again");
    }
    if (!POD_ID.test(pod.runpod_id)) {
      throw new AppError("pod_refused", "RunPod gave the pod an id that cannot stand in a certificate");
    }
    const folder = folderFor(db, org.id, { discordId: me.discordId, username: me.username }, now);
    const serial = randomSerial();
    const validAfter = Math.floor((now - BACKDATED_MS) / 1000);
    const validBefore = Math.floor((now + VALID_MS) / 1000);
    const certificate = issueCertificate(key, {
      serial,
      keyId: `discord:${me.discordId}:${folder}`,
      principals: [`gf-${pod.runpod_id}`],
      validAfter,
      validBefore,
      ...(me.isOfficer ? {} : { forceCommand: `/usr/local/bin/godfather-login ${folder}` }),
      extensions: [
        ...(me.isOfficer ? ["permit-agent-forwarding"] : []),
        ...(how.forwards ? ["permit-port-forwarding"] : []),
        "permit-pty",
      ],
    }, how.ca.signer);
    insertConnection(db, {
      orgId: org.id,
      podId: pod.id,
      runpodId: pod.runpod_id,
      discordId: me.discordId,
      username: folder,
      isAdmin: me.isOfficer,
      serial: serial.toString(),
      keyFingerprint: key.fingerprint,
      caFingerprint: how.ca.fingerprint,
      validAfter: validAfter * 1000,
      validBefore: validBefore * 1000,
      portForwarding: how.forwards,
      address: asker.address,
      tokenId: me.tokenId,
    }, now);
    deps.audit.write({
      ...actorOf(me),
      address: asker.address,
      action: asker.action,
      orgPrefix: org.prefix,
      podId: pod.runpod_id,
      status: 200,
      outcome: "ok",
      details: { serial: serial.toString(), key: key.fingerprint, is_admin: me.isOfficer },
    });
    return {
      ssh_info: {
        host: current.host,
        port: current.port,
        username: "root",
        user_folder: folder,
        is_admin: me.isOfficer,
        certificate: certificate.line,
      },
      serial: serial.toString(),
      valid_before: isoTime(validBefore * 1000),
      known_hosts: knownHosts(db, current),
      start: startOf(current),
      stale: how.stale,
      as_of: pod.as_of === null ? null : isoTime(pod.as_of),
      warnings: how.warnings,
    };
  });
}
