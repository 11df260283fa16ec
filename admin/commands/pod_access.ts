import { AppError } from "../../server/errors.ts";
import { read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import { describePod } from "./pod.ts";
import type { Shell } from "./shell.ts";

export interface AccessFlags {
  readonly public?: boolean;
  readonly private?: boolean;
  readonly allow?: readonly string[];
  readonly remove?: readonly string[];
  /** The whole list, comma separated; empty for nobody. */
  readonly set?: string;
}

/** `orgpods pod access`: who may use a pod. Without a flag it shows the pod as it is. */
export async function podAccess(shell: Shell, id: string, flags: AccessFlags): Promise<void> {
  pathPart(id, "The pod's id");
  if (flags.set !== undefined && (flags.allow || flags.remove)) {
    throw new AppError("usage", "--set replaces the whole list: leave --allow and --remove out");
  }
  await withOrg(shell, async (api, org) => {
    const param = { org, id };
    const json = {
      ...(flags.public || flags.private ? { is_public: flags.public === true } : {}),
      ...(flags.set === undefined ? {} : { allowed_users: idsIn(flags.set) }),
      ...(flags.allow === undefined ? {} : { add_users: [...flags.allow] }),
      ...(flags.remove === undefined ? {} : { remove_users: [...flags.remove] }),
    };
    const answer = Object.keys(json).length === 0
      ? await read(api.org.pods[":id"].$get({ param }))
      : await read(api.org.pods[":id"].$put({ param, json }));
    await shell.result(answer, ({ pod }) => describePod(pod));
  });
}

const idsIn = (list: string) => list.split(",").map((id) => id.trim()).filter((id) => id !== "");
