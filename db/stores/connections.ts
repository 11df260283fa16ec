import type { Database } from "../database.ts";

export interface ConnectionRow {
  readonly discord_id: string;
  readonly username: string;
  readonly is_admin: number;
  readonly serial: string;
  readonly valid_before: number;
  readonly created_at: number;
  readonly runpod_id: string;
  readonly ca_fingerprint: string;
  readonly revoked_at: number | null;
}

export interface NewConnection {
  readonly orgId: number;
  readonly podId: string;
  readonly runpodId: string;
  readonly discordId: string;
  readonly username: string;
  readonly isAdmin: boolean;
  readonly serial: string;
  readonly keyFingerprint: string;
  readonly caFingerprint: string;
  readonly validAfter: number;
  readonly validBefore: number;
  readonly portForwarding: boolean;
  readonly address: string | null;
  /** Of the CLI token that asked for it; null when it was asked for otherwise. */
  readonly tokenId: number | null;
}

export function insertConnection(db: Database, c: NewConnection, now: number): void {
  db.run(
    "insert into compute_connections (org_id, pod_id, runpod_id, discord_id, username, is_admin, serial, " +
      "key_fingerprint, ca_fingerprint, valid_after, valid_before, port_forwarding, address, token_id, " +
      "created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    c.orgId,
    c.podId,
    c.runpodId,
    c.discordId,
    c.username,
    c.isAdmin ? 1 : 0,
    c.serial,
    c.keyFingerprint,
    c.caFingerprint,
    c.validAfter,
    c.validBefore,
    c.portForwarding ? 1 : 0,
    c.address,
    c.tokenId,
    now,
  );
}

/** One certificate, by the person and the pod it was given for; undefined for one that was not, or was revoked. */
export function heldConnection(
  db: Database,
  held: { readonly podId: string; readonly discordId: string; readonly serial: string },
): ConnectionRow | undefined {
  return db.get(
    "select * from compute_connections where serial = ? and pod_id = ? and discord_id = ? and revoked_at is null",
    held.serial,
    held.podId,
    held.discordId,
  );
}

export function connectionBySerial(db: Database, orgId: number, serial: string): ConnectionRow | undefined {
  return db.get("select * from compute_connections where serial = ? and org_id = ?", serial, orgId);
}

export function recentConnections(db: Database, podId: string, limit: number): ConnectionRow[] {
  return db.all("select * from compute_connections where pod_id = ? order by id desc limit ?", podId, limit);
}

/** Every certificate a person had for a pod, as far back as records are kept, newest first. */
export function connectionsOf(db: Database, podId: string, discordId: string): ConnectionRow[] {
  return db.all(
    "select * from compute_connections where pod_id = ? and discord_id = ? order by id desc",
    podId,
    discordId,
  );
}

/**
 * The live pods on which somebody may be by a CLI token: it got a certificate since the pod came up, because a connection
 * outlives the certificate, or one that works and was not taken back.
 */
export function podsOfToken(db: Database, orgId: number, tokenId: number, now: number): string[] {
  return db.all<{ pod_id: string }>(
    "select distinct c.pod_id from compute_connections c join compute_pods p on p.id = c.pod_id " +
      "where c.org_id = ? and c.token_id = ? and p.state = 'live' and c.revoked_at is null " +
      "and (c.valid_before > ? or c.created_at >= p.up_since)",
    orgId,
    tokenId,
    now,
  ).map((row) => row.pod_id);
}

/** Somebody who may be on a pod by certificates of theirs. */
export interface Holder {
  readonly pod_id: string;
  readonly discord_id: string;
  /** 1: among the certificates that are not taken back is one that gives root. */
  readonly root: number;
}

/**
 * Who could be on a live pod of the org now: whoever got a certificate since the pod came up, because a connection outlives
 * the certificate, and whoever holds one that works and was not taken back.
 */
export function holdersOf(db: Database, orgId: number, now: number): Holder[] {
  return db.all(
    "select c.pod_id, c.discord_id, max(c.is_admin) as root from compute_connections c " +
      "join compute_pods p on p.id = c.pod_id where c.org_id = ? and p.state = 'live' and c.revoked_at is null " +
      "and (c.valid_before > ? or c.created_at >= p.up_since) group by c.pod_id, c.discord_id",
    orgId,
    now,
  );
}

/**
 * True when anybody may be on a running pod by a certificate, also by one that was taken back: it was given since the pod
 * came up, or would work by itself.
 */
export function mayAnybodyBeOn(db: Database, podId: string, now: number): boolean {
  return db.get(
    "select 1 from compute_connections c join compute_pods p on p.id = c.pod_id where c.pod_id = ? " +
      "and p.state = 'live' and p.status = 'RUNNING' and (c.valid_before > ? or c.created_at >= p.up_since) limit 1",
    podId,
    now,
  ) !== undefined;
}

/** How many certificates of a person for a pod work now, and when the first of them ends; null where there is none. */
export function workingCertificates(
  db: Database,
  podId: string,
  discordId: string,
  now: number,
): { readonly count: number; readonly firstEnd: number | null } {
  return db.get<{ count: number; firstEnd: number | null }>(
    "select count(*) as count, min(valid_before) as firstEnd from compute_connections " +
      "where pod_id = ? and discord_id = ? and valid_before > ? and revoked_at is null",
    podId,
    discordId,
    now,
  )!;
}

/** Who still holds a certificate of this pod that works, newest first. */
export function liveConnections(db: Database, podId: string, now: number): ConnectionRow[] {
  return db.all(
    "select * from compute_connections where pod_id = ? and valid_before > ? and revoked_at is null order by id desc",
    podId,
    now,
  );
}

/**
 * The contract keeps certificate records for 90 days. Those that were given since a pod is up stay longer: what was begun
 * with them may still run there, and without them nobody's access could be ended.
 */
export function pruneConnections(db: Database, before: number): number {
  return db.run(
    "delete from compute_connections where created_at < ? and not exists (select 1 from compute_pods p " +
      "where p.id = compute_connections.pod_id and p.state = 'live' " +
      "and coalesce(p.status, '') not in ('EXITED', 'ERROR', 'TERMINATED') " +
      "and compute_connections.created_at >= coalesce(p.up_since, 0))",
    before,
  );
}

export function folderOf(db: Database, orgId: number, discordId: string): string | undefined {
  return db.get<{ folder: string }>(
    "select folder from member_folders where org_id = ? and discord_id = ?",
    orgId,
    discordId,
  )?.folder;
}

/** Whose folder it is: folders are unique in an org. */
export function folderOwner(db: Database, orgId: number, folder: string): string | undefined {
  return db.get<{ discord_id: string }>(
    "select discord_id from member_folders where org_id = ? and folder = ?",
    orgId,
    folder,
  )?.discord_id;
}

export function folderTaken(db: Database, orgId: number, folder: string): boolean {
  return db.get("select 1 from member_folders where org_id = ? and folder = ?", orgId, folder) !== undefined;
}

export function insertFolder(db: Database, orgId: number, discordId: string, folder: string, now: number): void {
  db.run(
    "insert into member_folders (org_id, discord_id, folder, created_at) values (?, ?, ?, ?)",
    orgId,
    discordId,
    folder,
    now,
  );
}
