import type { Command } from "commander";
import type { BlockFlags, RemovalFlags } from "../access.ts";
import { example, type Run, whole } from "./values.ts";

/** `org block …`: who is kept out, and access that was taken away; for officers, also with `--server`. */
export function addAccessCommands(org: Command, run: Run): void {
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
