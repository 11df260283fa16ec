import type { Database } from "../database.ts";

/** An org of this server: one Discord server, one RunPod account. */
export interface Org {
  readonly id: number;
  readonly prefix: string;
  readonly name: string;
  readonly guildId: string;
  readonly officerRoleIds: readonly string[];
  /** Empty: every member of the Discord server counts. */
  readonly memberRoleIds: readonly string[];
  readonly isActive: boolean;
  readonly computeEnabled: boolean;
  readonly podImage: string | null;
  readonly minCudaVersion: string | null;
  /** What officers set about money and time, as JSON; what is not in it has its default. */
  readonly settings: string;
  readonly createdAt: number;
}

export interface NewOrg {
  readonly prefix: string;
  readonly name: string;
  readonly guildId: string;
  readonly officerRoleIds: readonly string[];
  readonly memberRoleIds: readonly string[];
  readonly podImage: string | null;
}

export type OrgChange = Partial<Omit<Org, "id" | "prefix" | "createdAt">>;

interface OrgRow {
  id: number;
  prefix: string;
  name: string;
  guild_id: string;
  officer_role_ids: string;
  member_role_ids: string;
  is_active: number;
  compute_enabled: number;
  pod_image: string | null;
  min_cuda_version: string | null;
  settings: string;
  created_at: number;
}

const COLUMNS =
  "id, prefix, name, guild_id, officer_role_ids, member_role_ids, is_active, compute_enabled, pod_image, " +
  "min_cuda_version, settings, created_at";

/** Orgs are read at every request and hardly ever change: lists that were parsed are kept by their text. */
const parsedLists = new Map<string, readonly string[]>();

function listOf(json: string): readonly string[] {
  let list = parsedLists.get(json);
  if (list === undefined) {
    if (parsedLists.size > 1_000) parsedLists.clear();
    list = Object.freeze(JSON.parse(json) as string[]);
    parsedLists.set(json, list);
  }
  return list;
}

const fromRow = (row: OrgRow): Org => ({
  id: row.id,
  prefix: row.prefix,
  name: row.name,
  guildId: row.guild_id,
  officerRoleIds: listOf(row.officer_role_ids),
  memberRoleIds: listOf(row.member_role_ids),
  isActive: row.is_active === 1,
  computeEnabled: row.compute_enabled === 1,
  podImage: row.pod_image,
  minCudaVersion: row.min_cuda_version,
  settings: row.settings,
  createdAt: row.created_at,
});

export function orgByPrefix(db: Database, prefix: string): Org | undefined {
  const row = db.get<OrgRow>(`select ${COLUMNS} from organizations where prefix = ?`, prefix);
  return row && fromRow(row);
}

export function orgById(db: Database, id: number): Org | undefined {
  const row = db.get<OrgRow>(`select ${COLUMNS} from organizations where id = ?`, id);
  return row && fromRow(row);
}

export function allOrgs(db: Database): Org[] {
  return db.all<OrgRow>(`select ${COLUMNS} from organizations order by prefix`).map(fromRow);
}

export function insertOrg(db: Database, org: NewOrg, now: number): Org {
  db.run(
    "insert into organizations (prefix, name, guild_id, officer_role_ids, member_role_ids, pod_image, created_at) " +
      "values (?, ?, ?, ?, ?, ?, ?)",
    org.prefix,
    org.name,
    org.guildId,
    JSON.stringify(org.officerRoleIds),
    JSON.stringify(org.memberRoleIds),
    org.podImage,
    now,
  );
  return orgByPrefix(db, org.prefix)!;
}

/** Changes the given columns of an org, and none else. */
export function updateOrg(db: Database, id: number, change: OrgChange): void {
  const set = (column: string, value: string | number | null) =>
    db.run(`update organizations set ${column} = ? where id = ?`, value, id);
  if (change.name !== undefined) set("name", change.name);
  if (change.guildId !== undefined) set("guild_id", change.guildId);
  if (change.officerRoleIds !== undefined) set("officer_role_ids", JSON.stringify(change.officerRoleIds));
  if (change.memberRoleIds !== undefined) set("member_role_ids", JSON.stringify(change.memberRoleIds));
  if (change.isActive !== undefined) set("is_active", change.isActive ? 1 : 0);
  if (change.computeEnabled !== undefined) set("compute_enabled", change.computeEnabled ? 1 : 0);
  if (change.podImage !== undefined) set("pod_image", change.podImage);
  if (change.minCudaVersion !== undefined) set("min_cuda_version", change.minCudaVersion);
  if (change.settings !== undefined) set("settings", change.settings);
}

/** Removes an org with everything of it. Its pods must be terminated before; their rows go too. */
export function deleteOrg(db: Database, id: number): void {
  db.run("delete from compute_pods where org_id = ?", id);
  db.run("delete from organizations where id = ?", id);
}

export function installId(db: Database): string {
  return db.get<{ value: string }>("select value from meta where key = 'install_id'")!.value;
}
