import type { Command } from "commander";
import { example, type Run } from "./values.ts";

/** `admin`, the full-screen program, and `admin logout`. */
export function addAdminCommands(program: Command, run: Run): void {
  const admin = program.command("admin").description("Run everything from a full-screen terminal program.")
    .addHelpText("after", example("orgpods admin --server https://pods.example.org --org robotics"))
    .action(() => run(async (shell) => await (await import("../admin.ts")).admin(shell)));
  admin.command("logout").description("Forget the officer token of --server and --org.")
    .addHelpText("after", example("orgpods admin logout --server https://pods.example.org --org robotics"))
    .action(() => run(async (shell) => await (await import("../admin.ts")).logout(shell)));
}
