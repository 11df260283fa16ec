import { type Command, Option } from "commander";
import type { AuditFlags } from "../audit.ts";
import type { TokenFlags } from "../token.ts";
import { example, type Run, whole } from "./values.ts";

/** `attention …`, `token …` and `audit …`: what the server keeps beside pods. */
export function addRecordCommands(program: Command, run: Run): void {
  addAttention(program, run);
  addTokens(program, run);

  const audit = program.command("audit").description("What was done, by whom.")
    .addHelpText("after", example("orgpods audit list --limit 20"));
  audit.command("list").description("List the entries of an organization, newest first.")
    .option("--limit <count>", "how many", whole(1, 500), 100)
    .option("--before <id>", "only entries older than this one", whole(1, Number.MAX_SAFE_INTEGER))
    .option("--pod <id>", "only what was done to this pod, by RunPod's id; it may be gone")
    .addHelpText("after", example("orgpods audit list --limit 20 --before 4711"))
    .action((flags: AuditFlags) => run(async (shell) => await (await import("../audit.ts")).listAudit(shell, flags)));
}

function addAttention(program: Command, run: Run): void {
  const attention = program.command("attention").description("What is not settled or not as it should be.")
    .addHelpText("after", example("orgpods attention list"));

  attention.command("list").description("List what needs attention, with what to do.")
    .addHelpText("after", example("orgpods attention list --json"))
    .action(() => run(async (shell) => await (await import("../attention.ts")).listAttention(shell)));

  attention.command("adopt <id>").description("Take the pod of an entry into the list.")
    .option("--runpod-id <id>", "RunPod's id of the pod, where the entry does not know it")
    .addHelpText("after", example("orgpods attention adopt 0b54ff3c-6f0c-4a64-a6c0-2f5d0a4f9d11 --runpod-id k7x2m9"))
    .action((id: string, flags: { runpodId?: string }) =>
      run(async (shell) => await (await import("../attention.ts")).resolveAttention(shell, id, "adopt", flags))
    );

  attention.command("forget <id>").description("Close an entry.")
    .addHelpText("after", example("orgpods attention forget 0b54ff3c-6f0c-4a64-a6c0-2f5d0a4f9d11"))
    .action((id: string) =>
      run(async (shell) => await (await import("../attention.ts")).resolveAttention(shell, id, "forget"))
    );
}

function addTokens(program: Command, run: Run): void {
  const token = program.command("token").description("Tokens of members and officers.")
    .addHelpText("after", example("orgpods token list"));

  token.command("list").description("List the tokens that work; their values are never shown.")
    .addHelpText("after", example("orgpods token list --org robotics"))
    .action(() => run(async (shell) => await (await import("../token.ts")).listTokens(shell)));

  token.command("issue").description("Make a token and print it. Only on the server itself.")
    .addOption(
      new Option("--kind <kind>", "cli for members, officer for officers").choices(["cli", "officer"])
        .makeOptionMandatory(),
    )
    .requiredOption("--discord-id <id>", "whose token it is")
    .option("--name <name>", "what it is for")
    .option("--days <count>", "how long it works (default: 90)", whole(1, 365))
    .addHelpText("after", example("orgpods token issue --kind officer --discord-id 600000000000000002 > officer.token"))
    .action((flags: TokenFlags) => run(async (shell) => await (await import("../token.ts")).issueToken(shell, flags)));

  token.command("revoke <id>").description("End a token, by its number in the list.")
    .addHelpText("after", example("orgpods token revoke 3"))
    .action((id: string) => run(async (shell) => await (await import("../token.ts")).revokeToken(shell, id)));
}
