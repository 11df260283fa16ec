import { recentConnections } from "../../db/stores/connections.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { allowedUsers } from "../../db/stores/pod_access.ts";
import { isoTime } from "../clock.ts";
import type { PodDeps } from "./deps.ts";
import { findPod } from "./list.ts";

const MOST_NAMES = 50;
const MOST_RECENT = 100;
const NAMES_MS = 5_000;

/**
 * Shown names of Discord ids: at most 50 are looked up, and the look-up stops at the first failure of Discord. An id
 * without an entry has no known name.
 */
export async function namesOf(deps: PodDeps, org: Org, discordIds: readonly string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  const until = performance.now() + NAMES_MS;
  for (const id of [...new Set(discordIds)].slice(0, MOST_NAMES)) {
    const left = until - performance.now();
    if (left <= 0) break;
    const answer = await deps.directory.member(org.guildId, id, { timeoutMs: left });
    if (answer.kind === "unknown") break;
    if (answer.kind === "member") names.set(id, answer.name);
  }
  return names;
}

/** Who may use a pod, and the last 100 certificates given for it (contract 5.8). */
export async function podMembers(deps: PodDeps, org: Org, runpodId: string) {
  const pod = findPod(deps, org, runpodId);
  const allowed = allowedUsers(deps.db, pod.id);
  const recent = recentConnections(deps.db, pod.id, MOST_RECENT);
  const names = await namesOf(deps, org, [...allowed, ...recent.map((row) => row.discord_id)]);
  const nameOf = (id: string) => names.get(id) ?? null;
  return {
    pod_id: pod.runpod_id,
    access: {
      is_public: pod.is_public === 1,
      allowed: allowed.map((id) => ({ discord_id: id, name: nameOf(id) })),
    },
    recent: recent.map((row) => ({
      discord_id: row.discord_id,
      name: nameOf(row.discord_id),
      username: row.username,
      is_admin: row.is_admin === 1,
      created_at: isoTime(row.created_at),
      serial: row.serial,
      valid_before: isoTime(row.valid_before),
      revoked_at: row.revoked_at === null ? null : isoTime(row.revoked_at),
    })),
  };
}
