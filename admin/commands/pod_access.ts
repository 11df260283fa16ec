import { AppError } from "../../server/errors.ts";
import { read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import { membersWithRole } from "./members.ts";
import { describePod } from "./pod.ts";
import type { Shell } from "./shell.ts";

export interface AccessFlags {
  readonly public?: boolean;
  readonly private?: boolean;
  readonly allow?: readonly string[];
  /** A Discord role's id: those who have it now are added, not the role. */
  readonly allowRole?: string;
  readonly remove?: readonly string[];
  /** The whole list, comma separated; empty for nobody. */
  readonly set?: string;
}

/** `orgpods pod access`: who may use a pod. Without a flag it shows the pod as it is. */
export async function podAccess(shell: Shell, id: string, flags: AccessFlags): Promise<void> {
  pathPart(id, "The pod's id");
  if (flags.set !== undefined && (flags.allow || flags.allowRole || flags.remove)) {
    throw new AppError("usage", "--set replaces the whole list: leave --allow, --allow-role and --remove out");
  }
  await withOrg(shell, async (api, org) => {
    const param = { org, id };
    const withRole = flags.allowRole === undefined ? [] : await membersWithRole(api, org, flags.allowRole);
    const added = [...new Set([...flags.allow ?? [], ...withRole])];
    const json = {
      ...(flags.public || flags.private ? { is_public: flags.public === true } : {}),
      ...(flags.set === undefined ? {} : { allowed_users: idsIn(flags.set) }),
      ...(added.length === 0 ? {} : { add_users: added }),
      ...(flags.remove === undefined ? {} : { remove_users: [...flags.remove] }),
    };
    const answer = Object.keys(json).length === 0
      ? await read(api.org.pods[":id"].$get({ param }))
      : await read(api.org.pods[":id"].$put({ param, json }));
    await shell.result(answer, ({ pod }) => describePod(pod));
  });
}

const idsIn = (list: string) => list.split(",").map((id) => id.trim()).filter((id) => id !== "");
