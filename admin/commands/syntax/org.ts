import { type Command, Option } from "commander";
import type { OrgFlags } from "../org.ts";
import { addAccessCommands } from "./access.ts";
import { addOrgSettings } from "./spend.ts";
import { collect, example, type Run } from "./values.ts";

/** `org …` and `org secret …`: the operator's own commands. */
export function addOrgCommands(program: Command, run: Run): void {
  const org = program.command("org")
    .description(
      "Organizations: one per Discord server. With --server all but add, show, set, remove and check.",
    )
    .addHelpText("after", example("orgpods org show robotics"));

  withSettings(
    org.command("add <prefix>").description("Add an organization, after a live look at its Discord server and roles.")
      .requiredOption("--name <name>", "name for people")
      .requiredOption("--guild <id>", "Discord server id"),
  )
    .option("--force", "add it although Discord could not confirm it")
    .addHelpText(
      "after",
      example(
        'orgpods org add robotics --name "Robotics Club" --guild 500000000000000001 --officer-role 700000000000000001',
      ),
    )
    .action((prefix: string, flags: OrgFlags & { name: string; guild: string }) =>
      run(async (shell) => await (await import("../org.ts")).addOrg(shell, prefix, flags))
    );

  org.command("list").description("List the organizations; with --server those within the token's reach.")
    .addHelpText("after", example("orgpods org list --json"))
    .action(() => run(async (shell) => await (await import("../org.ts")).listOrgs(shell)));

  org.command("show <prefix>").description("Show an organization.")
    .addHelpText("after", example("orgpods org show robotics"))
    .action((prefix: string) => run(async (shell) => await (await import("../org.ts")).showOrg(shell, prefix)));

  const set = org.command("set <prefix>").description("Change settings of an organization; what is not named stays.")
    .option("--name <name>", "name for people")
    .option("--guild <id>", "Discord server id");
  withSettings(set)
    .option("--no-officer-role", "no officer role: only superadmins are officers")
    .option("--no-member-role", "no member role: everybody on the Discord server is a member")
    .option("--no-image", "use the server's default image")
    .option("--min-cuda <version>", "oldest CUDA version the image runs on, such as 12.4")
    .option("--no-min-cuda", "any CUDA version")
    .addOption(new Option("--enable", "switch compute on").conflicts("disable"))
    .addOption(new Option("--disable", "switch compute off"))
    .addOption(new Option("--activate", "let the organization be used again").conflicts("deactivate"))
    .addOption(new Option("--deactivate", "close the organization without removing it"))
    .option("--force", "also with live pods, or although Discord could not confirm it")
    .addHelpText("after", example("orgpods org set robotics --disable"))
    .action((prefix: string, flags: OrgFlags) =>
      run(async (shell) => await (await import("../org.ts")).setOrg(shell, prefix, flags))
    );

  org.command("remove <prefix>").description("Remove an organization with its keys and tokens.")
    .option("--force", "also with live pods, which go on at RunPod and cost money")
    .addHelpText("after", example("orgpods org remove robotics"))
    .action((prefix: string, flags: { force?: boolean }) =>
      run(async (shell) => await (await import("../org.ts")).removeOrg(shell, prefix, flags))
    );

  org.command("check [prefix]").description(
    "Check everything an organization depends on, live; exit 1 if one is wrong.",
  )
    .addHelpText("after", example("orgpods org check robotics"))
    .action((prefix: string | undefined) =>
      run(async (shell) => await (await import("../org.ts")).checkOrg(shell, prefix))
    );

  addOrgSettings(org, run);
  addAccessCommands(org, run);
  addSecretCommands(org, run);
}

function withSettings(command: Command): Command {
  return command
    .option("--officer-role <id>", "role whose holders are officers (repeatable)", collect)
    .option("--member-role <id>", "role whose holders are members (repeatable)", collect)
    .option("--image <name>", "image of new pods");
}

function addSecretCommands(org: Command, run: Run): void {
  const secret = org.command("secret").description("Secrets of an organization: runpod_api_key; also with --server.")
    .addHelpText("after", example("orgpods org secret set robotics runpod_api_key < key.txt"));

  secret.command("set <prefix> <name>").description("Store a secret; its value comes from standard input.")
    .option("--replace", "take a key of another RunPod account although pods are live")
    .addHelpText("after", example("orgpods org secret set robotics runpod_api_key < key.txt"))
    .action((prefix: string, name: string, flags: { replace?: boolean }) =>
      run(async (shell) => await (await import("../secret.ts")).setSecret(shell, prefix, name, flags))
    );

  secret.command("show <prefix> <name>").description("Show whether a secret is set, and its last four characters.")
    .addHelpText("after", example("orgpods org secret show robotics runpod_api_key"))
    .action((prefix: string, name: string) =>
      run(async (shell) => await (await import("../secret.ts")).showSecret(shell, prefix, name))
    );

  secret.command("test <prefix> <name>").description("Ask RunPod with the key, and print how many pods it sees.")
    .addHelpText("after", example("orgpods org secret test robotics runpod_api_key"))
    .action((prefix: string, name: string) =>
      run(async (shell) => await (await import("../secret.ts")).testSecret(shell, prefix, name))
    );

  secret.command("unset <prefix> <name>").description("Delete a secret.")
    .option("--force", "also with live pods, which cannot be stopped from here any more")
    .addHelpText("after", example("orgpods org secret unset robotics runpod_api_key"))
    .action((prefix: string, name: string, flags: { force?: boolean }) =>
      run(async (shell) => await (await import("../secret.ts")).unsetSecret(shell, prefix, name, flags))
    );
}
