import { read } from "../client/api.ts";
import { withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { facts } from "./text.ts";

/** `false` stands for `--no-officer` and `--no-member`: none. What is not given stays. */
export interface RoleFlags {
  readonly officer?: readonly string[] | false;
  readonly member?: readonly string[] | false;
}

/** `orgpods org roles`: which Discord roles make officers and members; the operator and superadmins change them. */
export async function orgRoles(shell: Shell, { officer, member }: RoleFlags): Promise<void> {
  const json = {
    ...(officer === undefined ? {} : { officer_role_ids: [...officer || []] }),
    ...(member === undefined ? {} : { member_role_ids: [...member || []] }),
  };
  await withOrg(shell, async (api, org) => {
    const answer = Object.keys(json).length === 0
      ? await read(api.org.roles.$get({ param: { org } }))
      : await read(api.org.roles.$put({ param: { org }, json }));
    await shell.result(answer, ({ officer_role_ids, member_role_ids }) =>
      facts([
        ["Officer roles", officer_role_ids.join(", ") || "none: only superadmins are officers"],
        ["Member roles", member_role_ids.join(", ") || "none: everybody on the Discord server is a member"],
      ]));
  });
}
