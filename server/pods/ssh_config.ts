import { heldConnection } from "../../db/stores/connections.ts";
import type { Org } from "../../db/stores/organizations.ts";
import type { LivePod } from "../../db/stores/pods.ts";
import { isoTime, MINUTE } from "../clock.ts";
import { AppError, asClause } from "../errors.ts";
import type { PersonCaller } from "../identity/callers.ts";
import { isTrustedCa } from "../key_rotation/facts.ts";
import { checkAccess } from "./access_check.ts";
import { addressPending } from "./address_pending.ts";
import type { PodDeps } from "./deps.ts";
import { aliasById, aliasByName } from "./host_alias.ts";
import { knownHosts, startOf } from "./known_hosts.ts";
import { findPod } from "./list.ts";
import { ME_PODS_AGE_MS, ME_PODS_RUNPOD_MS } from "./me.ts";
import type { Refresher } from "./refresh.ts";

/** A certificate that ends sooner is renewed before somebody goes in with it. */
const RENEW_BEFORE_MS = 10 * MINUTE;

export interface SshConfigAnswer {
  readonly pod_id: string;
  readonly name: string;
  /** The name for ssh, `<org>-<pod name>`, or with the id where the name has odd characters. */
  readonly alias: string;
  readonly host: string;
  readonly port: number;
  readonly username: "root";
  /** Which start of the pod this is; only to be compared. */
  readonly start: string;
  readonly known_hosts: string[];
  /** Whether the certificate whose serial was sent will still do; `none` when none was sent. */
  readonly certificate: "none" | "usable" | "renew";
  /** A block for a configuration of OpenSSH. It is right until the pod's next start. */
  readonly config: string;
  readonly stale: boolean;
  readonly as_of: string | null;
  readonly warnings: string[];
}

/**
 * Where a running pod is and how ssh gets there, without giving a certificate: cheap enough to be asked before every
 * login. RunPod never makes it fail; what is last known comes with a warning. Throws `pod_not_found`,
 * `pod_not_accessible`, `pod_not_running`, `ssh_address_pending`, and `pod_refused` for what cannot stand in a
 * configuration.
 */
export async function sshConfig(
  deps: PodDeps & { readonly refresher: Refresher },
  org: Org,
  me: PersonCaller,
  runpodId: string,
  serial: string | undefined,
): Promise<SshConfigAnswer> {
  const { db } = deps;
  checkAccess(deps, findPod(deps, org, runpodId), me);
  const { fresh, error } = deps.refresher.recent(org, ME_PODS_AGE_MS) ??
    await deps.refresher.refresh(org, { maxAgeMs: ME_PODS_AGE_MS, timeoutMs: ME_PODS_RUNPOD_MS });
  // Whatever happened to the pod and to the caller's access while RunPod was being asked counts.
  const pod = findPod(deps, org, runpodId);
  checkAccess(deps, pod, me);
  if (pod.status !== "RUNNING") throw new AppError("pod_not_running", "Pod is not running");
  if (pod.host === null || pod.port === null) throw addressPending();
  const alias = aliasByName(org.prefix, pod.name) ?? aliasById(org.prefix, pod.runpod_id);
  if (alias === null) {
    throw new AppError("pod_refused", "RunPod gave the pod an id that cannot stand in an SSH configuration");
  }
  const lines = knownHosts(db, pod);
  return {
    pod_id: pod.runpod_id,
    name: pod.name,
    alias,
    host: pod.host,
    port: pod.port,
    username: "root",
    start: startOf(pod),
    known_hosts: lines,
    certificate: serial === undefined ? "none" : certificateState(deps, pod, me, serial),
    config: block(alias, pod.host, pod.port, lines.length > 0),
    stale: !fresh,
    as_of: pod.as_of === null ? null : isoTime(pod.as_of),
    warnings: error === null ? [] : [`${asClause(error.message)}. This is the last known address.`],
  };
}

/**
 * A certificate given to an officer is root's: it must be renewed when the role went, and when it came. One of a CA that
 * was replaced works nowhere.
 */
function certificateState(deps: PodDeps, pod: LivePod, me: PersonCaller, serial: string): "usable" | "renew" {
  const held = heldConnection(deps.db, { podId: pod.id, discordId: me.discordId, serial });
  const isGood = held !== undefined && held.runpod_id === pod.runpod_id &&
    held.valid_before - deps.clock.now() > RENEW_BEFORE_MS && (held.is_admin === 1) === me.isOfficer &&
    isTrustedCa(deps.db, pod.org_id, held.ca_fingerprint);
  return isGood ? "usable" : "renew";
}

/** The key and the certificate are those that the godfather client keeps. */
function block(alias: string, host: string, port: number, isKnown: boolean): string {
  return [
    "# Right until the pod is started again; a configuration that stays right: orgpods ssh-config",
    `Host ${alias}`,
    `  HostName ${host}`,
    `  Port ${port}`,
    "  User root",
    "  IdentityFile ~/.godfather/ssh/id_ed25519",
    "  IdentitiesOnly yes",
    ...(isKnown ? ["  StrictHostKeyChecking yes"] : []),
    "",
  ].join("\n");
}
