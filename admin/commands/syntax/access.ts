import type { Command } from "commander";
import type { BlockFlags, RemovalFlags } from "../access.ts";
import type { MemberFlags } from "../members.ts";
import type { RoleFlags } from "../org_roles.ts";
import { collect, example, type Run, whole } from "./values.ts";

/**
 * `org block …`: who is kept out, and access that was taken away; `org members …`: who there is, and what makes an officer;
 * for officers, also with `--server`.
 */
export function addAccessCommands(org: Command, run: Run): void {
  addMembers(org, run);

  org.command("block <discord-id>").description("Keep somebody off all pods, and end what they have there.")
    .option("--pod <pod-id>", "only off this one")
    .option("--reason <text>", "for other officers")
    .addHelpText("after", example('orgpods org block 600000000000000002 --reason "shared their key"'))
    .action((id: string, flags: BlockFlags) =>
      run(async (shell) => await (await import("../access.ts")).blockPerson(shell, id, flags))
    );

  org.command("unblock <discord-id>").description('Let somebody in again, where the pod\'s list or "public" does.')
    .option("--pod <pod-id>", "where they were blocked on this one only")
    .addHelpText("after", example("orgpods org unblock 600000000000000002"))
    .action((id: string, flags: BlockFlags) =>
      run(async (shell) => await (await import("../access.ts")).unblockPerson(shell, id, flags))
    );

  org.command("blocked").description("List who is blocked.")
    .addHelpText("after", example("orgpods org blocked --json"))
    .action(() => run(async (shell) => await (await import("../access.ts")).listBlocked(shell)));

  org.command("removals").description("List access that was taken away, newest first, and what is left of it.")
    .option("--limit <count>", "how many", whole(1, 200), 50)
    .addHelpText("after", example("orgpods org removals --limit 10"))
    .action((flags: RemovalFlags) =>
      run(async (shell) => await (await import("../access.ts")).listRemovals(shell, flags))
    );
}

function addMembers(org: Command, run: Run): void {
  org.command("members").description("Find people of the Discord server.")
    .option("--name <start>", "whose name begins so")
    .option("--role <id>", "who have this Discord role")
    .option("--limit <count>", "how many", whole(1, 500), 100)
    .addHelpText("after", example("orgpods org members --name ada"))
    .action((flags: MemberFlags) =>
      run(async (shell) => await (await import("../members.ts")).listMembers(shell, flags))
    );

  org.command("discord-roles").description("List the roles of the Discord server.")
    .addHelpText("after", example("orgpods org discord-roles"))
    .action(() => run(async (shell) => await (await import("../members.ts")).listDiscordRoles(shell)));

  org.command("roles").description(
    "Show which Discord roles make officers and members; superadmins also change them.",
  )
    .option("--officer <id>", "role whose holders are officers; all of them are named (repeatable)", collect)
    .option("--no-officer", "no officer role: only superadmins are officers")
    .option("--member <id>", "role whose holders are members; all of them are named (repeatable)", collect)
    .option("--no-member", "no member role: everybody on the Discord server is a member")
    .addHelpText("after", example("orgpods org roles --officer 700000000000000001"))
    .action((flags: RoleFlags) => run(async (shell) => await (await import("../org_roles.ts")).orgRoles(shell, flags)));

  org.command("compute <on|off>").description("Switch compute on or off: sign-ins, connects, creates and starts.")
    .option("--force", "also with live pods, which go on at RunPod and cost money")
    .addHelpText("after", example("orgpods org compute off --force"))
    .action((word: string, flags: { force?: boolean }) =>
      run(async (shell) => await (await import("../org_compute.ts")).switchCompute(shell, word, flags))
    );
}
