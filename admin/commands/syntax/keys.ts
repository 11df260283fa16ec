import { Argument, type Command } from "commander";
import { example, type Run } from "./values.ts";

/** `keys …`: the SSH keys of an organization. Only on the server itself. */
export function addKeyCommands(program: Command, run: Run): void {
  const keys = program.command("keys")
    .description("The SSH keys of an organization: backend logs in to its pods, user_ca signs certificates.")
    .addHelpText("after", example("orgpods keys status --org robotics"));

  keys.command("list").description("List the keys that an organization has or had.")
    .addHelpText("after", example("orgpods keys list --org robotics"))
    .action(() => run(async (shell) => await (await import("../keys.ts")).listKeys(shell)));

  keys.command("rotate").addArgument(new Argument("<kind>", "which key").choices(["backend", "user_ca"]))
    .description("Replace a key by a new one; both are trusted until every pod has the new one.")
    .addHelpText("after", example("orgpods keys rotate user_ca --org robotics"))
    .action((kind: string) => run(async (shell) => await (await import("../keys.ts")).rotateKey(shell, kind)));

  keys.command("status").description("Show the last rotation of each key, and what is left to do on which pod.")
    .addHelpText("after", example("orgpods keys status --org robotics"))
    .action(() => run(async (shell) => await (await import("../keys.ts")).keyStatus(shell)));
}
