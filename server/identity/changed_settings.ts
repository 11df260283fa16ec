import type { Org, OrgChange } from "../../db/stores/organizations.ts";
import { type OrgSettings, settingsOf } from "./org_settings.ts";

const NAMES: Readonly<Record<Exclude<keyof OrgChange, "settings">, string>> = {
  name: "name",
  guildId: "guild_id",
  officerRoleIds: "officer_role_ids",
  memberRoleIds: "member_role_ids",
  isActive: "is_active",
  computeEnabled: "enabled",
  podImage: "pod_image",
  minCudaVersion: "min_cuda_version",
};

/** Which settings of an org differ, by the names the API has for them. */
export function changedSettings(before: Org, after: Org): string[] {
  const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
  const [old, young] = [settingsOf(before), settingsOf(after)];
  const own = (Object.keys(NAMES) as (keyof typeof NAMES)[]).filter((key) => differs(before[key], after[key]));
  const money = (Object.keys(young) as (keyof OrgSettings)[]).filter((key) => differs(old[key], young[key]));
  return [...own.map((key) => NAMES[key]), ...money];
}
