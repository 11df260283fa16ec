/** Who may use a pod: everybody, or who is listed, less who is blocked. */
import type { Database } from "../database.ts";

/** Which pod, as its row has it. */
interface PodColumns {
  readonly id: string;
  readonly org_id: number;
  readonly is_public: number;
}

/** May this person (not an officer) use this pod now? A block wins over everything. */
export function mayUse(db: Database, pod: PodColumns, discordId: string): boolean {
  if (isBlocked(db, pod, discordId)) return false;
  return pod.is_public === 1 ||
    db.get("select 1 from compute_pod_members where pod_id = ? and discord_id = ?", pod.id, discordId) !== undefined;
}

export function isBlocked(db: Database, pod: PodColumns, discordId: string): boolean {
  return db.get(
    "select 1 from blocked_users where org_id = ? and pod_id in ('', ?) and discord_id = ?",
    pod.org_id,
    pod.id,
    discordId,
  ) !== undefined;
}

export function allowedUsers(db: Database, podId: string): string[] {
  return db.all<{ discord_id: string }>(
    "select discord_id from compute_pod_members where pod_id = ? order by discord_id",
    podId,
  ).map((row) => row.discord_id);
}

/** Who is listed on each pod of an org, by our own id of the pod. */
export function allowedUsersByPod(db: Database, orgId: number): Map<string, string[]> {
  const rows = db.all<{ pod_id: string; discord_id: string }>(
    "select m.pod_id, m.discord_id from compute_pods p join compute_pod_members m on m.pod_id = p.id " +
      "where p.org_id = ? and p.state = 'live' order by m.discord_id",
    orgId,
  );
  const lists = new Map<string, string[]>();
  for (const { pod_id, discord_id } of rows) {
    const list = lists.get(pod_id);
    if (list === undefined) lists.set(pod_id, [discord_id]);
    else list.push(discord_id);
  }
  return lists;
}

export function setAllowedUsers(db: Database, podId: string, discordIds: readonly string[]): void {
  db.run("delete from compute_pod_members where pod_id = ?", podId);
  for (const id of new Set(discordIds)) {
    db.run("insert into compute_pod_members (pod_id, discord_id) values (?, ?)", podId, id);
  }
}

export function setPublic(db: Database, podId: string, isPublic: boolean): void {
  db.run("update compute_pods set is_public = ? where id = ?", isPublic ? 1 : 0, podId);
}
